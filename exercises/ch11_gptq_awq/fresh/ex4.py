"""Exercise 11.4: perplexity of a text that is longer than the model can read.

The model reads at most `window` tokens at once. So the text is read in windows: they start at token
0, stride, 2 * stride, ... and end after `window` tokens, or with the text. Windows overlap.

Judge every token exactly once:
- A window judges only the tokens that no window before it has judged. So they have context.
- The first token of the text has none. It is never judged.
- Stop when the last token is judged.

surprises(tokens) asks the model: it takes one window and returns a list of -log p, one for each of
its tokens but the first. Return exp(sum over all judged tokens / number of judged tokens).

Names for `trace`: total, done (how many tokens of the text need no judging any more).
"""

from collections.abc import Callable


def strided_perplexity(
    tokens: list[int], window: int, stride: int, surprises: Callable[[list[int]], list[float]]
) -> float:
    """At least 2 tokens; 1 <= stride < window."""
    raise NotImplementedError("Exercise 11.4: each token judged once, with context")
