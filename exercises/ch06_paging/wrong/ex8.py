"""False mends of 6.8."""


class _Server:
    def __init__(self, num_blocks, block_size):
        self.block_size = block_size
        self.free = list(range(num_blocks))
        self.tables = {}

    def write(self, request, position):
        table = self.tables.setdefault(request, [])
        if position == len(table) * self.block_size:
            table.append(self.free.pop())
        block = table[position // self.block_size]
        return block * self.block_size + position % self.block_size

    def rewind(self, request, length):
        table = self.tables[request]
        keep = -(-length // self.block_size)
        self.give_back(table[keep:])
        del table[keep:]

    def preempt(self, request):
        self.give_back(self.tables.pop(request))

    def finish(self, request):
        self.give_back(self.tables[request])

    def abort(self, request):
        self.give_back(self.tables.pop(request, []))

    def give_back(self, blocks):
        self.free.extend(blocks)


class only_what_is_not_free(_Server):
    """a second free is skipped while the block is free; given to somebody else, it is freed"""

    def give_back(self, blocks):
        self.free += [block for block in blocks if block not in self.free]


class no_doubles_in_the_list(_Server):
    """a free list without doubles: a block that somebody else holds now still gets into it"""

    def give_back(self, blocks):
        self.free = sorted({*self.free, *blocks})


class oldest_first(_Server):
    """the free list used from its other end: the same block is given twice, only later"""

    def write(self, request, position):
        table = self.tables.setdefault(request, [])
        if position == len(table) * self.block_size:
            table.append(self.free.pop(0))
        return super().write(request, position)


class finish_frees_nothing(_Server):
    """finish frees nothing and leaves it to abort, which does not always come"""

    def finish(self, request):
        pass


class abort_frees_nothing(_Server):
    """abort frees nothing: the blocks of a request that did not end by itself are lost"""

    def abort(self, request):
        pass


class forgets_before_freeing(_Server):
    """finish forgets the table without freeing its blocks"""

    def finish(self, request):
        del self.tables[request]


class rewind_always_drops(_Server):
    """finish is mended, but a rewind to the length that is there already drops the last block"""

    def finish(self, request):
        self.give_back(self.tables.pop(request))

    def rewind(self, request, length):
        table = self.tables[request]
        keep = min(-(-length // self.block_size), len(table) - 1)
        self.give_back(table[keep:])
        del table[keep:]
