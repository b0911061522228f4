"""Reference of 13.4."""


def distill_loss(student_TV, teacher_TV, right_T, wanted_T, temperature, mix):
    student_WV, teacher_WV = student_TV[wanted_T], teacher_TV[wanted_T]
    log_p = (teacher_WV / temperature).log_softmax(-1)
    log_q = (student_WV / temperature).log_softmax(-1)
    soft = temperature**2 * (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    hard = -student_WV.log_softmax(-1).gather(1, right_T[wanted_T][:, None]).mean()
    return mix * soft + (1 - mix) * hard
