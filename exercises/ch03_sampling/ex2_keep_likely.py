"""Exercise 3.2: top-k and top-p.

Turn logits into the probabilities to draw from. In this order:

1. divide by the temperature;
2. top-k: keep the `top_k` largest logits. 0 keeps all; so does a top_k above V;
3. softmax over what is left;
4. top-p: walk from the likeliest token down. A token stays if the tokens BEFORE it hold less than
   `top_p` together. So the token that crosses top_p stays, and the likeliest one always does;
5. what is left must sum to 1 again; what was dropped has probability 0.

Names for `trace`, all float [V] in the order of the vocabulary: kept_V after step 2 (dropped:
-inf), probs_V after step 3, before_V: the sum of all likelier tokens, left_V after step 4 (dropped:
0). Give each its own name: `trace` compares what they hold at the end.
"""

from torch import Tensor


def keep_likely(logits_V: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """logits_V: float [V], all different. Returns probabilities, float [V]."""
    raise NotImplementedError("Exercise 3.2: temperature, top-k, softmax, top-p, sum to 1")
