"""Exercise 1.4: the time of a step, from two speeds.

Bytes are moved and arithmetic is done at the same time, so the slower of the two decides. This is
the **roofline** law. Beside it every operation has a fixed cost before it begins: the **launch**.
Launches are paid one after another, and they come on top.
The course's paper GPU (a device that exists only on paper) takes its time from this formula.
"""


def step_seconds(
    flops: float, moved: float, launches: int, peak: float, bandwidth: float, launch: float
) -> float:
    """Seconds of one step.

    flops: operations. moved: bytes. launches: how many operations are started.
    peak: operations a second. bandwidth: bytes a second. launch: seconds for starting one.
    Call the two times arithmetic and moving.
    """
    raise NotImplementedError("Exercise 1.4: the slower of moving and arithmetic, plus launches")
