"""Returns a coroutine."""

# exercise: 0.2
# ends: output


async def scale_rows(weights, scale):
    return weights * scale[:, None]
