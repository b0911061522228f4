"""Reference of 6.2."""


class SharedBlocks:
    def __init__(self, num_blocks, block_size):
        self.block_size = block_size
        self.free = list(range(num_blocks))
        self.refs = [0] * num_blocks
        self.tables = {}

    def _take(self):
        block = self.free.pop()
        self.refs[block] = 1
        return block

    def fork(self, request, copy):
        self.tables[copy] = list(self.tables[request])
        for block in self.tables[copy]:
            self.refs[block] += 1

    def write(self, request, position):
        table, place = self.tables.setdefault(request, []), position // self.block_size
        if place == len(table):
            table.append(self._take())
            return None
        old = table[place]
        if self.refs[old] == 1:
            return None
        table[place] = self._take()
        self.refs[old] -= 1
        return old, table[place]

    def release(self, request):
        for block in self.tables.pop(request):
            self.refs[block] -= 1
            if self.refs[block] == 0:
                self.free.append(block)
