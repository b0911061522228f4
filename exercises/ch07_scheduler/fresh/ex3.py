"""Exercise 7.3: the pool is full. Who gives way?

Request `who` needs `need` blocks for its next token, `free` are free. If that is not enough, others
are **preempted**: they give their blocks back, wait, and compute everything again later.

- The victim is the one that was admitted LAST: the oldest request always gets on, so somebody
  always finishes. It may be `who` itself; then it cannot run now, and nobody else gives way.
- Go on as long as it is not enough, and no longer.
- A block may stand in several tables (a shared prefix). It is free only when the last holder has
  given it back.

`tables` holds the block table of every running request, in the order of admission.
Call the list `victims`, and those that still run `left` (for `trace`).
"""


def make_room(who: str, need: int, tables: dict[str, list[int]], free: int) -> list[str]:
    """The victims, in the order in which they give way. Empty if there is room already."""
    raise NotImplementedError("Exercise 7.3: the last admitted gives way, until there is room")
