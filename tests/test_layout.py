"""kernels/ is importable as minillm.kernels in every way of installing, beside Hugging Face's own.

A library called `kernels` exists, and transformers asks for it. A faked one, of version 0.18.2,
stands in for it here: our top-level folder must neither hide it nor be taken for it.
"""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROBE = "WHO = 'the probe kernel of minillm'\n"
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", ".venv")

# The environment of these tests has its own editable install: it must not answer for the copy.
FORGET_OURS = """
import sys
ours = '__editable___minillm'
sys.meta_path[:] = [f for f in sys.meta_path if ours not in getattr(f, '__module__', '')]
for name in [n for n in sys.modules if n.startswith(ours)]:
    del sys.modules[name]
"""

# What every layout must be able to do; argv[1] says whether the faked library is there.
CHECK = """
import importlib.util, importlib.metadata, sys
from minillm.kernels import probe_kernel
assert probe_kernel.WHO == 'the probe kernel of minillm'
import minillm
faked = sys.argv[1] == 'faked'
from transformers.utils.import_utils import is_kernels_available
if faked:
    import kernels
    assert kernels.MARK == 'faked', kernels
    assert importlib.metadata.version('kernels') == '0.18.2'
assert is_kernels_available() is faked, is_kernels_available()
print('from', minillm.__file__)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what a wheel is made from, with one kernel and one asset added."""
    root = tmp_path_factory.mktemp("layout") / "course"
    root.mkdir()
    for name in ("minillm", "kernels"):
        shutil.copytree(ROOT / name, root / name, ignore=IGNORED)
    (root / "docs").mkdir()
    for name in ("pyproject.toml", "LICENSE", "docs/LICENSE-PROSE.md"):
        shutil.copy(ROOT / name, root / name)
    (root / "kernels" / "probe_kernel.py").write_text(PROBE)
    (root / "minillm" / "assets" / "deep").mkdir(parents=True, exist_ok=True)
    (root / "minillm" / "assets" / "deep" / "probe.txt").write_text("asset")
    return root


def pip_install(tree, target, *options):
    """Install the tree into a folder, with the libraries that are here, without a network."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", *options, *quiet]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tree.parent)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory):
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    pip_install(tree, folder, "wheel", "--wheel-dir", str(folder), str(tree))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def faked(tmp_path_factory):
    """A folder with a library `kernels` 0.18.2 in it, as pip would leave it."""
    folder = tmp_path_factory.mktemp("faked")
    (folder / "kernels").mkdir()
    (folder / "kernels" / "__init__.py").write_text(
        "MARK = 'faked'\n__version__ = '0.18.2'\n"
        "def __getattr__(name):\n"
        "    if name.startswith('__'):\n        raise AttributeError(name)\n"
        "    return type(name, (), {'__init__': lambda self, *a, **k: None})\n"
    )
    info = folder / "kernels-0.18.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kernels\nVersion: 0.18.2\n")
    (info / "top_level.txt").write_text("kernels\n")
    (info / "RECORD").write_text("kernels/__init__.py,,\n")
    return folder


def run_check(cwd, path, use_fake, before=""):
    """Run CHECK in a process of its own; -> the folder that holds the minillm it found."""
    code = f"{FORGET_OURS}{before}\nsys.path[:0] = {[str(p) for p in path]}\n{CHECK}"
    command = [sys.executable, "-c", code, "faked" if use_fake else "none"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.split("from ")[1].strip()).resolve().parents[1]


@pytest.mark.parametrize("use_fake", [False, True], ids=["without", "with"])
def test_no_install(tree, faked, use_fake):
    """From the repository's folder, nothing installed: the folder is first on the path."""
    assert run_check(tree, [faked] * use_fake, use_fake) == tree
    assert run_check(tree, [tree] + [faked] * use_fake, use_fake) == tree


@pytest.mark.parametrize("use_fake", [False, True], ids=["without", "with"])
def test_wheel(wheel, faked, tmp_path, use_fake):
    """From an installed wheel, in a folder that has nothing to do with the project."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    came_from = run_check(tmp_path, [tmp_path / "site"] + [faked] * use_fake, use_fake)
    assert came_from == tmp_path / "site"


@pytest.mark.parametrize("use_fake", [False, True], ids=["without", "with"])
def test_editable(tree, faked, tmp_path, use_fake):
    """As `make setup` installs it: the environment only points at the repository."""
    site = tmp_path / "site"
    pip_install(tree, site, "install", "--target", str(site), "--editable", str(tree))
    first = f"sys.path.insert(0, {str(site)!r})"  # before the same hook of our own environment
    add = f"{first}; import site; site.addsitedir({str(site)!r})"
    assert run_check(tmp_path, [faked] * use_fake, use_fake, before=add) == tree


def test_wheel_holds_kernels_assets_and_licences(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "minillm/kernels/probe_kernel.py" in names
    assert "minillm/assets/deep/probe.txt" in names
    assert not [n for n in names if n.startswith(("kernels/", "tests/", "exercises/"))]
    packages = {p.parent.relative_to(ROOT).as_posix() for p in (ROOT / "minillm").rglob("*.py")}
    inside = {n.rpartition("/")[0] for n in names if n.endswith(".py")}
    assert packages - {"minillm/kernels"} <= inside, "a folder without __init__.py is left out"
    assert any(n.endswith("licenses/LICENSE") for n in names)


def test_top_level_kernels_is_not_a_package():
    assert not (ROOT / "kernels" / "__init__.py").exists()
    wrong = [
        p.name
        for folder in ("minillm", "kernels", "exercises", "notebooks", "tools")
        for p in (ROOT / folder).rglob("*.py")
        if any(line.startswith(("import kernels", "from kernels")) for line in p.open())
    ]
    assert not wrong, f"{wrong} must say minillm.kernels"
