"""Train the default model's tokenizer: byte-level BPE, digits one by one, 1,024 ids."""

from __future__ import annotations

import itertools

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from minillm import corpus

END = "<|end|>"  # id 0; stands between documents, so it both begins and ends a text
# Words keep the space before them; every digit is a token of its own, so that arithmetic lines up.
PATTERN = r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def train_tokenizer(vocab_size: int = 1024, documents: int = 40_000, seed: int = 0) -> Tokenizer:
    """Learn the merges on the corpus itself (Sennrich et al. 2016, over bytes)."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])  # fmt: skip
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    items = itertools.islice(corpus.training_items(f"tokenizer {seed}"), documents)
    tokenizer.train_from_iterator((i.prompt + i.answer for i in items), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{END} $A", special_tokens=[(END, 0)]
    )
    return tokenizer
