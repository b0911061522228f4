"""Exercise 6.6: attend to two halves of a text, then merge the results.

A long text is shared out: one worker attends to its first half, another to its second half. Neither
sees the scores of the other. Each hands over, for every query head,

    max_H     the largest score of its half
    sum_H     the sum of exp(score - max) over its half
    acc_HK    the sum of exp(score - max) * v over its half (not divided by anything)

Merge two such triples into the triple of the whole text. The result of attention is then
acc / sum. Scores may be as large as 1,000, so exp(score) itself does not fit into a float. A half
may also be empty: max is -inf, sum and acc are 0. (Not both of them.)

Names for `trace`: weight_a_H, weight_b_H, what each half is multiplied with.
"""

import torch
from torch import Tensor


def merge(a: tuple[Tensor, Tensor, Tensor], b: tuple[Tensor, Tensor, Tensor]):
    """a, b: (max_H, sum_H, acc_HK). Returns such a triple."""
    raise NotImplementedError("Exercise 6.6: bring both halves to the same maximum, then add")
