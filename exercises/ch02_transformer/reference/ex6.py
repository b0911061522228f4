"""Reference of 2.6."""


def block(x_TD, attention_norm, attention, mlp_norm, mlp):
    attended_TD = attention(attention_norm(x_TD))
    middle_TD = x_TD + attended_TD
    added_TD = mlp(mlp_norm(middle_TD))
    return middle_TD + added_TD
