"""Named wrong answers of 6.2."""


class _Blocks:
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
        return self._own(table, place)

    def _own(self, table, place):
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


class one_table_for_both(_Blocks):
    """a fork where both names are the same list: take a copy of it, list(self.tables[request])"""

    def fork(self, request, copy):
        self.tables[copy] = self.tables[request]
        for block in self.tables[copy]:
            self.refs[block] += 1


class fork_not_counted(_Blocks):
    """a fork that does not raise the reference counts"""

    def fork(self, request, copy):
        self.tables[copy] = list(self.tables[request])


class writes_into_shared(_Blocks):
    """writing into a shared block (no copy): the other request reads a foreign token"""

    def _own(self, table, place):
        return None


class old_still_counted(_Blocks):
    """a copy after which the old block still counts the one that left"""

    def _own(self, table, place):
        old = table[place]
        if self.refs[old] == 1:
            return None
        table[place] = self._take()
        return old, table[place]


class frees_what_others_hold(_Blocks):
    """a release that puts every block into the free list, also those that others hold"""

    def release(self, request):
        for block in self.tables.pop(request):
            self.refs[block] -= 1
            self.free.append(block)


class never_frees_shared(_Blocks):
    """a release that frees only blocks that were never shared: the last user frees nothing"""

    def __init__(self, num_blocks, block_size):
        super().__init__(num_blocks, block_size)
        self.once_shared = set()

    def fork(self, request, copy):
        super().fork(request, copy)
        self.once_shared.update(self.tables[copy])

    def release(self, request):
        for block in self.tables.pop(request):
            self.refs[block] -= 1
            if self.refs[block] == 0 and block not in self.once_shared:
                self.free.append(block)


class copies_everything(_Blocks):
    """a fork that takes new blocks at once: nothing is shared"""

    def fork(self, request, copy):
        self.tables[copy] = [self._take() for _ in self.tables[request]]


class copies_its_own(_Blocks):
    """a copy at every write in the middle of a block, also where nobody else needs it"""

    def _own(self, table, place):
        old = table[place]
        table[place] = self._take()
        self.refs[old] -= 1
        if self.refs[old] == 0:
            self.free.insert(0, old)
        return old, table[place]
