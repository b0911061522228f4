"""Other right answers of 6.1."""

from collections import deque


class oldest_first:
    def __init__(self, num_blocks):
        self.queue, self.in_use = deque(range(num_blocks)), [False] * num_blocks

    def num_free(self):
        return len(self.queue)

    def allocate(self, count):
        if count > len(self.queue):
            return None
        found = [self.queue.popleft() for _ in range(count)]
        for block in found:
            self.in_use[block] = True
        return found

    def release(self, blocks):
        for place, block in enumerate(blocks):
            known = 0 <= block < len(self.in_use)
            if not known or not self.in_use[block] or block in blocks[:place]:
                raise ValueError(f"block {block}")
        for block in blocks:
            self.in_use[block] = False
            self.queue.append(block)


class lowest_first:
    def __init__(self, num_blocks):
        self.free = set(range(num_blocks))
        self.all = frozenset(self.free)

    def num_free(self):
        return len(self.free)

    def allocate(self, count):
        chosen = sorted(self.free)[:count]
        if len(chosen) < count:
            return None
        self.free -= set(chosen)
        return chosen

    def release(self, blocks):
        back = set(blocks)
        if len(back) != len(blocks) or back & self.free or not back <= self.all:
            raise ValueError("not in use")
        self.free |= back
