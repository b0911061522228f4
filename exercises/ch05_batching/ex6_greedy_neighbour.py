"""Exercise 5.6: find the fault.

Users say: "Temperature 0 should always give the likeliest token. Alone it does. Next to a request
that samples, my text turns into another one." No error, no crash.

next_tokens picks one token for each request (row) of a batch. Some rows are greedy (temperature 0),
others draw. The draw of row s uses uniform_S[s]: the first token at which the summed probability is
above it. A logit may be -inf: that token is forbidden. Greedy takes the first of the largest
logits, whatever the neighbours do. Find the fault and mend it.
"""

import torch
from torch import Tensor


def next_tokens(logits_SV: Tensor, temperature_S: Tensor, uniform_S: Tensor) -> Tensor:
    """logits_SV: float64 [S, V]. temperature_S, uniform_S: float64 [S]. Returns int64 [S]."""
    if (temperature_S == 0).all():
        return logits_SV.argmax(-1)
    probs_SV = (logits_SV / temperature_S[:, None]).softmax(-1)
    reached_SV = probs_SV.cumsum(-1) > uniform_S[:, None]
    return reached_SV.int().argmax(-1)
