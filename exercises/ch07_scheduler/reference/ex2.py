"""Reference of 7.2."""


def plan_step(running, waiting, budget, max_num_seqs):
    plan, seats = [], max_num_seqs - len(running)
    order = sorted(running, key=lambda item: item[1] > 1)
    for name, pending in order + waiting[:seats]:
        count = min(pending, budget)
        if count > 0:
            plan.append((name, count))
            budget -= count
    return plan
