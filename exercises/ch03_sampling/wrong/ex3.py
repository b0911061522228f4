"""Named wrong answers of 3.3."""


def _nll(logits_TV, tokens_T):
    return -logits_TV.log_softmax(-1).gather(1, tokens_T[:, None])[:, 0]


def no_shift(logits_TV, tokens_T):
    """row t scored with token t: the token the model has just read"""
    return float(_nll(logits_TV, tokens_T).mean().exp())


def shifted_backwards(logits_TV, tokens_T):
    """row t scored with token t - 1: the shift in the wrong direction"""
    return float(_nll(logits_TV[1:], tokens_T[:-1]).mean().exp())


def divided_by_all(logits_TV, tokens_T):
    """the sum divided by T, not by the T - 1 scored tokens"""
    return float((_nll(logits_TV[:-1], tokens_T[1:]).sum() / len(tokens_T)).exp())


def loss_only(logits_TV, tokens_T):
    """the mean of -log p, without exp"""
    return float(_nll(logits_TV[:-1], tokens_T[1:]).mean())


def mean_of_exp(logits_TV, tokens_T):
    """the mean of 1/p: exp before the mean, so one bad token decides"""
    return float(_nll(logits_TV[:-1], tokens_T[1:]).exp().mean())


def log_of_softmax(logits_TV, tokens_T):
    """log(softmax): the first probability too small for a float makes it infinite"""
    probs_TV = logits_TV[:-1].softmax(-1)
    return float((-probs_TV.gather(1, tokens_T[1:, None])[:, 0].log()).mean().exp())


def base_two(logits_TV, tokens_T):
    """bits (log2) put into exp"""
    return float((_nll(logits_TV[:-1], tokens_T[1:]).mean() / 0.6931471805599453).exp())
