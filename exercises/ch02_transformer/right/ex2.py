"""Other right answers of 2.2."""

import torch


def with_loops(x_THK, pos_T, theta):
    out, half = x_THK.clone(), x_THK.shape[-1] // 2
    for t, position in enumerate(pos_T.tolist()):
        for i in range(half):
            angle = torch.tensor(position * theta ** (-i / half))
            a, b = x_THK[t, :, i], x_THK[t, :, i + half]
            out[t, :, i] = a * angle.cos() - b * angle.sin()
            out[t, :, i + half] = b * angle.cos() + a * angle.sin()
    return out


def with_complex_numbers(x_THK, pos_T, theta):
    half = x_THK.shape[-1] // 2
    freq = 1.0 / theta ** (torch.arange(half).double() / half)
    turn = torch.polar(torch.ones(1, dtype=torch.double), pos_T[:, None] * freq)[:, None]
    turned = torch.complex(x_THK[..., :half].double(), x_THK[..., half:].double()) * turn
    return torch.cat((turned.real, turned.imag), -1).float()
