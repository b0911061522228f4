"""Reference of 2.6."""


def block(x_TD, attention_norm, attention, mlp_norm, mlp):
    attended_TD = attention(attention_norm(x_TD))
    x_TD = x_TD + attended_TD
    added_TD = mlp(mlp_norm(x_TD))
    return x_TD + added_TD
