"""Exercise 4.3: the causal mask when there are fewer queries than keys.

A cache holds earlier keys. T new tokens bring T queries. With their own keys there are L keys.
The LAST query belongs to the last key. Every query sees all keys up to its own, its own included.

If you need them, call the positions of the queries query_T, int64 [T] (a name for `trace`).
"""

import torch
from torch import Tensor


def causal_mask(num_queries: int, num_keys: int) -> Tensor:
    """Returns bool [num_queries, num_keys]: True where the query may look."""
    raise NotImplementedError("Exercise 4.3: at which position does the first query stand?")
