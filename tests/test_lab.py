"""`make lab`: its checks, and the real thing: a server that answers and kernels that work."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import websocket

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import lab  # noqa: E402


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_free_port_is_kept(taken, capsys):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    assert lab.choose_port(free) == free
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (8888, [])),
        (["--no-browser", "--port=9000"], (9000, ["--no-browser"])),
        (["--port", "9000", "--no-browser"], (9000, ["--no-browser"])),
        (["--ServerApp.port=9000", "--debug"], (9000, ["--debug"])),
    ],
)
def test_the_port_is_taken_out_of_the_arguments(arguments, expected):
    assert lab.take_port(arguments) == expected


def test_a_taken_port_is_named_with_its_substitute(taken, capsys):
    port = lab.choose_port(taken)
    assert port != taken and not lab.port_problem(port)
    said = capsys.readouterr().out
    assert f"port {taken} is taken" in said and f"using {port}" in said


def test_all_ports_taken_says_what_to_do(monkeypatch):
    monkeypatch.setattr(lab, "port_problem", lambda port: "taken")
    with pytest.raises(lab.LabError, match="--port=9000"):
        lab.choose_port(8888)


def test_impossible_ports_say_what_to_do(monkeypatch):
    for wrong in (["--port=70000"], ["--port=high"], ["--port=8²"], ["--port"]):
        with pytest.raises(lab.LabError, match="1024 to 65535"):
            lab.take_port(wrong)
    monkeypatch.setattr(lab, "port_problem", lambda port: "not allowed")
    with pytest.raises(lab.LabError, match="above 1023"):
        lab.choose_port(80)


def test_a_full_disk_says_what_to_do(monkeypatch, tmp_path):
    lab.check_disk([tmp_path])
    monkeypatch.setattr(lab.shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * 2**20))
    with pytest.raises(lab.LabError, match=r"is full: 3 MB free.*Make room"):
        lab.check_disk([tmp_path])


def test_a_disk_full_while_writing_says_the_same(monkeypatch, tmp_path):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lab.tempfile, "TemporaryFile", full)
    with pytest.raises(lab.LabError, match="is full"):
        lab.check_disk([tmp_path])


def test_missing_jupyter_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert lab.main([]) == 1
    assert "make setup" in capsys.readouterr().err


def test_root_is_allowed_and_flags_come_through(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    command = lab.command_line(9000, ["--no-browser"])
    assert "--allow-root" in command and "--no-browser" in command
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--allow-root" not in lab.command_line(9000, [])


class Server:
    """A running `make lab ARGS=...` and its REST interface."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.token = secrets.token_hex(8)
        self.log = folder / "lab.log"
        flags = f"--no-browser --port={self.port} --IdentityProvider.token={self.token}"
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "PYTEST"))}
        environment = {**clean, "MINILLM_FAST": "1", "JUPYTER_RUNTIME_DIR": str(folder / "run")}
        self.process = subprocess.Popen(
            [sys.executable, "tools/lab.py", *flags.split()],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def ask(self, path, method="GET", body=None):
        """One REST call -> JSON (None for an empty answer)."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def wait(self, seconds=60):
        """Until the server answers; fails with its log when it ends or stays silent."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            try:
                return self.ask("api/status")
            except OSError:
                time.sleep(0.2)
        raise AssertionError(f"JupyterLab did not answer:\n{self.log.read_text()[-3000:]}")

    def stop(self):
        """End the server and everything it started."""
        if self.process.poll() is not None:
            return
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("lab"))
    try:
        running.wait()
        yield running
    finally:
        running.stop()


@pytest.fixture
def kernel(server):
    """A function that runs code in one fresh kernel `minillm`, started over the REST interface."""
    made = server.ask("api/kernels", "POST", {"name": "minillm", "path": "notebooks"})
    url = f"ws://127.0.0.1:{server.port}/api/kernels/{made['id']}/channels?token={server.token}"
    socket_ = websocket.create_connection(url, timeout=120)

    def run(code):
        """Execute one cell -> the text it printed; raises with its traceback on an error."""
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
        header |= {"username": "", "session": uuid.uuid4().hex, "date": "2026-01-01T00:00:00Z"}
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        content |= {"user_expressions": {}, "stop_on_error": True}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        socket_.send(json.dumps({**message, "channel": "shell", "buffers": []}))
        printed = ""
        while True:
            got = json.loads(socket_.recv())
            if got["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            kind, content = got["header"]["msg_type"], got["content"]
            if kind == "error":
                raise AssertionError("\n".join(content["traceback"]))
            if kind == "stream":
                printed += content["text"]
            if kind == "status" and content["execution_state"] == "idle":
                return printed

    yield run
    socket_.close()
    server.ask(f"api/kernels/{made['id']}", "DELETE")


def test_the_page_and_the_kernel_are_there(server):
    assert "minillm" in server.ask("api/kernelspecs")["kernelspecs"]
    assert any(f["name"] == "notebooks" for f in server.ask("api/contents")["content"])
    request = f"http://127.0.0.1:{server.port}/lab?token={server.token}"
    with urllib.request.urlopen(request, timeout=30) as page:
        assert page.status == 200 and b"JupyterLab" in page.read()


def test_a_kernel_imports_minillm(kernel):
    printed = kernel("import minillm, sys; print(sys.executable); print(minillm.__file__)")
    executable, module = printed.split()
    assert Path(executable) == Path(sys.executable)
    assert Path(module).parent == ROOT / "minillm"


def test_a_kernel_reports_errors(kernel):
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        kernel("1 / 0")


def test_the_first_notebook_runs(kernel):
    notebooks = sorted((ROOT / "notebooks").glob("00_*.ipynb"))
    assert notebooks, "notebooks/00_*.ipynb is missing"
    for cell in nbformat.read(notebooks[0], as_version=4).cells:
        if cell.cell_type == "code":
            kernel(cell.source)


def test_git_sees_nothing_of_it(server):
    """Not even the checkpoint that JupyterLab makes when a notebook is opened and saved."""
    notebook = next(iter((ROOT / "notebooks").glob("00_*.ipynb")))
    server.ask(f"api/contents/notebooks/{notebook.name}/checkpoints", "POST")
    saved = notebook.parent / ".ipynb_checkpoints" / f"{notebook.stem}-checkpoint.ipynb"
    assert saved.exists()
    command = ["git", "check-ignore", str(saved)]
    seen = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    saved.unlink()
    assert seen.returncode != 1, f"git would see {saved}"  # 128: not a git checkout
