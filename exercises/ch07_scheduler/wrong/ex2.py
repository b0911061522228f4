"""Named wrong answers of 7.2."""


def _fill(queue, budget):
    plan = []
    for name, pending in queue:
        count = min(pending, budget)
        if count > 0:
            plan.append((name, count))
            budget -= count
    return plan


def _queue(running, waiting, max_num_seqs):
    order = sorted(running, key=lambda item: item[1] > 1)
    return order + waiting[: max_num_seqs - len(running)]


def order_of_admission(running, waiting, budget, max_num_seqs):
    """plain order of admission: one who writes waits behind a prompt that is being read"""
    return _fill(running + waiting[: max_num_seqs - len(running)], budget)


def whole_prompts_only(running, waiting, budget, max_num_seqs):
    """no chunks: a prompt that does not fit whole is left out"""
    plan = []
    for name, pending in _queue(running, waiting, max_num_seqs):
        if pending <= budget:
            plan.append((name, pending))
            budget -= pending
    return plan


def last_one_not_cut(running, waiting, budget, max_num_seqs):
    """more than the budget: the last request gets all it needs"""
    plan = []
    for name, pending in _queue(running, waiting, max_num_seqs):
        if budget > 0:
            plan.append((name, pending))
            budget -= pending
    return plan


def writing_is_free(running, waiting, budget, max_num_seqs):
    """a budget for prompts alone: the tokens of those who write are not counted"""
    queue = _queue(running, waiting, max_num_seqs)
    return [i for i in queue if i[1] == 1] + _fill([i for i in queue if i[1] > 1], budget)


def seats_ignored(running, waiting, budget, max_num_seqs):
    """admitting waiting requests without a look at the seats"""
    return _fill(_queue(running, [], 0) + waiting, budget)


def all_seats_for_new_ones(running, waiting, budget, max_num_seqs):
    """max_num_seqs new requests, although the running ones hold seats, too"""
    return _fill(_queue(running, [], 0) + waiting[:max_num_seqs], budget)


def shortest_first(running, waiting, budget, max_num_seqs):
    """short prompts overtake long ones in the queue"""
    return _fill(_queue(running, sorted(waiting, key=lambda i: i[1]), max_num_seqs), budget)


def empty_items(running, waiting, budget, max_num_seqs):
    """requests with 0 tokens in the plan"""
    plan = []
    for name, pending in _queue(running, waiting, max_num_seqs):
        plan.append((name, min(pending, budget)))
        budget -= plan[-1][1]
    return plan


def waiting_before_reading(running, waiting, budget, max_num_seqs):
    """new requests before those that are in the middle of their prompt"""
    seats = max_num_seqs - len(running)
    one = [i for i in running if i[1] == 1]
    return _fill(one + waiting[:seats] + [i for i in running if i[1] > 1], budget)


def one_chunk_a_step(running, waiting, budget, max_num_seqs):
    """one prompt a step: the budget that it leaves is not used"""
    plan = []
    for name, pending in _queue(running, waiting, max_num_seqs):
        count = min(pending, budget)
        if count > 0:
            plan.append((name, count))
            budget -= count
        if pending > 1:
            break
    return plan
