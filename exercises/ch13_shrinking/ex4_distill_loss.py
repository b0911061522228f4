"""Exercise 13.4: learn from the large model (distillation; Hinton, Vinyals and Dean 2015).

A smaller model, the student, is trained to say what the large one, the teacher, says. At each
position the teacher gives probabilities for all V tokens, not only the one right token.

    p, q  = softmax of the teacher's, of the student's logits, both divided by `temperature`
    soft  = temperature^2 * (mean over the wanted positions of  sum over V of p * log(p / q))
    hard  = mean over the wanted positions of -log(probability of the right token), from the
            student's logits as they are (not divided)
    loss  = mix * soft + (1 - mix) * hard

Dividing by the temperature makes gradients smaller by its square: temperature^2 puts that right.

Return the loss as a tensor of one number; gradients must reach the student. Logits may be as large
as 5000 (exp of them is infinite), and a p may be so small that it is 0: the loss must stay right.

Names for `trace`: soft, hard.
"""

import torch
from torch import Tensor


def distill_loss(
    student_TV: Tensor,
    teacher_TV: Tensor,
    right_T: Tensor,
    wanted_T: Tensor,
    temperature: float,
    mix: float,
) -> Tensor:
    """Logits float64 [T, V]. right_T: int64, the right token. wanted_T: bool, at least one True."""
    raise NotImplementedError("Exercise 13.4: two means, mixed")
