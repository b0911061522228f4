"""The streams of a child, read by the parent: its frames, and the last of what it printed."""

from __future__ import annotations

import struct
import threading

from exercises.grading import wire

GRACE_S = 3.0  # for the last bytes of a child that has ended


class Reader(threading.Thread):
    """Drains one stream of a child; `keep` bytes of its end stay (None: all, up to `limit`)."""

    def __init__(self, stream, limit: int, keep: int | None = None):
        super().__init__(daemon=True)
        self.stream, self.limit, self.keep = stream, limit, keep
        self.bytes, self.total = bytearray(), 0
        self.start()

    def run(self) -> None:
        try:
            while part := self.stream.read(2**20):
                self.total += len(part)
                if self.keep is not None:
                    self.bytes = (self.bytes + part)[-self.keep :]
                elif self.total <= self.limit:
                    self.bytes += part
        except (OSError, ValueError):
            pass

    @property
    def full(self) -> bool:
        return self.total > self.limit

    def finish(self) -> bytes:
        self.join(GRACE_S)
        if not self.is_alive():
            self.stream.close()
        return bytes(self.bytes)


def parse(raw: bytes, nonce: bytes) -> tuple[list[tuple[str, object]], bool]:
    """(frames, whether there was anything else) of a result stream."""
    frames, at, noise = [], 0, False
    head = len(nonce) + 9
    while at < len(raw):
        if len(raw) - at < head or raw[at : at + len(nonce)] != nonce:
            return frames, True
        kind = chr(raw[at + len(nonce)])
        (size,) = struct.unpack_from("<Q", raw, at + len(nonce) + 1)
        if size > len(raw) - at - head:  # it was ended while it wrote
            return frames, noise
        try:
            frames.append((kind, wire.decode(raw[at + head : at + head + size])))
        except wire.WireError:
            return frames, True
        at += head + size
    return frames, noise
