"""Reference of 11.5."""


def answer(before, curve, least):
    fallen = [bits for bits in curve if any(before[t] - curve[bits][t] > 0.1 for t in before)]
    order = sorted(before, key=lambda task: curve[max(fallen)][task])
    return {"bits": max(fallen)} | {task: order.index(task) + 1 for task in before}
