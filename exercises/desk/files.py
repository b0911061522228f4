"""Writing small files so that none is ever half written, and one lock for two processes."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from minillm.files import new_file

LARGEST = 1 << 20  # bytes of an answer that we read: a text of a few lines


def write(path: Path, data: bytes) -> None:
    """Replace a file at once: a reader, or a kill, sees the old text or the new, nothing else.

    OSError (a full disk, no permission) leaves the old file as it was.
    """
    with new_file(Path(os.path.realpath(path))) as file:  # through a link, not over it
        file.write(data)


def check_place(path: Path) -> None:
    """ValueError, before any work, where no file can be put: no folder is made silently."""
    path = Path(path).absolute()
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}; make it first")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file, so it is not replaced")


def read(path: Path, limit: int = LARGEST) -> bytes | None:
    """The bytes of a regular file; None if there is none, or it is longer than `limit`."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if not path.is_file():  # never wait on a pipe or a device
            return None
        with os.fdopen(os.open(path, flags), "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= limit else None


@contextlib.contextmanager
def lock(path: Path, wait_s: float = 20.0):
    """Hold the lock of this file; the system frees it when the process ends, however it ends.

    Where a file system has no locks (some network drives) there is no protection, and no error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        held, end = _try_lock(file), time.monotonic() + wait_s
        while held is False and time.monotonic() < end:
            time.sleep(0.02)
            held = _try_lock(file)
        if held is False:
            raise OSError(f"{path} is held by another process; try again in a moment")
        yield  # closing the file gives the lock back


def _try_lock(file) -> bool | None:
    """True: held now. False: another process has it. None: there are no locks here."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (OSError, ImportError):
        return None
    return True
