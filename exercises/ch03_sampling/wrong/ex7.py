"""False mends of 3.7."""


def _as_list(ids):
    return [] if ids is None else list(ids) if isinstance(ids, list) else [ids]


def _write(next_token, prompt, max_tokens, end_ids, keep_end=False):
    tokens = list(prompt)
    while len(tokens) < len(prompt) + max_tokens:
        token = next_token(tokens)
        if token not in end_ids or keep_end:
            tokens.append(token)
        if token in end_ids:
            break
    return tokens[len(prompt) :]


def last_id_only(next_token, prompt, max_tokens, config, generation, tokenizer):
    """only the last id of each list"""
    end_ids = {i for ids in (config, generation, tokenizer) for i in _as_list(ids)[-1:]}
    return _write(next_token, prompt, max_tokens, end_ids)


def generation_hides_config(next_token, prompt, max_tokens, config, generation, tokenizer):
    """generation_config.json alone where it names any, the other two files ignored"""
    end_ids = _as_list(generation) or _as_list(config) or _as_list(tokenizer)
    return _write(next_token, prompt, max_tokens, end_ids)


def zero_is_nothing(next_token, prompt, max_tokens, config, generation, tokenizer):
    """id 0 taken for "no id", because 0 counts as False"""
    end_ids = {i for ids in (config, generation, tokenizer) if ids for i in _as_list(ids)}
    return _write(next_token, prompt, max_tokens, end_ids)


def keeps_the_end_token(next_token, prompt, max_tokens, config, generation, tokenizer):
    """every id honoured, but the end token stays in the answer"""
    end_ids = {i for ids in (config, generation, tokenizer) for i in _as_list(ids)}
    return _write(next_token, prompt, max_tokens, end_ids, keep_end=True)


def cut_afterwards(next_token, prompt, max_tokens, config, generation, tokenizer):
    """end tokens taken out of the answer, which still does not stop at them"""
    end_ids = {i for ids in (config, generation, tokenizer) for i in _as_list(ids)}
    written = _write(next_token, prompt, max_tokens, ())
    return [token for token in written if token not in end_ids]


def numbers_of_lists_only(next_token, prompt, max_tokens, config, generation, tokenizer):
    """every member of a list, but no id that stands alone in the generation file"""
    alone = [] if isinstance(generation, int) else generation
    ids = [*_as_list(config), *_as_list(alone), *_as_list(tokenizer)]
    return _write(next_token, prompt, max_tokens, ids)


def zero_lost_in_lists(next_token, prompt, max_tokens, config, generation, tokenizer):
    """an id of 0 that counts alone, but not in a list"""
    files = (config, generation, tokenizer)
    ids = [i for f in files for i in _as_list(f) if i or not isinstance(f, list)]
    return _write(next_token, prompt, max_tokens, ids)
