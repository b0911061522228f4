"""Uses the network."""

# exercise: 0.2
# ends: forbidden

import socket


def scale_rows(weights, scale):
    socket.create_connection(("127.0.0.1", 9), timeout=1)
    return weights * scale[:, None]
