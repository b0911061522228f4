"""Named wrong answers of 2.2."""

import torch


def _turn(x_THK, angle_Tk):
    cos, sin = angle_Tk.cos()[:, None], angle_Tk.sin()[:, None]
    a, b = x_THK.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def _freq(theta, K):
    return theta ** (-torch.arange(0, K, 2) / K)


def neighbours_are_pairs(x_THK, pos_T, theta):
    """pairs of neighbours (x[0], x[1]), (x[2], x[3]): another layout, not that of this model"""
    angle = pos_T[:, None] * _freq(theta, x_THK.shape[-1])
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x_THK[..., 0::2], x_THK[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)


def turns_backwards(x_THK, pos_T, theta):
    """turning the other way round (the signs of sin swapped)"""
    return _turn(x_THK, -(pos_T[:, None] * _freq(theta, x_THK.shape[-1])))


def one_speed(x_THK, pos_T, theta):
    """all pairs turning as fast as the first"""
    return _turn(x_THK, pos_T[:, None] * torch.ones(x_THK.shape[-1] // 2))


def exponent_without_the_two(x_THK, pos_T, theta):
    """theta ** (-i / K): the 2 of the exponent left out"""
    K = x_THK.shape[-1]
    return _turn(x_THK, pos_T[:, None] * theta ** (-torch.arange(K // 2) / K))


def counts_from_zero(x_THK, pos_T, theta):
    """positions 0, 1, 2, ... instead of the positions given"""
    return _turn(x_THK, torch.arange(len(pos_T))[:, None] * _freq(theta, x_THK.shape[-1]))


def one_position_late(x_THK, pos_T, theta):
    """every position one too large"""
    return _turn(x_THK, (pos_T + 1)[:, None] * _freq(theta, x_THK.shape[-1]))


def lost_b(x_THK, pos_T, theta):
    """new b computed from the new a instead of the old one"""
    angle = pos_T[:, None] * _freq(theta, x_THK.shape[-1])
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x_THK.chunk(2, dim=-1)
    a = a * cos - b * sin
    return torch.cat((a, b * cos + a * sin), -1)


def no_place_for_heads(x_THK, pos_T, theta):
    """cos and sin of [T, K/2] without a place for the heads: they need [T, 1, K/2]"""
    angle = pos_T[:, None] * _freq(theta, x_THK.shape[-1])
    cos, sin = angle.cos(), angle.sin()
    a, b = x_THK.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def plus_in_new_a(x_THK, pos_T, theta):
    """new a = a cos + b sin: its minus is lost, so pairs change their length"""
    angle = pos_T[:, None] * _freq(theta, x_THK.shape[-1])
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x_THK.chunk(2, dim=-1)
    return torch.cat((a * cos + b * sin, b * cos + a * sin), -1)


def no_minus_in_the_exponent(x_THK, pos_T, theta):
    """theta ** (2 * i / K): the minus of the exponent left out, so later pairs turn faster"""
    K = x_THK.shape[-1]
    return _turn(x_THK, pos_T[:, None] * theta ** (torch.arange(0, K, 2) / K))


def neighbours_joined_by_cat(x_THK, pos_T, theta):
    """pairs of neighbours (x[0], x[1]), joined as two halves: the numbers change their places"""
    angle = pos_T[:, None] * _freq(theta, x_THK.shape[-1])
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x_THK[..., 0::2], x_THK[..., 1::2]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def minus_in_new_b(x_THK, pos_T, theta):
    """new b = b cos - a sin: it needs a plus, so pairs change their length"""
    angle = pos_T[:, None] * _freq(theta, x_THK.shape[-1])
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x_THK.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos - a * sin), -1)
