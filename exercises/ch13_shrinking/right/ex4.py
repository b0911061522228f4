"""Other right answers of 13.4."""

import torch
import torch.nn.functional as F


def with_torchs_losses(student_TV, teacher_TV, right_T, wanted_T, temperature, mix):
    student_WV, teacher_WV = student_TV[wanted_T], teacher_TV[wanted_T].detach()
    q, p = ((x / temperature).log_softmax(-1) for x in (student_WV, teacher_WV))
    soft = F.kl_div(q, p, reduction="batchmean", log_target=True) * temperature**2
    return mix * soft + (1 - mix) * F.cross_entropy(student_WV, right_T[wanted_T])


def weighted_sums(student_TV, teacher_TV, right_T, wanted_T, temperature, mix):
    """All positions, the unwanted with weight 0; log-sum-exp by hand, entropies apart."""
    weight_T = wanted_T.double() / wanted_T.sum()

    def logs(x_TV):
        x_TV = x_TV - x_TV.detach().amax(-1, keepdim=True)
        return x_TV - x_TV.exp().sum(-1, keepdim=True).log()

    p_TV = torch.softmax(teacher_TV / temperature, -1)
    kl_T = torch.special.entr(p_TV).sum(-1).neg() - (p_TV * logs(student_TV / temperature)).sum(-1)
    hard_T = -logs(student_TV)[torch.arange(len(right_T)), right_T]
    mixed_T = mix * temperature**2 * kl_T + (1 - mix) * hard_T
    return (weight_T * mixed_T).sum()[None]
