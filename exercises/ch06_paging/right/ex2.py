"""Other right answers of 6.2."""


class queue_and_slices:
    def __init__(self, num_blocks, block_size):
        self.block_size, self.tables = block_size, {}
        self.free, self.refs = list(range(num_blocks)), [0] * num_blocks

    def fork(self, request, copy):
        self.tables[copy] = self.tables[request][:]
        self.refs = [n + (b in self.tables[copy]) for b, n in enumerate(self.refs)]

    def write(self, request, position):
        place, inside = divmod(position, self.block_size)
        if not inside:
            self.tables[request] = [*self.tables.get(request, []), self._new()]
            return None
        block = self.tables[request][place]
        if self.refs[block] > 1:
            self.refs[block] -= 1
            self.tables[request][place] = self._new()
            return [block, self.tables[request][place]]

    def _new(self):
        block = self.free.pop(0)
        self.refs[block] += 1
        return block

    def release(self, request):
        for block in reversed(self.tables[request]):
            self.refs[block] -= 1
            self.free += [block] * (not self.refs[block])
        del self.tables[request]


class counted_anew:
    def __init__(self, num_blocks, block_size):
        self.block_size, self.count = block_size, num_blocks
        self.tables = {}

    @property
    def refs(self):
        held = [b for table in self.tables.values() for b in table]
        return [held.count(b) for b in range(self.count)]

    @property
    def free(self):
        return [b for b, n in enumerate(self.refs) if n == 0]

    def fork(self, request, copy):
        self.tables[copy] = list(self.tables[request])

    def write(self, request, position):
        table = self.tables.setdefault(request, [])
        place, free = position // self.block_size, self.free[0]
        if place == len(table):
            table.append(free)
        elif self.refs[table[place]] > 1:
            old, table[place] = table[place], free
            return old, free

    def release(self, request):
        self.tables.pop(request)
