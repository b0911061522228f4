"""Named wrong answers of 3.1."""


def _loop(model, prompt, max_tokens, end_ids, row=-1, sees=lambda tokens: tokens):
    tokens = list(prompt)
    for _ in range(max_tokens):
        best = int(model(sees(tokens))[row].argmax())
        if best in end_ids:
            break
        tokens.append(best)
    return tokens[len(prompt) :]


def first_row(model, prompt, max_tokens, end_ids):
    """reading the first row of the logits, not the last"""
    return _loop(model, prompt, max_tokens, end_ids, row=0)


def prompt_only(model, prompt, max_tokens, end_ids):
    """giving the model the prompt every time, never the new tokens"""
    return _loop(model, prompt, max_tokens, end_ids, sees=lambda tokens: tokens[: len(prompt)])


def last_token_only(model, prompt, max_tokens, end_ids):
    """giving the model only the last token: there is no cache yet, so it forgets the rest"""
    return _loop(model, prompt, max_tokens, end_ids, sees=lambda tokens: tokens[-1:])


def with_prompt(model, prompt, max_tokens, end_ids):
    """returning the prompt as well"""
    return list(prompt) + _loop(model, prompt, max_tokens, end_ids)


def with_end_token(model, prompt, max_tokens, end_ids):
    """keeping the end token in the result"""
    written = _loop(model, prompt, max_tokens, end_ids)
    if len(written) < max_tokens:
        written.append(int(model(prompt + written)[-1].argmax()))
    return written


def never_stops(model, prompt, max_tokens, end_ids):
    """going on after the end token"""
    return _loop(model, prompt, max_tokens, set())


def one_too_many(model, prompt, max_tokens, end_ids):
    """max_tokens + 1 tokens"""
    return _loop(model, prompt, max_tokens + 1, end_ids)
