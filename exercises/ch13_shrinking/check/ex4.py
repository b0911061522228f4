"""Check of 13.4: the loss and the gradient that reaches the student; logits in the thousands."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

# float64, logits to 5000: their rounding (5000 * 2^-53) is far below 2e-6 of any loss here.
EXERCISE = Exercise(
    id="13.4", title="Learn from the large model", kind="code", entry="distill_loss",
    minutes=25, difficulty=3, tolerance="fp32",
    sizes=(
        {"T": 1, "V": 2}, {"T": 5, "V": 4}, {"T": 9, "V": 13, "large": 1500.0},
        {"T": 12, "V": 7, "mix": 1.0}, {"T": 8, "V": 11, "mix": 0.0}, {"T": 17, "V": 30},
        {"T": 4, "V": 3, "large": 400.0, "mix": 1.0},
    ),
    hints=(
        "Logits [0, 800]: which of exp(800), log(softmax) and log_softmax are finite numbers? "
        "And what does a computer make of 0 * log(0)?",
        "log p = log_softmax(teacher / temperature), log q alike. KL_T = (exp(log p) * (log p - "
        "log q)).sum(-1), [T]. Mean over the wanted: KL_T[wanted_T].mean().",
        "log_p = (teacher_TV[wanted_T] / temperature).log_softmax(-1)\n"
        "log_q = (student_TV[wanted_T] / temperature).log_softmax(-1)\n"
        "soft = ____ * (log_p.exp() * (log_p - log_q)).sum(-1).mean()\n"
        "plain = student_TV[wanted_T].log_softmax(-1)\n"
        "hard = -plain.gather(1, right_T[wanted_T][:, None]).mean()\n"
        "return mix * soft + (1 - mix) * hard",
    ),
)  # fmt: skip
NO_NUMBER = (
    "no number: of logits far apart exp is infinite or softmax exactly 0, and log(0) is infinite, "
    "0 * log(0) and 0 / 0 are NaN. There is a function that gives log p without softmax"
)
HOW = "After your function, loss.backward() is called; `gradient` is what the student's logits get."


def make(rng, T, V, large=0.0, mix=None):
    """large: how far logits lie from 0; the student's lie elsewhere. About half is wanted."""
    if T < 1 or V < 2:
        raise ValueError("a position and two tokens")
    student_TV = 2 * normal(rng, T, V, dtype=torch.float64)
    teacher_TV = student_TV + 2 * normal(rng, T, V, dtype=torch.float64)
    if large:  # apart by hundreds: exp of one is infinite, of another 0
        student_TV += large * normal(rng, T, V, dtype=torch.float64)
        teacher_TV += large * normal(rng, T, V, dtype=torch.float64)
    wanted = [rng.random() < 0.5 for _ in range(T)]
    wanted[rng.randrange(T)] = True
    if T > 2:  # at least one position is not wanted
        wanted[wanted.index(True) - 1] = False
    return {
        "student_TV": student_TV.clamp(-5000, 5000), "teacher_TV": teacher_TV.clamp(-5000, 5000),
        "right_T": torch.tensor([rng.randrange(V) for _ in range(T)]),
        "wanted_T": torch.tensor(wanted),
        "temperature": rng.choice((1.5, 2.5, 3.0, 4.0)),
        "mix": rng.choice((0.2, 0.3, 0.7, 0.8)) if mix is None else mix,
    }  # fmt: skip


def drive(answer, case):
    """The loss, and the gradient with respect to the student's logits (None: there is none)."""
    with torch.enable_grad():
        student_TV = case["student_TV"].requires_grad_()
        try:
            given = ("teacher_TV", "right_T", "wanted_T", "temperature", "mix")
            loss = answer(student_TV, *(case[name] for name in given))
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                return {"loss": loss, "gradient": None}
            if not loss.requires_grad:
                return {"loss": loss, "gradient": None}
            loss.backward()
            return {"loss": loss.detach(), "gradient": student_TV.grad}
        finally:  # the input is as it was
            student_TV.requires_grad_(False).grad = None


def judge(case, output):
    want = drive(spec.reference("13.4"), case)
    loss = output["loss"]
    if isinstance(loss, float):
        raise Wrong("13.4.float", "the loss is a float: return a tensor, or nothing can learn")
    if isinstance(loss, torch.Tensor) and loss.numel() == 1:
        loss = loss.reshape(())
        if not loss.isfinite():
            raise Wrong("13.4.infinite", f"the loss is {loss:.6g}, {NO_NUMBER}")
    compare(loss, want["loss"], TOLERANCES["fp32"], "the loss", floor=1e-12)
    if output["gradient"] is None:
        raise Wrong("13.4.gradient", "the loss is right, but no gradient reaches the student")
    if not output["gradient"].isfinite().all():
        raise Wrong("13.4.infinite", f"the loss is right, but its gradient is {NO_NUMBER}")
    compare(output["gradient"], want["gradient"], TOLERANCES["fp32"],
            "the gradient of the student's logits", floor=1e-12)  # fmt: skip
