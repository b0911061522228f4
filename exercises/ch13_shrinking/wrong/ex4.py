"""Named wrong answers of 13.4."""

import torch


def _loss(student_TV, teacher_TV, right_T, wanted_T, temperature, mix, **other):
    """Our answer with some parts replaced."""
    part = {
        "kl": lambda p, q: (p.exp() * (p - q)).sum(-1),
        "factor": lambda t: t**2,
        "teacher": lambda x, t: (x / t).log_softmax(-1),
        "plain": lambda x, t: x.log_softmax(-1),
        "soft_mean": lambda kl_T, wanted_T: kl_T[wanted_T].mean(),
        "hard_mean": lambda loss_T, wanted_T: loss_T[wanted_T].mean(),
        "mixed": lambda soft, hard, m: m * soft + (1 - m) * hard,
    } | other
    log_p = part["teacher"](teacher_TV, temperature)
    log_q = (student_TV / temperature).log_softmax(-1)
    soft = part["factor"](temperature) * part["soft_mean"](part["kl"](log_p, log_q), wanted_T)
    hard_T = -part["plain"](student_TV, temperature).gather(1, right_T[:, None])[:, 0]
    return part["mixed"](soft, part["hard_mean"](hard_T, wanted_T), mix)


def the_other_way_round(*given):
    """the KL of student and teacher exchanged: sum of q * log(q / p)"""
    return _loss(*given, kl=lambda p, q: (q.exp() * (q - p)).sum(-1))


def without_the_square(*given):
    """no temperature^2: the soft part fades as the temperature grows"""
    return _loss(*given, factor=lambda t: 1.0)


def temperature_once(*given):
    """the soft part times temperature, not its square"""
    return _loss(*given, factor=lambda t: t)


def divided_by_the_square(*given):
    """the soft part DIVIDED by temperature^2"""
    return _loss(*given, factor=lambda t: t**-2)


def teacher_not_divided(*given):
    """the teacher's logits not divided by the temperature"""
    return _loss(*given, teacher=lambda x, t: x.log_softmax(-1))


def hard_with_temperature(*given):
    """the student's logits divided by the temperature in the hard part, too"""
    return _loss(*given, plain=lambda x, t: (x / t).log_softmax(-1))


def over_all_positions(*given):
    """the mean over all positions, also those that are not wanted"""
    mean = lambda x_T, wanted_T: x_T.mean()
    return _loss(*given, soft_mean=mean, hard_mean=mean)


def soft_over_all_positions(*given):
    """the soft part over all positions, the hard part over the wanted ones"""
    return _loss(*given, soft_mean=lambda x_T, wanted_T: x_T.mean())


def divided_by_all_positions(*given):
    """the sum over the wanted positions divided by the number of ALL positions"""
    mean = lambda x_T, wanted_T: x_T[wanted_T].sum() / len(wanted_T)
    return _loss(*given, soft_mean=mean, hard_mean=mean)


def added_up(*given):
    """sums over the wanted positions, not means"""
    mean = lambda x_T, wanted_T: x_T[wanted_T].sum()
    return _loss(*given, soft_mean=mean, hard_mean=mean)


def mean_over_the_vocabulary(*given):
    """the mean over V tokens, where the KL is a sum (as kl_div's reduction "mean" does)"""
    return _loss(*given, kl=lambda p, q: (p.exp() * (p - q)).mean(-1))


def mixed_the_other_way(*given):
    """mix on the hard part and 1 - mix on the soft part"""
    return _loss(*given, mixed=lambda soft, hard, m: m * hard + (1 - m) * soft)


def both_in_full(*given):
    """soft + hard: nothing mixed"""
    return _loss(*given, mixed=lambda soft, hard, m: soft + hard)


def cross_entropy_with_the_teacher(*given):
    """-sum of p * log q: the teacher's own entropy is not taken off (the gradient is the same)"""
    return _loss(*given, kl=lambda p, q: -(p.exp() * q).sum(-1))


def squared_distance(*given):
    """the squared distance of the logarithms, not the KL"""
    return _loss(*given, kl=lambda p, q: ((p - q) ** 2).mean(-1))


def log_of_a_zero(student_TV, teacher_TV, right_T, wanted_T, temperature, mix):
    """log of softmax: a probability that is 0 gives 0 * (-infinity), which is NaN"""
    kl = lambda p, q: (p.exp() * (p.exp().log() - q.exp().log())).sum(-1)
    plain = lambda x, t: x.softmax(-1).log()
    given = (student_TV, teacher_TV, right_T, wanted_T, temperature, mix)
    return _loss(*given, kl=kl, plain=plain)


def a_small_number_in_the_log(*given):
    """1e-12 added inside the log: it hides the infinity, and cuts every large difference"""
    return _loss(*given, kl=lambda p, q: _cut(p, q, 1e-12))


def a_larger_number_in_the_log(*given):
    """1e-8 added inside the log: it hides the infinity, and cuts every large difference"""
    return _loss(*given, kl=lambda p, q: _cut(p, q, 1e-8))


def _cut(p, q, little):
    return (p.exp() * ((p.exp() + little) / (q.exp() + little)).log()).sum(-1)


def no_gradient(*given):
    """a loss without its graph (detach, item, no_grad): no gradient reaches the student"""
    with torch.no_grad():
        return _loss(*given)
