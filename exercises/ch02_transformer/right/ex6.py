"""Other right answers of 2.6."""


def in_a_loop(x_TD, attention_norm, attention, mlp_norm, mlp):
    for norm, part in ((attention_norm, attention), (mlp_norm, mlp)):
        x_TD = x_TD + part(norm(x_TD))
    return x_TD


def sum_at_the_end(x_TD, attention_norm, attention, mlp_norm, mlp):
    attended = attention(attention_norm(x_TD))
    return x_TD + (attended + mlp(mlp_norm(attended + x_TD)))
