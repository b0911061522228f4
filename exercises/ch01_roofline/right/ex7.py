"""Other right answers of 1.7."""

import math


def with_floor(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    usable = (1 - slack) * memory_gib * 1024**3
    users = (usable - weight_bytes) / (kv_bytes_per_token * length)
    return math.floor(users) if users >= 0 else 0


def by_adding_users(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    limit, users = memory_gib * 2**30 * (1 - slack), 0
    while weight_bytes + (users + 1) * kv_bytes_per_token * length <= limit:
        users += 1
    return users
