"""False mends of 7.7."""


class _Right:
    """Mended; each false mend changes one thing."""

    def __init__(self, num_blocks):
        self.free = list(range(num_blocks))
        self.holders = [0] * num_blocks
        self.block_of, self.name_of = {}, {}

    def find(self, name):
        block = self.block_of.get(name)
        if block is None:
            return None
        if self.holders[block] == 0:
            self.free.remove(block)
        self.holders[block] += 1
        return block

    def _forget(self, block):
        old = self.name_of.pop(block, None)
        if old is not None:
            self.block_of.pop(old)

    def allocate(self):
        block = self.free.pop(0)
        self._forget(block)
        self.holders[block] = 1
        return block

    def seal(self, block, name):
        if name not in self.block_of and block not in self.name_of:
            self.block_of[name], self.name_of[block] = block, name

    def release(self, block):
        self.holders[block] -= 1
        if self.holders[block] == 0:
            self.free.append(block)


class forgotten_at_release(_Right):
    """a name taken away as soon as the block is free: nothing is ever found again"""

    def release(self, block):
        super().release(block)
        if self.holders[block] == 0:
            self._forget(block)


class all_forgotten(_Right):
    """all names thrown away whenever a block is needed"""

    def allocate(self):
        self.block_of, self.name_of = {}, {}
        return super().allocate()


class forgotten_when_sealed_again(_Right):
    """the old name taken away only when the block gets a new one: until then it is found"""

    def allocate(self):
        block = self.free.pop(0)
        self.holders[block] = 1
        return block

    def seal(self, block, name):
        if name not in self.block_of:
            self._forget(block)
            self.block_of[name], self.name_of[block] = block, name


class newest_taken_first(_Right):
    """the block taken that was free for the shortest time: that is the one to be kept"""

    def allocate(self):
        self.free.insert(0, self.free.pop())
        return super().allocate()


class found_blocks_stay_free(_Right):
    """found blocks left in the free list: they are given away while somebody reads them"""

    def find(self, name):
        block = self.block_of.get(name)
        if block is not None:
            self.holders[block] += 1
        return block


class unnamed_ones_first(_Right):
    """blocks without a name taken first, and old names kept when there are none"""

    def allocate(self):
        plain = [block for block in self.free if block not in self.name_of]
        block = (plain or self.free)[0]
        self.free.remove(block)
        self.holders[block] = 1
        return block
