"""Reference of 6.8: whoever frees a table also forgets it."""


class Server:
    def __init__(self, num_blocks, block_size):
        self.block_size = block_size
        self.free = list(range(num_blocks))
        self.tables = {}  # request -> its block ids

    def write(self, request, position):
        table = self.tables.setdefault(request, [])
        if position == len(table) * self.block_size:
            table.append(self.free.pop())
        block = table[position // self.block_size]
        return block * self.block_size + position % self.block_size

    def rewind(self, request, length):
        table = self.tables[request]
        keep = -(-length // self.block_size)
        self.free.extend(table[keep:])
        del table[keep:]

    def preempt(self, request):
        self.free.extend(self.tables.pop(request))

    def finish(self, request):
        self.free.extend(self.tables.pop(request))

    def abort(self, request):
        self.free.extend(self.tables.pop(request, []))
