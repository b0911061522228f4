"""Other right mends of 7.7."""


class _Base:
    def __init__(self, num_blocks):
        self.free = list(range(num_blocks))
        self.holders = [0] * num_blocks
        self.block_of, self.name_of = {}, {}

    def _hold(self, block):
        if self.holders[block] == 0:
            self.free.remove(block)
        self.holders[block] += 1
        return block

    def release(self, block):
        self.holders[block] -= 1
        if self.holders[block] == 0:
            self.free.append(block)


class a_name_is_checked(_Base):
    """The old name stays in block_of, but counts only if the block still has it."""

    def find(self, name):
        block = self.block_of.get(name)
        if block is None or self.name_of.get(block) != name:
            return None
        return self._hold(block)

    def allocate(self):
        block = self.free[0]
        self.name_of.pop(block, None)
        return self._hold(block)

    def seal(self, block, name):
        known = self.block_of.get(name)
        there = known is not None and self.name_of.get(known) == name
        if not there and block not in self.name_of:
            self.block_of[name], self.name_of[block] = block, name


class names_looked_up_backwards(_Base):
    """One table is enough, and one table cannot disagree with another."""

    def find(self, name):
        found = [block for block, own in self.name_of.items() if own == name]
        return self._hold(found[0]) if found else None

    def allocate(self):
        block = self.free[0]
        self.name_of = {b: name for b, name in self.name_of.items() if b != block}
        return self._hold(block)

    def seal(self, block, name):
        if name not in self.name_of.values():
            self.name_of.setdefault(block, name)
