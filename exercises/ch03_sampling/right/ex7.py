"""Other right answers of 3.7."""


def _as_list(ids):
    if ids is None:
        return []
    return ids if isinstance(ids, list) else [ids]


def mended_helper(next_token, prompt, max_tokens, config, generation, tokenizer):
    end_ids = {*_as_list(config), *_as_list(generation), *_as_list(tokenizer)}
    written = []
    for _ in range(max_tokens):
        token = next_token([*prompt, *written])
        if token in end_ids:
            return written
        written.append(token)
    return written


def checks_each_file(next_token, prompt, max_tokens, config, generation, tokenizer):
    def ends(token, ids):
        return token == ids or (isinstance(ids, list) and token in ids)

    tokens = list(prompt)
    while len(tokens) - len(prompt) < max_tokens:
        token = next_token(tokens)
        if any(ends(token, ids) for ids in (config, generation, tokenizer)):
            break
        tokens.append(token)
    return tokens[len(prompt) :]
