"""Exercise 3.3: perplexity, the ruler of this course.

The model has read T tokens of a text and gave one row of logits for each. Row t holds the scores
of the token AFTER token t. So the first token is never scored, and the last row is not needed.

    nll_T:      for each of the T - 1 scored tokens, -log(probability the model gave it)
    perplexity: exp(mean of nll_T)

A probability can be too small for a float: it becomes 0, and its log is -inf. `log_softmax` never
leaves the log, so use it.

Name for `trace`: nll_T, float [T - 1].
"""

from torch import Tensor


def perplexity(logits_TV: Tensor, tokens_T: Tensor) -> float:
    """logits_TV: float [T, V]. tokens_T: int64 [T], T at least 2. Returns a number."""
    raise NotImplementedError("Exercise 3.3: exp of the mean of -log p(next token)")
