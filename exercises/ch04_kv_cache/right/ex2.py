"""Other right answers of 4.2."""

import torch


def one_query_at_a_time(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    out_THK = torch.empty_like(q_THK)
    share = q_THK.shape[1] // k_TGK.shape[1]
    for t in range(len(q_THK)):
        now = length + t
        k_strip[now], v_strip[now] = k_TGK[t], v_TGK[t]
        for h in range(q_THK.shape[1]):
            keys, values = k_strip[: now + 1, h // share], v_strip[: now + 1, h // share]
            out_THK[t, h] = (keys @ q_THK[t, h] * scale).softmax(0) @ values
    return out_THK


def grouped_matmul(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    T, H, K = q_THK.shape
    G, L = k_TGK.shape[1], length + len(k_TGK)
    k_strip[length:L].copy_(k_TGK)
    v_strip[length:L].copy_(v_TGK)
    q_GrK = q_THK.view(T, G, H // G, K).permute(1, 2, 0, 3).reshape(G, -1, K)
    scores = (q_GrK @ k_strip[:L].permute(1, 2, 0)).view(G, H // G, T, L) * scale
    late = torch.ones(T, L, dtype=torch.bool).triu(length + 1)
    probs = scores.masked_fill(late, -torch.inf).softmax(-1).view(G, -1, L)
    out = (probs @ v_strip[:L].transpose(0, 1)).view(G, H // G, T, K)
    return out.permute(2, 0, 1, 3).reshape(T, H, K)
