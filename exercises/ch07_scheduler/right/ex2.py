"""Other right answers of 7.2."""


def three_loops(running, waiting, budget, max_num_seqs):
    plan, taken = [], len(running)
    for wanted in (True, False):
        for name, pending in running:
            if (pending == 1) is wanted and budget:
                plan.append((name, min(pending, budget)))
                budget -= plan[-1][1]
    for name, pending in waiting:
        if not budget or taken == max_num_seqs:
            break
        plan.append((name, min(pending, budget)))
        budget -= plan[-1][1]
        taken += 1
    return plan


def token_by_token(running, waiting, budget, max_num_seqs):
    queue = [i for i in running if i[1] == 1] + [i for i in running if i[1] != 1]
    queue += waiting[: max_num_seqs - len(running)]
    flat = [name for name, pending in queue for _ in range(pending)][:budget]
    return [(name, flat.count(name)) for name in dict.fromkeys(flat)]
