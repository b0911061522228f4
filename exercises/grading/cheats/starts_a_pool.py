"""Starts processes by multiprocessing."""

# exercise: 0.2
# ends: forbidden

import multiprocessing


def nothing():
    pass


def scale_rows(weights, scale):
    process = multiprocessing.get_context("spawn").Process(target=nothing)
    process.start()
    return weights * scale[:, None]
