"""Reading other people's files within limits, and writing ours so that no half file remains."""

from __future__ import annotations

import contextlib
import errno
import glob
import json
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

MIB = 1 << 20
PICKLES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"}
# First bytes of what torch.save writes: a zip archive (new), a pickle of protocol 2 to 5 (old).
PICKLE_MAGIC = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


class LoadError(ValueError):
    """A model that cannot be loaded; the message names the file, the fault and what to do."""


class SaveError(ValueError):
    """A model that cannot be saved there; the folder is as it was before."""


def open_file(path: Path):
    """Open a regular file for reading -> binary file object. Never waits on a pipe or a device."""
    path = Path(path)
    if path.suffix.lower() in PICKLES:
        refuse_pickle(path)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise LoadError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:  # no permission, loop of links, a NUL in the name
        raise LoadError(f"{path} cannot be opened: {_reason(error)}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise LoadError(f"{path} is not a regular file")
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, limit: int = 16 * MIB) -> bytes:
    """The whole file, refused if it is longer than `limit` bytes."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise LoadError(f"{path} has {size} bytes; {limit} is the most we read of such a file")
        return file.read(limit)


def read_text(path: Path, limit: int = 16 * MIB) -> str:
    """The whole file as UTF-8 text."""
    try:
        return read_bytes(path, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise LoadError(f"{path} is not UTF-8 text: {error}") from None


def read_json(path: Path, limit: int = 16 * MIB) -> dict:
    """A JSON object. NaN and Infinity are no JSON and refused; so is nesting without end."""
    return parse_json(read_text(path, limit), path)


def parse_json(text: str, path: Path) -> dict:
    """Text of `path` -> dict, or a LoadError that names the file."""

    def no_constant(name):
        raise ValueError(f"{name} is no JSON number")

    try:
        value = json.loads(text, parse_constant=no_constant)
    except RecursionError:
        raise LoadError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise LoadError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise LoadError(f"{path} must hold a JSON object, got {type(value).__name__}")
    return value


def refuse_pickle(path: Path) -> None:
    """Raise: a pickle can run any program while it is read."""
    raise LoadError(
        f"{path} is a pickle (a PyTorch .bin/.pt file), which can run any program when it is "
        "opened: never loaded. Use a *.safetensors file of the same model, or convert this one "
        "with its own tool on a machine you do not mind losing"
    )


@contextlib.contextmanager
def new_folder(folder: Path):
    """Give a temporary folder beside `folder`; on success it takes that name, else it is removed.

    An old folder of that name is swapped out only after the new one is complete.
    """
    folder = Path(folder).absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        _take_name(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def new_file(path: Path):
    """Give a temporary file object beside `path`; on success it takes that name, else it goes.

    It keeps the old file's permissions. On the disk before it takes the name: whatever happens,
    there is the old text or the new.
    """
    path = Path(path).absolute()
    if path.exists() and not path.is_file():  # root could replace even /dev/null
        raise OSError(errno.EINVAL, "not a regular file, so it is not replaced", str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:  # it names the temporary file, which nobody asked for
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _take_name(temporary: Path, folder: Path) -> None:
    if not folder.exists():
        with contextlib.suppress(OSError):  # another process may have been faster: swap then
            os.rename(temporary, folder)
            return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".old", dir=folder.parent))
    os.rename(folder, old / "was")
    try:
        os.rename(temporary, folder)
    except BaseException:
        os.rename(old / "was", folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _sweep(target: Path) -> None:
    """Remove what processes that were killed left half-written for `target`: up to a gigabyte.

    A file that is still being written is never an hour old.
    """
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with contextlib.suppress(OSError):
            inside = part.iterdir() if part.is_dir() else ()
            if time.time() - max(p.stat().st_mtime for p in (part, *inside)) < 3600:
                continue
            shutil.rmtree(part) if part.is_dir() else part.unlink()


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


def in_words(error: OSError) -> str:
    """The file and what is wrong with it, without Python's [Errno 30]."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
