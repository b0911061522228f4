"""In the child: refuses what an answer has no business with, and remembers that it tried.

Not a prison: it stops careless code and cheats, and says what they did. Whoever grades code of
strangers runs the whole grader in a container.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

PROCESS = {
    "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile",
    "subprocess.Popen", "pty.spawn", "_winapi.CreateProcess", "os.kill", "os.killpg",
}  # fmt: skip
CHANGES = {
    "os.remove": 1, "os.rmdir": 1, "os.mkdir": 1, "os.truncate": 1, "os.chmod": 1, "os.chown": 1,
    "os.utime": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2,
}  # fmt: skip  # how many of the event's arguments are paths
READS = {"os.listdir", "os.scandir"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
OURS = ("exercises", "minillm")
FLEX = "torch.nn.attention.flex_attention"


class Forbidden(RuntimeError):
    """What the answer tried, in words for the learner."""


@dataclass
class Tripwire:
    """Armed once, after the check is loaded and before the answer is."""

    answer: str  # the answer's file name, as in its frames
    folder: str  # where the answer may write
    protected: tuple[str, ...]  # folders that the answer may not read
    uses: tuple[str, ...]  # modules of minillm that the answer may import
    forbid: tuple[str, ...] = ()
    tried: list[str] = field(default_factory=list)
    hidden: dict = field(default_factory=dict)

    def __post_init__(self):
        self.folder = os.path.realpath(self.folder)
        self.answer_real = os.path.realpath(self.answer)
        self.protected = tuple(os.path.realpath(p) for p in self.protected)
        full = [u if u.startswith("minillm") else f"minillm.{u}" for u in self.uses]
        parts = [name.split(".") for name in full]
        self.allowed = {".".join(p[:n]) for p in parts for n in range(1, len(p) + 1)}
        self.used = full

    def arm(self) -> None:
        for name in self.used:  # loaded now, by us: the answer finds them in sys.modules
            importlib.import_module(name)
        self._hide()
        sys.meta_path.insert(0, self)
        original = builtins.__import__

        def guarded(name, globals=None, locals=None, fromlist=(), level=0):
            if level == 0 and name.split(".")[0] in OURS:
                self._check_import(name)
            return original(name, globals, locals, fromlist, level)

        builtins.__import__ = guarded
        tempfile.tempdir = self.folder
        self._no_hidden_fork()
        sys.addaudithook(self._hook)

    def refuse(self, what: str):
        """Remember, and raise: an answer that catches the exception is found all the same."""
        self.tried.append(what)
        raise Forbidden(what)

    # ---- imports

    def _mine(self, name: str) -> bool:
        if name.startswith(("_exercise_", "exercises.")) or name == "exercises":
            return True
        if name.startswith(FLEX):
            return "sdpa" in self.forbid
        return name.split(".")[0] in OURS and name not in self.allowed

    def _hide(self) -> None:
        """Take out of sys.modules what the answer may not have; we still find it (find_spec)."""
        self.hidden = {n: m for n, m in sys.modules.items() if self._mine(n) and m is not None}
        for name in self.hidden:
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(child, None)
        package = sys.modules.get("minillm")
        for name in getattr(package, "_HOME", ()):  # fetched again when we ask
            vars(package).pop(name, None)

    def _check_import(self, name: str) -> None:
        if self._mine(name) and self._from_answer():
            if name.startswith(FLEX):
                self.refuse("it imported flex_attention: here you write attention yourself")
            can = f" (only {', '.join(self.used)})" if self.used else ""
            self.refuse(f"it imported {name}: an answer is written without it{can}")

    def find_spec(self, name, path=None, target=None):
        self._check_import(name)
        if name not in self.hidden:
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        module = self.hidden[spec.name]
        self._spec = module.__spec__
        return module

    def exec_module(self, module) -> None:
        module.__spec__ = self._spec

    # ---- audit events

    def _hook(self, event: str, args) -> None:
        if event == "open":
            self._opened(*args)
        elif event in PROCESS:
            if self._from_answer():
                self.refuse(f"it called {event}: an answer may not start or end processes")
        elif event in CHANGES:
            for path in args[: CHANGES[event]]:
                self._changed(event, path)
        elif event in READS:
            self._read(args[0] if args else ".")
        elif event.startswith("socket."):
            if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.__new__"):
                if self._from_answer():
                    self.refuse("it used the network")
        elif event.startswith("ctypes."):
            if self._from_answer(libraries=True):
                self.refuse("it used ctypes: an answer is written in Python")

    def _opened(self, path, mode, flags) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        if (flags or 0) & WRITING or (mode and set(mode) & set("wax+")):
            self._changed("open for writing", path)
        self._read(path)

    def _changed(self, event: str, path) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)) or os.fsdecode(path) == os.devnull:
            return
        real = os.path.realpath(os.fsdecode(path))
        if not _inside(real, (self.folder,)) and self._from_answer():
            self.refuse(f"it changes files ({event}: {os.fsdecode(path)})")

    def _read(self, path) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        real = os.path.realpath(os.fsdecode(path))
        if real == self.answer_real or not _inside(real, self.protected):
            return
        if self._from_answer():
            self.refuse(f"it opened {os.fsdecode(path)}: an answer may not read the course's files")

    def _from_answer(self, libraries: bool = False) -> bool:
        """Whether the nearest code that is the answer's or ours is the answer's.

        libraries: code of an installed library in between counts as not the answer's.
        """
        frame = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if file == self.answer:
                return True
            if libraries and "site-packages" in file:
                return False
            if _inside(file, self.protected) and file != __file__:
                # minillm's lazy names import for whoever asks
                if frame.f_code.co_name != "__getattr__":
                    return False
            frame = frame.f_back
        return True  # nobody we know: a thread of the answer's

    def _no_hidden_fork(self) -> None:
        """multiprocessing starts processes by a function that no audit event reports."""
        try:
            import _posixsubprocess
        except ImportError:  # Windows reports it
            return

        def fork_exec(*args):
            self.refuse("it started a process: an answer may not start or end processes")

        _posixsubprocess.fork_exec = fork_exec


def _inside(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == f or path.startswith(f + os.sep) for f in folders)


def protected_folders(root: Path) -> tuple[str, ...]:
    """Where answers of ours lie: the exercises, the grader, the engine and its kernels."""
    import importlib.util

    here = Path(__file__).resolve().parents[1]
    found = importlib.util.find_spec("minillm")
    engine = Path(found.origin).resolve().parent if found and found.origin else here
    return tuple(str(p) for p in (root, here, engine, engine.parent / "kernels"))
