"""Never ends."""

# exercise: 0.2
# ends: timeout


def scale_rows(weights, scale):
    while True:
        pass
