"""Named wrong answers of 6.1."""


class _Pool:
    def __init__(self, num_blocks):
        self.free, self.used = list(range(num_blocks)), set()

    def num_free(self):
        return len(self.free)

    def _take(self, count):
        blocks = [self.free.pop() for _ in range(count)]
        self.used.update(blocks)
        return blocks

    def allocate(self, count):
        return self._take(count) if count <= len(self.free) else None

    def release(self, blocks):
        if len(set(blocks)) < len(blocks) or not self.used.issuperset(blocks):
            raise ValueError
        self.used.difference_update(blocks)
        self.free.extend(blocks)


class gives_what_is_left(_Pool):
    """giving fewer blocks than were asked for when the pool is nearly empty"""

    def allocate(self, count):
        return self._take(min(count, len(self.free)))


class takes_before_it_counts(_Pool):
    """None after taking what was there: the taken blocks are then in nobody's hands"""

    def allocate(self, count):
        blocks = []
        for _ in range(count):
            if not self.free:
                return None
            blocks += self._take(1)
        return blocks


class forgets_what_it_took(_Pool):
    """None after emptying the free list: those blocks are not free and in nobody's hands"""

    def allocate(self, count):
        blocks, self.free = self.free[:count], self.free[count:]
        if len(blocks) < count:
            return None
        self.used.update(blocks)
        return blocks


class frees_twice(_Pool):
    """taking back a block that is free already: it then lies in the free list twice"""

    def release(self, blocks):
        self.used.difference_update(blocks)
        self.free.extend(blocks)


class same_list_twice(_Pool):
    """accepting a list that names one block twice (a block is looked up before it is removed)"""

    def release(self, blocks):
        if not self.used.issuperset(blocks):
            raise ValueError
        self.used.difference_update(blocks)
        self.free.extend(blocks)


class half_released(_Pool):
    """taking back the blocks before the faulty one, and only then raising ValueError"""

    def release(self, blocks):
        for block in blocks:
            if block not in self.used:
                raise ValueError
            self.used.remove(block)
            self.free.append(block)


class forgets_who_has_them(_Pool):
    """counting only: the numbers are right, but blocks in use are handed out again"""

    def __init__(self, num_blocks):
        super().__init__(num_blocks)
        self.size, self.next = num_blocks, 0

    def allocate(self, count):
        if count > self.size - len(self.used):
            return None
        blocks = [(self.next + i) % self.size for i in range(count)]
        self.next += count
        self.used.update(blocks)
        return blocks

    def num_free(self):
        return self.size - len(self.used)


class never_again(_Pool):
    """never giving a block away a second time"""

    def release(self, blocks):
        if len(set(blocks)) < len(blocks) or not self.used.issuperset(blocks):
            raise ValueError
        self.used.difference_update(blocks)


class only_the_ends_differ(_Pool):
    """looking for a double block at the two ends of the list only"""

    def release(self, blocks):
        if (len(blocks) > 1 and blocks[0] == blocks[-1]) or not self.used.issuperset(blocks):
            raise ValueError
        self.used.difference_update(blocks)
        self.free.extend(blocks)


class takes_foreign_blocks(_Pool):
    """taking back a block that the pool never had: looked for in the free list only"""

    def release(self, blocks):
        if len(set(blocks)) < len(blocks) or any(block in self.free for block in blocks):
            raise ValueError
        self.used.difference_update(blocks)
        self.free.extend(blocks)


class nothing_is_none(_Pool):
    """None for allocate(0): no block is a list without blocks"""

    def allocate(self, count):
        return super().allocate(count) or None
