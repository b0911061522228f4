"""Reference of 3.3."""


def perplexity(logits_TV, tokens_T):
    logprobs_TV = logits_TV[:-1].log_softmax(-1)
    nll_T = -logprobs_TV.gather(1, tokens_T[1:, None])[:, 0]
    return float(nll_T.mean().exp())
