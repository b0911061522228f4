"""Exercise 11.7: the same share right, and other answers.

Two models were asked the same questions: `before` and `after` are their answers, in the same order.
`wanted` are the right ones. Compute four shares of all questions:

1. right before
2. right after
3. flipped: right in exactly one of the two. (Two different wrong answers are no flip.)
4. hidden: flips that the two accuracies do not show. These show only how far they lie apart.

Return them in this order. (Flips: Dutta et al. 2024.)

Names for `trace`: right_before, right_after, flipped.
"""


def flips(
    wanted: list[str], before: list[str], after: list[str]
) -> tuple[float, float, float, float]:
    """Three lists of the same length, at least 1."""
    raise NotImplementedError("Exercise 11.7: four shares")
