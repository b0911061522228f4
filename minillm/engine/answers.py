"""What the requests that have not ended have written so far: text, times. Then one Completion."""

from __future__ import annotations

from minillm.engine.metrics import Completion, RequestMetrics
from minillm.engine.request import Request
from minillm.tokenizer import StreamDecoder


class Answers:
    """One entry a request, from `begin` to `forget`."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.times: dict[int, RequestMetrics] = {}
        self.texts: dict[int, list[str]] = {}  # pieces, one a token
        self.decoders: dict[int, StreamDecoder] = {}

    def begin(self, request: Request) -> None:
        """Make room for a request that was added."""
        self.times[request.id] = RequestMetrics(request.arrival)
        self.texts[request.id] = []
        if self.tokenizer is not None:
            self.decoders[request.id] = StreamDecoder(self.tokenizer, request.params.stop)

    def write(self, request: Request, token: int, now: float, end: bool) -> bool:
        """A token was written at `now` -> whether the text now holds a stop string.

        end: it is an end-of-text token, which has no text.
        """
        self.times[request.id].token_times.append(now)
        decoder = self.decoders.get(request.id)
        if decoder is None or end:
            return False
        self.texts[request.id].append(decoder.push(token))
        return decoder.stopped

    def complete(self, request: Request, now: float, logprobs, prompt_logprobs) -> Completion:
        """The whole answer of a request that has ended."""
        times, decoder = self.times[request.id], self.decoders.get(request.id)
        times.finished, times.preemptions = now, request.preemptions
        if decoder is not None and not decoder.stopped:
            self.texts[request.id].append(decoder.finish())
        text = "".join(self.texts[request.id])
        reason = request.finish_reason
        return Completion(text, request.output, reason, times, logprobs, prompt_logprobs)

    def take_back(self, request: Request) -> None:
        """Keep text and times of the tokens the request has, and of no others."""
        times, written = self.times[request.id], request.output
        del times.token_times[len(written) :]
        times.finished = None
        if self.tokenizer is not None:
            decoder = StreamDecoder(self.tokenizer, request.params.stop)
            self.texts[request.id][:] = [decoder.push(token) for token in written]
            self.decoders[request.id] = decoder

    def forget(self, request_id: int) -> None:
        """Drop what is kept of a request."""
        for kept in (self.times, self.texts, self.decoders):
            kept.pop(request_id, None)
