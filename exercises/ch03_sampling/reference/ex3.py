"""Reference of 3.3."""


def perplexity(logits_TV, tokens_T):
    nll_T = -logits_TV[:-1].log_softmax(-1).gather(1, tokens_T[1:, None])[:, 0]
    return float(nll_T.mean().exp())
