"""Exercise 6.8: find the fault.

Users say: sometimes an answer goes on with the words of somebody else. It begins some time after a
request has ended, lost its place, or was taken back in part. No error, no crash.

`Server` hands out slots of the pool, block by block. Two requests must never get the same slot
while both need it. When all requests have ended, every block must be free, once. Find the fault and
mend it.

The calls: write(request, position) comes for position 0, 1, 2, ... and gives the slot of that
token. rewind(request, length): only the first `length` tokens are kept, the next write is for
position `length`. preempt(request): it loses all its blocks, and will write again from position 0.
finish(request) comes once, after its last token. abort(request) may come at any time: before the
first token, after the end, or twice.
"""


class Server:
    def __init__(self, num_blocks: int, block_size: int):
        self.block_size = block_size
        self.free = list(range(num_blocks))
        self.tables = {}  # request -> its block ids

    def write(self, request: str, position: int) -> int:
        table = self.tables.setdefault(request, [])
        if position == len(table) * self.block_size:
            table.append(self.free.pop())
        block = table[position // self.block_size]
        return block * self.block_size + position % self.block_size

    def rewind(self, request: str, length: int) -> None:
        table = self.tables[request]
        keep = -(-length // self.block_size)
        self.free.extend(table[keep:])
        del table[keep:]

    def preempt(self, request: str) -> None:
        self.free.extend(self.tables.pop(request))

    def finish(self, request: str) -> None:
        self.free.extend(self.tables[request])

    def abort(self, request: str) -> None:
        self.free.extend(self.tables.pop(request, []))
