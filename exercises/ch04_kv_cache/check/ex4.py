"""Check of 4.4: published configs and odd ones, in whole bytes."""

from exercises.grading.judge import Wrong, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="4.4", title="Bytes of the KV cache", kind="code", entry="kv_bytes",
    minutes=10, difficulty=1, evening=True, torch=False,
    sizes=(
        {"model": "by hand"}, {"model": "Llama-2-7B"}, {"model": "Llama-3-8B"},
        {"model": "Qwen3-0.6B"}, {"model": "Llama-3-70B"}, {"model": "odd"},
    ),
    hints=(
        "One token, one layer, 2 KV heads of size 4. How many numbers is its key, and how many are "
        "key and value together?",
        "article = num_layers * width * 2 * length * batch * bytes_per_number. "
        "real: the same, with num_kv_heads * head_size in the place of width.",
        "tokens = length * batch\n"
        "article = 2 * config['num_layers'] * config['width'] * tokens * bytes_per_number\n"
        "real = 2 * config['num_layers'] * ____ * tokens * bytes_per_number\n"
        "return article, real",
    ),
)  # fmt: skip
NAMES = ("num_layers", "width", "num_heads", "num_kv_heads", "head_size")
CONFIGS = {  # from the config.json of each model
    "by hand": (1, 16, 4, 2, 4),
    "Llama-2-7B": (32, 4096, 32, 32, 128),
    "Llama-3-8B": (32, 4096, 32, 8, 128),
    "Llama-3-70B": (80, 8192, 64, 8, 128),
    "Qwen3-0.6B": (28, 1024, 16, 8, 128),
    "odd": (7, 60, 15, 5, 6),
}


def make(rng, model):
    config = dict(zip(NAMES, CONFIGS[model]))
    if model == "by hand":
        return {"config": config, "length": 3, "batch": 2, "bytes_per_number": 4}
    length, batch = rng.randrange(100, 9000), rng.randrange(2, 30)
    return {"config": config, "length": length, "batch": batch,
            "bytes_per_number": rng.choice((1, 2, 4))}  # fmt: skip


def judge(case, output):
    """Whole bytes, named; 64.0 bytes are 64 bytes."""
    if not isinstance(output, (tuple, list)) or len(output) != 2:
        raise Wrong("4.4.pair", "return two numbers: (article, real)", got=output)
    config = case["config"]
    both = 2 * config["num_layers"] * case["length"] * case["batch"] * case["bytes_per_number"]
    wanted = {
        "the article's bytes": both * config["width"],
        "the real bytes": both * config["num_kv_heads"] * config["head_size"],
    }
    for got, (what, want) in zip(output, wanted.items()):
        if number(got, what) != want:
            raise Wrong("4.4.bytes", f"{what}: another number", expected=want, got=got)
