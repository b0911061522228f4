"""Reference of 3.1."""


def write_greedy(model, prompt, max_tokens, end_ids):
    tokens, written = list(prompt), []
    for _ in range(max_tokens):
        best = int(model(tokens)[-1].argmax())
        if best in end_ids:
            break
        tokens.append(best)
        written.append(best)
    return written
