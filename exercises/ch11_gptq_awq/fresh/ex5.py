"""Exercise 11.5: how far down can the bits go, and which task falls first?

`tiny` is rounded to nearest at 8, 6, 5, 4, 3 and 2 bits, one scale for 64 weights. At each width it
answers 200 unseen items of five tasks. In float32 it is right in at least {{least:.1f}}% of each:

    recall    boxes: red key, blue hat; open blue    ->  hat        look it up
    copy      copy: k d o =                          ->  k d o      look it up, many times
    sort      sort: 5291=                            ->  1259
    add       add: 347+589=                          ->  936
    code      code: a=3; b=a+4; print b=             ->  7

1. bits: the largest of these widths at which some task has lost more than 10 points (such as 95%
   to 84%).
2. A rank for each task at that width: 1 is the task with the fewest right answers, 5 the one with
   the most.

Guess first, then measure it in the notebook. `bits` must be right. Of the ten pairs of tasks, two
may stand the other way round; pairs that lie less than 10 points apart do not count. Write

    answer = {"bits": ..., "recall": ..., "copy": ..., "sort": ..., "add": ..., "code": ...}
"""

answer = None
