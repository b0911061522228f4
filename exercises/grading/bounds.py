"""Watches every address that an interpreted Triton kernel touches.

A load or store outside of a tensor is not done but noted: on a GPU it would read another tensor,
break it, or end the program. So is an element that two programs of one launch write.
"""

from __future__ import annotations

import sys

GUARD = 256  # elements before and after a tensor
ROWS = "These elements belong to no row: how far is it from one row to the next?"
APART = 1 << 24  # bytes from one tensor to the next: what runs over one never comes to another
MASK = (
    "Offsets of the last program reach over the end: give tl.load and tl.store a mask, offs < size"
)
MASKED = "There is a mask, and it lets them through: is its end the right one?"
STRIDE = " And the row stride: how many elements lie from one row to the next?"


class Region:
    """Where a tensor lies, and what was done to it. Without a guard: a tensor as it is."""

    def __init__(self, name: str, tensor, start: int, guard: int = 0):
        import numpy as np

        shape, strides = tuple(tensor.shape), tuple(tensor.stride())
        self.name, self.item, self.first = name, tensor.element_size(), guard
        self.size = sum((n - 1) * s for n, s in zip(shape, strides) if n) + 1
        self.start = start
        self.end = start + (self.size + 2 * guard) * self.item
        self.ours = np.zeros(self.size + 2 * guard, dtype=bool)  # elements of the tensor itself
        np.lib.stride_tricks.as_strided(self.ours[guard:], shape, strides)[...] = True
        self.writer = np.full(len(self.ours), -1, dtype=np.int64)  # the program that wrote it last

    def places(self, addresses):
        """(which addresses lie here: bool for each, their element numbers: one for each True)."""
        here = (addresses >= self.start) & (addresses < self.end)
        return here, (addresses[here] - self.start).astype("int64") // self.item


class Guarded(Region):
    """A copy of a tensor with guard zones around it, at a place of its own in `arena`.

    arena: uint8, for all tensors of a call. Where the system's allocator puts tensors differs from
    run to run; so would the name of the tensor that a far address is nearest to.
    """

    def __init__(self, name: str, tensor, arena, place: int):
        span = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()) if n) + 1
        room = arena[place : place + (span + 2 * GUARD) * tensor.element_size()]
        self.room = room.view(tensor.dtype)
        self.room.fill_(unlikely(tensor.dtype))
        begin = self.room.storage_offset() + GUARD
        self.view = self.room.as_strided(tensor.shape, tensor.stride(), begin)
        self.view.copy_(tensor)
        super().__init__(name, tensor, self.room.data_ptr(), GUARD)


def guarded(tensors: dict) -> dict[str, Guarded]:
    """Copies of all tensors, far from each other. Pages that nobody touches take no memory."""
    import torch

    size = lambda t: (t.untyped_storage().nbytes() + 2 * GUARD * t.element_size()) // 64 * 64 + 64
    total = APART + sum(size(t) + APART for t in tensors.values())
    arena, place, found = torch.empty(total, dtype=torch.uint8), APART, {}
    for name, tensor in tensors.items():
        found[name] = Guarded(name, tensor, arena, place)
        place += size(tensor) + APART
    return found


def unlikely(dtype):
    """What stands in guard zones: NaN, or a number far from any index."""
    import torch

    return float("nan") if dtype.is_floating_point else torch.iinfo(dtype).max // 3


class Bounds:
    """With this entered, loads and stores of interpreted kernels are looked at."""

    def __init__(self, regions: list[Region]):
        self.regions = regions
        self.launches, self.programs = 0, 0
        self.marks: dict[str, str] = {}  # fault -> how to say it; the first of each kind
        self.module = sys.modules.get("triton.runtime.interpreter")

    def __enter__(self) -> Bounds:
        self.kept = []
        if self.module is None:  # a plain twin: nothing to look at
            return self
        builder, executor = self.module.InterpreterBuilder, self.module.GridExecutor
        for owner, name, make in (
            (executor, "__call__", self._launch),
            # copies to the CPU and back: everything is there
            (executor, "_init_args_hst", lambda _: lambda _executor, args, named: (args, named)),
            (executor, "_restore_args_dev", lambda _: lambda *_args: None),
            (builder, "set_grid_dim", self._grid),
            (builder, "create_masked_load", self._load),
            (builder, "create_masked_store", self._store),
            (builder, "create_atomic_rmw", self._atomic),
        ):
            original = getattr(owner, name)
            self.kept.append((owner, name, original))
            setattr(owner, name, make(original))
        return self

    def __exit__(self, *error) -> None:
        for owner, name, original in self.kept:
            setattr(owner, name, original)

    def _launch(self, original):
        def launch(executor, *args, **named):
            for tensor in (*args, *named.values()):
                self._known(tensor)
            return original(executor, *args, **named)

        return launch

    def _known(self, tensor) -> None:
        """Scratch room of the learner's own counts as a tensor like the others."""
        if hasattr(tensor, "data_ptr") and hasattr(tensor, "stride"):
            at = tensor.data_ptr()
            if not any(r.start <= at <= r.end for r in self.regions):
                self.regions.append(Region("your own tensor", tensor, at))

    def _grid(self, original):
        def set_grid_dim(builder, x, y, z):
            self.launches += 1
            self.programs = max(self.programs, x * y * z)
            return original(builder, x, y, z)

        return set_grid_dim

    def _load(self, original):
        def load(builder, ptrs, mask, other, *rest):
            fine = self._look(builder, ptrs, mask, "reads")
            found = original(builder, ptrs, self._only(mask, fine), other, *rest)
            bad = wanted_lanes(mask) & ~fine
            if other is None:  # on a GPU nobody knows what such a lane reads; here it is 0
                bad = bad | ~wanted_lanes(mask)
            if bad.any():
                kind = found.data.dtype
                filler = "nan" if kind.kind == "f" else _big(kind)
                found.data = found.data.copy()
                found.data[bad] = filler
            return found

        return load

    def _store(self, original):
        def store(builder, ptrs, value, mask, *rest):
            fine = self._look(builder, ptrs, mask, "writes")
            return original(builder, ptrs, value, self._only(mask, fine), *rest)

        return store

    def _atomic(self, original):
        def atomic(builder, operation, ptrs, value, mask, *rest):
            fine = self._look(builder, ptrs, mask, "writes", shared=True)
            return original(builder, operation, ptrs, value, self._only(mask, fine), *rest)

        return atomic

    def _only(self, mask, fine):
        lanes = wanted_lanes(mask) & fine
        return self.module.TensorHandle(lanes, self.module.tl.int1)

    def _look(self, builder, ptrs, mask, what: str, shared: bool = False):
        """Which of these pointers may be used -> bool array; the others are noted."""
        import numpy as np

        fine = np.zeros(ptrs.data.shape, dtype=bool)
        wanted = np.broadcast_to(wanted_lanes(mask), ptrs.data.shape)
        addresses = ptrs.data[wanted]
        good = np.zeros(addresses.shape, dtype=bool)
        program = self._program(builder)
        for region in self.regions:
            here, places = region.places(addresses)
            good[here] = region.ours[places]
            if what == "writes":
                self._wrote(region, places[region.ours[places]], program, shared)
        if not good.all():
            self._outside(addresses[~good], what, builder, wanted)
        fine[wanted] = good
        return fine | ~wanted

    def _program(self, builder) -> int:
        (x, y, z), (_, ny, nz) = builder.grid_idx, builder.grid_dim
        return (self.launches << 40) + (x * ny + y) * nz + z

    def _wrote(self, region: Region, places, program: int, shared: bool) -> None:
        before = region.writer[places]
        clash = (before >= 0) & (before != program) & (before >> 40 == program >> 40)
        if clash.any() and not shared:
            self.marks.setdefault(
                f"two programs write {region.name}",
                f"two programs write the same element of {region.name}. On a GPU they run at the "
                "same time: which one is last is chance",
            )
        region.writer[places] = program

    def _outside(self, addresses, what: str, builder, wanted) -> None:
        inside = lambda r: (r.start + r.first * r.item, r.end - r.first * r.item)
        far = lambda r: min(abs(int(addresses[0]) - side) for side in inside(r))
        between = lambda r: inside(r)[0] <= int(addresses[0]) < inside(r)[1]
        region = min(self.regions, key=lambda r: (not between(r), far(r)))
        place = (int(addresses[0]) - region.start) // region.item - region.first
        where = "behind" if place >= region.size else "before" if place < 0 else "between rows of"
        legal = f"0 to {region.size - 1}" if region.size > 1 else "only 0"
        axes = 3 if builder.grid_dim[2] > 1 else 2 if builder.grid_dim[1] > 1 else 1
        at = ", ".join(str(i) for i in builder.grid_idx[:axes])
        many = f"{len(addresses)} element{'s' * (len(addresses) > 1)}"
        self.marks.setdefault(
            f"{what} outside {region.name}",
            f"program ({at}) {what} {many} {where} {region.name}: the first at index {place}, "
            f"where {region.name} has {legal}. {_advice(where, wanted)}",
        )


def _advice(where: str, wanted) -> str:
    """What to look at. wanted: bool for each lane. No mask at all looks like one of True only."""
    if where.startswith("between"):
        return ROWS
    if wanted.all():
        return MASK
    return MASKED + (STRIDE if wanted.ndim > 1 else "")


def wanted_lanes(mask):
    """A mask's bool array; a block pointer's is one already."""
    import numpy as np

    return mask if isinstance(mask, np.ndarray) else mask.data


def _big(kind):
    import numpy as np

    return np.iinfo(kind).max // 3 if kind.kind in "iu" else True
