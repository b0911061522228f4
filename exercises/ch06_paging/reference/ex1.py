"""Reference of 6.1."""


class BlockPool:
    def __init__(self, num_blocks):
        self.free, self.used = list(range(num_blocks)), set()

    def num_free(self):
        return len(self.free)

    def allocate(self, count):
        if count > len(self.free):
            return None
        blocks = [self.free.pop() for _ in range(count)]
        self.used.update(blocks)
        return blocks

    def release(self, blocks):
        if len(set(blocks)) < len(blocks) or not self.used.issuperset(blocks):
            raise ValueError(f"not all of {blocks} are in use")
        self.used.difference_update(blocks)
        self.free.extend(blocks)
