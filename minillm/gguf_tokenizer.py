"""A GGUF file's vocabulary as a `tokenizers` tokenizer, to be kept as tokenizer.json.

Two kinds occur in the families we run: "llama" is SentencePiece's BPE (a score instead of merges,
unknown characters as bytes), "gpt2" is byte-level BPE with merges (Llama 3, Qwen).
"""

from __future__ import annotations

from minillm.files import LoadError

CONTROL, USER_DEFINED = 3, 4  # token types: never in ordinary text; matched whole before BPE
SPACE = "\u2581"
# llama.cpp takes these for ends of text wherever they are control tokens, and so do we: one file
# names a single eos id, chat models end a turn with another.
ENDS = {
    "<end_of_turn>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|endoftext|>",
}  # fmt: skip
LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_SPLIT = LLAMA3_SPLIT.replace(r"\p{N}{1,3}", r"\p{N}")
GPT2_SPLIT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SPLITS = {
    "llama3": LLAMA3_SPLIT, "llama-v3": LLAMA3_SPLIT, "llama-bpe": LLAMA3_SPLIT,
    "smaug-bpe": LLAMA3_SPLIT, "qwen2": QWEN_SPLIT, "deepseek-r1-qwen": QWEN_SPLIT,
    "gpt-2": GPT2_SPLIT, "default": GPT2_SPLIT,
}  # fmt: skip


def build_tokenizer(metadata: dict):
    """metadata of a GGUF file -> tokenizers.Tokenizer. Raises LoadError when parts are missing."""
    from tokenizers import AddedToken

    kind = metadata.get("tokenizer.ggml.model")
    tokens = _strings(metadata, "tokens")
    types = metadata.get("tokenizer.ggml.token_type") or [1] * len(tokens)
    if len(types) != len(tokens):
        raise LoadError(f"the GGUF has {len(tokens)} tokens but {len(types)} token types")
    if kind == "llama":
        gemma = metadata.get("general.architecture", "").startswith("gemma")
        tokenizer, tokens = _sentencepiece(metadata, tokens, gemma)
    elif kind == "gpt2":
        tokenizer = _byte_level(metadata, tokens)
    else:
        raise LoadError(f"the GGUF's tokenizer {str(kind)[:40]!r} is not read (llama or gpt2)")
    special = [AddedToken(t, normalized=False, special=True)
               for t, type_ in zip(tokens, types) if type_ == CONTROL]  # fmt: skip
    whole = [AddedToken(t, normalized=False)
             for t, type_ in zip(_strings(metadata, "tokens"), types)
             if type_ == USER_DEFINED and tokenizer.token_to_id(t) is not None]  # fmt: skip
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens(whole)
    _add_bos(tokenizer, metadata, tokens, kind)
    return tokenizer


def tokenizer_config(metadata: dict) -> dict:
    """The tokenizer_config.json beside it: special tokens and the chat template."""
    tokens = _strings(metadata, "tokens")
    data = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    for name, key in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
        token_id = metadata.get(f"tokenizer.ggml.{key}_token_id")
        if type(token_id) is int and 0 <= token_id < len(tokens):
            data[f"{name}_token"] = tokens[token_id]
    if isinstance(metadata.get("tokenizer.chat_template"), str):
        data["chat_template"] = metadata["tokenizer.chat_template"]
    return data


def eos_token_ids(metadata: dict) -> list[int]:
    """Every id that ends a text: the file's eos, eot and eom, and the known names."""
    tokens = _strings(metadata, "tokens")
    named = [metadata.get(f"tokenizer.ggml.{n}_token_id") for n in ("eos", "eot", "eom")]
    ids = [i for i in named if type(i) is int and 0 <= i < len(tokens)]
    types = metadata.get("tokenizer.ggml.token_type") or []
    control = (i for i, t in enumerate(types[: len(tokens)]) if t == CONTROL)
    ids += [i for i in control if tokens[i] in ENDS]
    return list(dict.fromkeys(ids))


def _sentencepiece(metadata: dict, tokens: list[str], gemma: bool):
    """BPE whose merges are recovered from the scores; unknown characters become bytes."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    scores = metadata.get("tokenizer.ggml.scores")
    if not isinstance(scores, list) or len(scores) != len(tokens):
        raise LoadError("the GGUF's tokenizer needs one score a token")
    if gemma:  # runs of spaces are written as spaces; merges follow the order of the vocabulary
        tokens = [SPACE * len(t) if t.strip(" ") == "" and len(t) > 1 else t for t in tokens]
        scores = range(0, -len(tokens), -1)
    vocab = _vocab(tokens)
    unknown = metadata.get("tokenizer.ggml.unknown_token_id")
    unknown = tokens[unknown] if type(unknown) is int and 0 <= unknown < len(tokens) else None
    model = models.BPE(
        vocab, merges_from_scores(tokens, scores, vocab), unk_token=unknown, fuse_unk=True,
        byte_fallback=True,
    )  # fmt: skip
    tokenizer = Tokenizer(model)
    steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    if metadata.get("tokenizer.ggml.add_space_prefix", not gemma):
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, "first", split=False)
        steps.append(decoders.Strip(" ", 1, 0))
    else:
        tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer, tokens


def merges_from_scores(tokens: list[str], scores, vocab: dict[str, int]) -> list[tuple[str, str]]:
    """Every cut of a token into two tokens is a merge; best score first (Kudo & Richardson 2018).

    SentencePiece keeps only the result's score, so all its cuts merge at that rank; among them
    the one of the earlier left, then right part comes first.
    """
    ranked = []
    for token, score in zip(tokens, scores):
        cuts = []
        for at in range(1, len(token)):
            left, right = vocab.get(token[:at]), vocab.get(token[at:])
            if left is not None and right is not None:
                cuts.append((left, right, token[:at], token[at:]))
        ranked += [(-score, cut) for cut in sorted(cuts)]
    ranked.sort(key=lambda entry: entry[0])  # stable: the order of the vocabulary breaks ties
    return [(cut[2], cut[3]) for _, cut in ranked]


def _byte_level(metadata: dict, tokens: list[str]):
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    pre = metadata.get("tokenizer.ggml.pre", "default")
    if pre not in SPLITS:
        raise LoadError(f"the GGUF's way to split text, {str(pre)[:40]!r}, is not one of "
                        f"{', '.join(SPLITS)}")  # fmt: skip
    merges = [tuple(m.split(" ")) for m in _strings(metadata, "merges")]
    if any(len(m) != 2 for m in merges):
        raise LoadError("the GGUF's merges must be two tokens with a space between them")
    tokenizer = Tokenizer(models.BPE(_vocab(tokens), merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLITS[pre]), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])  # fmt: skip
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _add_bos(tokenizer, metadata: dict, tokens: list[str], kind: str) -> None:
    from tokenizers.processors import TemplateProcessing

    bos = metadata.get("tokenizer.ggml.bos_token_id")
    pre = metadata.get("tokenizer.ggml.pre")
    default = kind == "llama" or pre in ("llama3", "llama-v3", "llama-bpe")
    wanted = metadata.get("tokenizer.ggml.add_bos_token", default)
    if not wanted or type(bos) is not int or not 0 <= bos < len(tokens):
        return
    text = tokens[bos]
    if tokenizer.token_to_id(text) != bos:
        raise LoadError(f"the GGUF's bos_token_id {bos} is not a token of its vocabulary")
    tokenizer.add_special_tokens([text])
    tokenizer.post_processor = TemplateProcessing(
        single=[text, "$A"], pair=[text, "$A", text + ":1", "$B:1"],
        special_tokens=[(text, bos)],
    )  # fmt: skip


def _vocab(tokens: list[str]) -> dict[str, int]:
    vocab = {token: i for i, token in enumerate(tokens)}
    if len(vocab) != len(tokens):
        raise LoadError("the GGUF's vocabulary holds the same token twice")
    return vocab


def _strings(metadata: dict, name: str) -> list[str]:
    value = metadata.get(f"tokenizer.ggml.{name}")
    if not isinstance(value, list) or not value or not all(type(v) is str for v in value):
        raise LoadError(f"the GGUF lacks tokenizer.ggml.{name}")
    return value
