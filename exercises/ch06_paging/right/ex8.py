"""Other right mends of 6.8."""


class one_way_out:
    def __init__(self, num_blocks, block_size):
        self.size, self.free, self.tables = block_size, list(range(num_blocks)), {}

    def write(self, request, position):
        table, (place, inside) = self.tables.setdefault(request, []), divmod(position, self.size)
        if place == len(table):
            table.append(self.free.pop(0))
        return table[place] * self.size + inside

    def rewind(self, request, length):
        table = self.tables.get(request, [])
        while (len(table) - 1) * self.size >= length and table:
            self.free.append(table.pop())

    def abort(self, request):
        self.rewind(request, 0)

    preempt = finish = abort


class remembers_the_ended:
    def __init__(self, num_blocks, block_size):
        self.size, self.free = block_size, set(range(num_blocks))
        self.tables, self.ended = {}, set()

    def write(self, request, position):
        table = self.tables.setdefault(request, {})
        if position // self.size not in table:
            table[position // self.size] = self.free.pop()
        return table[position // self.size] * self.size + position % self.size

    def rewind(self, request, length):
        table = self.tables.get(request, {})
        for place in [p for p in table if p * self.size >= length]:
            self.free.add(table.pop(place))

    def preempt(self, request):
        self.rewind(request, 0)

    def finish(self, request):
        self.rewind(request, 0)
        self.ended.add(request)

    def abort(self, request):
        if request not in self.ended:
            self.finish(request)
