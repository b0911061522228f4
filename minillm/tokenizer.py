"""Text to token ids and back; StreamDecoder holds back half a character and half a stop string.

The `tokenizers` library does the splitting; this file adds what an engine needs around it: every
end-of-text id, one begin-of-text token and never two, and decoding that can be streamed.

Special-token text inside a prompt ("<eos>") becomes that special token, as in transformers: a
chat template needs it. For text from strangers pass special_text=False, then it stays plain text.
"""

from __future__ import annotations

import re
from pathlib import Path

from minillm.files import MIB, LoadError, read_bytes, read_json, read_text
from minillm.hf_config import token_ids

BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
HALF = "\ufffd"  # what decoders put where bytes are no whole character


class Tokenizer:
    """encode, decode, chat; `eos_token_ids`, `bos_token_id`, `vocab_size`.

    backend: a tokenizers.Tokenizer, whose post-processor adds the special tokens.
    """

    def __init__(self, backend, eos_token_ids=(), bos_token_id=None, template=None):
        self.backend, self.chat_template = backend, template
        self.eos_token_ids = tuple(dict.fromkeys(eos_token_ids))
        self.bos_token_id = bos_token_id
        self.special_ids = frozenset(
            i for i, token in backend.get_added_tokens_decoder().items() if token.special
        )
        decoder = str(backend.decoder)
        self._bytes_fall_back, self._strips = "ByteFallback" in decoder, "Strip" in decoder

    @property
    def vocab_size(self) -> int:
        """Number of ids, added tokens included."""
        return self.backend.get_vocab_size(with_added_tokens=True)

    def encode(self, text: str, add_special: bool = True, special_text: bool = True) -> list[int]:
        """Ids of a text. add_special puts begin-of-text in front, once even if the text has it.

        special_text=False reads "<eos>" and the like as ordinary characters.
        """
        if not isinstance(text, str):
            raise TypeError(f"encode needs a str, got {type(text).__name__}")
        self.backend.encode_special_tokens = not special_text
        try:
            ids = _guard("encode", self.backend.encode, text, add_special_tokens=add_special).ids
        finally:
            self.backend.encode_special_tokens = False
        bos = self.bos_token_id
        twice = add_special and bos is not None and ids[:2] == [bos, bos]
        return ids[1:] if twice else ids

    def decode(self, ids, skip_special: bool = True) -> str:
        """Text of token ids; bytes that are no whole character become U+FFFD."""
        ids = [int(i) for i in ids]
        if not self._bytes_fall_back:
            return _guard("decode", self.backend.decode, ids, skip_special_tokens=skip_special)
        return self._decode_byte_tokens(ids, skip_special)

    def _decode_byte_tokens(self, ids: list[int], skip_special: bool) -> str:
        """As the library, but a bad byte spoils one character, not all bytes around it.

        Its ByteFallback gives up a whole run of byte tokens when one of them is wrong, so a
        streamed "good, half" would change after it was shown.
        """
        parts, run, first = [], [], []
        for i in ids:
            token = self.backend.id_to_token(i)
            match = BYTE_TOKEN.fullmatch(token or "")
            if match and i not in self.special_ids:
                if first:
                    parts.append(self._decode_plain(first, skip_special, not parts))
                    first = []
                run.append(int(match[1], 16))
                continue
            if i in self.special_ids and skip_special:
                continue
            if run:
                parts.append(bytes(run).decode("utf-8", "replace"))
                run = []
            first.append(i)
        if run:
            parts.append(bytes(run).decode("utf-8", "replace"))
        if first:
            parts.append(self._decode_plain(first, skip_special, not parts))
        return "".join(parts)

    def _decode_plain(self, ids: list[int], skip_special: bool, at_start: bool) -> str:
        text = _guard("decode", self.backend.decode, ids, skip_special_tokens=skip_special)
        if not at_start and self._strips and self.backend.id_to_token(ids[0])[:1] == "\u2581":
            return " " + text  # the decoder strips the first space of a text, not of a part
        return text

    def chat(self, messages, add_generation_prompt: bool = True, **variables) -> str:
        """messages [{"role", "content"}] through the model's chat template -> prompt text."""
        from minillm.chat import render

        if self.chat_template is None:
            raise ValueError("this model has no chat template: pass plain text as the prompt")
        name = self.backend.id_to_token
        bos = None if self.bos_token_id is None else name(self.bos_token_id)
        eos = name(self.eos_token_ids[0]) if self.eos_token_ids else None
        variables = {"bos_token": bos or "", "eos_token": eos or ""} | variables
        return render(self.chat_template, messages, add_generation_prompt, variables)


class StreamDecoder:
    """Turns tokens into pieces of text that are final; together they equal the decoded whole.

    Two things are held back: the last character while its bytes are incomplete, and any end of
    the text that may still become a stop string. Only a short window of tokens is decoded each
    time, so the cost of a token does not grow with the text.
    """

    WINDOW = 8  # tokens; a character has at most 4 bytes, so older ones cannot change any more

    def __init__(self, tokenizer, stop=()):
        self.tokenizer = tokenizer
        self.stop = (stop,) if isinstance(stop, str) else tuple(stop)
        if any(not isinstance(s, str) or not s for s in self.stop):
            raise ValueError("stop must be non-empty strings")
        self.ids, self.done = [], ""  # window of tokens; what of its text was taken already
        self.held, self.text, self.stopped = "", "", False

    def push(self, token: int) -> str:
        """Add one token -> the text that became final, often "" (after a stop always "")."""
        if self.stopped or token in getattr(self.tokenizer, "special_ids", ()):
            return ""  # special tokens have no text
        self.ids.append(token)
        text = self.tokenizer.decode(self.ids)
        settled = text[:-1] if text.endswith(HALF) else text
        new = settled[len(self.done) :]
        self.done += new
        if len(self.ids) > 2 * self.WINDOW:
            self._shorten(text)
        return self._release(new)

    def finish(self) -> str:
        """The rest: a half character as U+FFFD, and the beginning of a stop that never came."""
        if self.stopped:
            return ""
        rest = self.tokenizer.decode(self.ids)[len(self.done) :] if self.ids else ""
        self.ids, self.done = [], ""
        piece = self._release(rest)
        if not self.stopped:
            piece, self.text, self.held = piece + self.held, self.text + self.held, ""
        return piece

    def _shorten(self, text: str) -> None:
        """Drop old tokens, where the rest alone still decodes to the end of the same text."""
        for keep in range(self.WINDOW, len(self.ids)):
            tail = self.tokenizer.decode(self.ids[-keep:])
            if len(tail) > 1 and text.endswith(tail):
                half = len(text) - len(self.done)
                self.ids, self.done = self.ids[-keep:], tail[: len(tail) - half]
                return

    def _release(self, new: str) -> str:
        self.held += new
        ends = [(at + len(s), at) for s in self.stop if (at := self.held.find(s)) >= 0]
        if ends:
            cut = min(ends)[1]
            piece, self.held, self.stopped = self.held[:cut], "", True
        else:
            keep = max((_overlap(self.held, s) for s in self.stop), default=0)
            cut = len(self.held) - keep
            piece, self.held = self.held[:cut], self.held[cut:]
        self.text += piece
        return piece


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of text that begins stop."""
    for size in range(min(len(stop) - 1, len(text)), 0, -1):
        if text.endswith(stop[:size]):
            return size
    return 0


def load_tokenizer(folder: Path, config_eos=(), config_bos=None) -> Tokenizer:
    """tokenizer.json, with what tokenizer_config.json and generation_config.json add to it."""
    folder = Path(folder)
    data = read_bytes(folder / "tokenizer.json", 256 * MIB)
    backend = parse_tokenizer(data, folder / "tokenizer.json")
    settings = _optional(folder / "tokenizer_config.json")
    generation = _optional(folder / "generation_config.json")
    name = lambda key: _token_id(backend, settings.get(key))  # noqa: E731
    eos = [*config_eos, *token_ids(generation.get("eos_token_id")), name("eos_token")]
    bos = name("bos_token") if name("bos_token") is not None else config_bos
    _apply_add_bos(backend, bos, settings.get("add_bos_token"))
    ends = [i for i in eos if i is not None]
    return Tokenizer(backend, ends, bos, _template(folder, settings))


def parse_tokenizer(data: bytes, path):
    """Bytes of a tokenizer.json -> tokenizers.Tokenizer, or a LoadError that names the file."""
    from tokenizers import Tokenizer as Backend

    try:
        backend = _guard("read", Backend.from_buffer, data)
    except ValueError as error:
        raise LoadError(f"{path} is not a tokenizer: {str(error)[:300]}") from None
    backend.no_padding()
    backend.no_truncation()
    return backend


def _apply_add_bos(backend, bos: int | None, wanted) -> None:
    """add_bos_token of tokenizer_config.json outranks what tokenizer.json does."""
    from tokenizers.processors import TemplateProcessing

    if bos is None or not isinstance(wanted, bool):
        return
    does = _guard("encode", backend.encode, "", add_special_tokens=True).ids[:1] == [bos]
    text = backend.id_to_token(bos)
    if does and not wanted:
        backend.post_processor = TemplateProcessing(single=["$A"], pair=["$A", "$B:1"])
    elif wanted and not does and text is not None:
        backend.post_processor = TemplateProcessing(
            single=[text, "$A"], pair=[text, "$A", "$B:1"], special_tokens=[(text, bos)]
        )


def _optional(path: Path) -> dict:
    return read_json(path, 64 * MIB) if path.exists() or path.is_symlink() else {}


def _token_id(backend, token) -> int | None:
    token = token.get("content") if isinstance(token, dict) else token
    return backend.token_to_id(token) if isinstance(token, str) else None


def _template(folder: Path, settings: dict) -> str | None:
    if (folder / "chat_template.jinja").exists():
        return read_text(folder / "chat_template.jinja", MIB)
    template = settings.get("chat_template")
    if isinstance(template, list):  # several, with names
        named = {t.get("name"): t.get("template") for t in template if isinstance(t, dict)}
        template = named.get("default")
    return template if isinstance(template, str) else None


def _guard(what: str, function, *args, **kwargs):
    """Call into `tokenizers`; its panics are BaseExceptions that nothing else would catch."""
    try:
        return function(*args, **kwargs)
    except BaseException as error:
        if type(error).__name__ == "PanicException" or isinstance(error, Exception):
            raise ValueError(f"tokenizers cannot {what} this: {error}") from None
        raise
