"""False mends of 4.8."""

import torch

CHUNK = 4


def _decode(model, memory, prompt, answer, chunk_at, token_at):
    for start in range(0, len(prompt), CHUNK):
        chunk_T = torch.tensor(prompt[start : start + CHUNK])
        pos_T = chunk_at(start) + torch.arange(len(chunk_T))
        logits_TV = model(chunk_T, pos_T, memory)
    rows = [logits_TV[-1]]
    for step, token in enumerate(answer):
        pos_T = torch.tensor([token_at(step)])
        rows.append(model(torch.tensor([token]), pos_T, memory)[-1])
    return torch.stack(rows)


def one_too_early(model, memory, prompt, answer):
    """an answer that begins at the position of the prompt's last token"""
    last = len(prompt) - 1
    return _decode(model, memory, prompt, answer, lambda s: s, lambda step: last + step)


def one_too_late(model, memory, prompt, answer):
    """a gap of one position between the prompt and the answer"""
    first = len(prompt) + 1
    return _decode(model, memory, prompt, answer, lambda s: s, lambda step: first + step)


def answer_from_zero(model, memory, prompt, answer):
    """answer positions that begin at 0 again"""
    return _decode(model, memory, prompt, answer, lambda s: s, lambda step: step)


def always_the_same(model, memory, prompt, answer):
    """one and the same position for every token of the answer"""
    return _decode(model, memory, prompt, answer, lambda s: s, lambda step: len(prompt))


def chunks_from_zero(model, memory, prompt, answer):
    """positions that begin at 0 again in every chunk of the prompt"""
    return _decode(model, memory, prompt, answer, lambda s: 0, lambda step: len(prompt) + step)


def gap_between_chunks(model, memory, prompt, answer):
    """a gap of one position after every chunk of the prompt"""
    late = lambda start: start + start // CHUNK
    first = len(prompt) + (len(prompt) - 1) // CHUNK
    return _decode(model, memory, prompt, answer, late, lambda step: first + step)


def without_the_memory(model, memory, prompt, answer):
    """the whole text read at once: the cache is not mended, it is not used"""
    return model(torch.tensor(prompt + answer))[len(prompt) - 1 :]
