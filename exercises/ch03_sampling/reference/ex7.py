"""Reference of 3.7."""


def write(next_token, prompt, max_tokens, config, generation, tokenizer):
    end_ids = set()
    for ids in (config, generation, tokenizer):
        if ids is not None:
            end_ids.update(ids if isinstance(ids, list) else [ids])
    tokens = list(prompt)
    while len(tokens) < len(prompt) + max_tokens:
        token = next_token(tokens)
        if token in end_ids:
            break
        tokens.append(token)
    return tokens[len(prompt) :]
