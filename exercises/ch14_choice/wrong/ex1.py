"""Named wrong answers of 14.1."""


def _plan(weights, token, context, block_size, memory):
    blocks = max(0, memory - weights) // (block_size * token)
    return {"weights": weights, "token": token, "requests": blocks // -(-context // block_size)}


def _weights(count, bits, group, scale=2):
    return count * bits // 8 + (scale * count // group if group else 0)


def without_scales(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """weights without their scales"""
    token = 2 * layers * kv_heads * head_size * kv_bytes
    return _plan(count * bits // 8, token, context, block_size, memory)


def scales_of_four_bytes(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """scales of 4 bytes: here they have 2"""
    token = 2 * layers * kv_heads * head_size * kv_bytes
    return _plan(_weights(count, bits, group, 4), token, context, block_size, memory)


def one_scale_a_group_in_bits(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """scales of 2 bits, not of 2 bytes"""
    weights = (count * bits + (2 * count // group if group else 0)) // 8
    token = 2 * layers * kv_heads * head_size * kv_bytes
    return _plan(weights, token, context, block_size, memory)


def keys_alone(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """the keys without the values"""
    token = layers * kv_heads * head_size * kv_bytes
    return _plan(_weights(count, bits, group), token, context, block_size, memory)


def one_layer(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """the keys and values of one layer only"""
    token = 2 * kv_heads * head_size * kv_bytes
    return _plan(_weights(count, bits, group), token, context, block_size, memory)


def no_blocks(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """tokens counted, not blocks: the rest of a request's last block serves nobody else"""
    weights, token = _weights(count, bits, group), 2 * layers * kv_heads * head_size * kv_bytes
    requests = max(0, memory - weights) // (context * token)
    return {"weights": weights, "token": token, "requests": requests}


def last_block_forgotten(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """full blocks only: the last tokens of a request need a block, too"""
    weights, token = _weights(count, bits, group), 2 * layers * kv_heads * head_size * kv_bytes
    return _plan(weights, token, context // block_size * block_size, block_size, memory)


def _below_zero(weights, token, blocks_of_one, memory, size):
    return {"weights": weights, "token": token,
            "requests": (memory - weights) // (size * token) // blocks_of_one}  # fmt: skip


def last_block_forgotten_and_below_zero(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """full blocks only: the last tokens of a request need one, too (and see too large weights)"""
    weights, token = _weights(count, bits, group), 2 * layers * kv_heads * head_size * kv_bytes
    return _below_zero(weights, token, context // block_size, memory, block_size)


def no_blocks_and_below_zero(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """tokens counted, not blocks: a block serves one request (and see too large weights)"""
    weights, token = _weights(count, bits, group), 2 * layers * kv_heads * head_size * kv_bytes
    return _below_zero(weights, token, context, memory, 1)


def beside_no_weights(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """requests in the whole memory, as if the weights were elsewhere"""
    weights, token = _weights(count, bits, group), 2 * layers * kv_heads * head_size * kv_bytes
    found = _plan(0, token, context, block_size, memory)
    return found | {"weights": weights}


def below_zero(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    """a number below 0 where the weights alone are too large"""
    weights, token = _weights(count, bits, group), 2 * layers * kv_heads * head_size * kv_bytes
    blocks = (memory - weights) // (block_size * token)
    return {"weights": weights, "token": token, "requests": blocks // -(-context // block_size)}
