"""Remembers results by the identity of the inputs."""

# exercise: 0.2
# ends: wrong

memory = {}


def scale_rows(weights, scale):
    key = (id(weights), id(scale))
    if key not in memory:
        memory[key] = weights * scale[:, None]
    return memory[key]
