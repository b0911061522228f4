"""pack and unpack: everything comes over, nothing is lost, and a hostile file does nothing."""

import errno
import io
import stat
import zipfile

import pytest
from desk_course import course, right_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exercises.desk import answers, carry, cli, files, help, progress
from exercises.grading import spec

NAMES = ["0.1", "0.2", "2.3"]


def another_machine(monkeypatch, course, tmp_path):
    """Every answer fresh again and no progress."""
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "elsewhere"))
    for exercise_id in spec.all_ids():
        files.write(answers.path_of(exercise_id), spec.fresh_text(exercise_id).encode())


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(st.sampled_from(NAMES), st.binary(min_size=1, max_size=30)))
def test_there_and_back(course, tmp_path, texts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINILLM_PROGRESS", str(tmp_path / f"here{len(list(tmp_path.iterdir()))}"))
        for exercise_id, text in texts.items():
            answers.save(exercise_id, b"before = 1\n")
            answers.save(exercise_id, text)
        progress.change(lambda d: d.update(student="kim"))
        help.hint("0.2")
        file = tmp_path / "mine.zip"
        carry.pack(file)
        carry.pack(file)  # over an older pack is fine
        another_machine(patch, course, tmp_path / str(len(texts)))
        carry.unpack(file)
        for exercise_id, text in texts.items():
            assert answers.read(exercise_id) == text
            kept = [p.read_bytes() for p in answers.backups(exercise_id)]
            assert text == b"before = 1\n" or b"before = 1\n" in kept
        data = progress.load()
        assert data["student"] == "kim" and data["exercises"]["0.2"]["hints"] >= 1


def test_what_stood_here_is_kept(course, tmp_path):
    answers.save("0.2", "theirs = 1\n")
    carry.pack(tmp_path / "p.zip")
    answers.save("0.2", "mine = 2\n")
    answers.save("0.1", "only here = 3\n")
    progress.change(lambda d: progress.entry(d, "0.1").update(attempts=7))
    assert "1 texts" in carry.unpack(tmp_path / "p.zip")
    assert answers.read("0.2") == b"theirs = 1\n" and answers.read("0.1") == b"only here = 3\n"
    assert b"mine = 2\n" in [p.read_bytes() for p in answers.backups("0.2")]
    assert progress.load()["exercises"]["0.1"]["attempts"] == 7


def test_the_scoreboard_comes_along(course, tmp_path, monkeypatch):
    files.write(carry.scoreboard(), b'{"rows": [1]}')
    carry.pack(tmp_path / "p.zip")
    files.write(carry.scoreboard(), b'{"rows": [2]}')
    carry.unpack(tmp_path / "p.zip")
    assert carry.scoreboard().read_bytes() == b'{"rows": [1]}'
    kept = list(carry.scoreboard().parent.glob("scoreboard.before-*.json"))
    assert [p.read_bytes() for p in kept] == [b'{"rows": [2]}']


def test_pack_replaces_nothing_but_packs(course, tmp_path):
    file = tmp_path / "thesis.docx"
    file.write_bytes(b"years of work")
    with pytest.raises(ValueError, match="not replaced"):
        carry.pack(file)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(ValueError, match="not replaced"):
        carry.pack(tmp_path / "other.zip")


def test_pack_makes_no_folder_and_names_its_own_file(course, tmp_path, monkeypatch, capsys):
    assert cli.run(["pack", str(tmp_path / "no" / "mine.zip")]) == 2
    assert "there is no folder" in capsys.readouterr().err and not (tmp_path / "no").exists()

    def refused(prefix, suffix, dir):
        raise OSError(errno.EROFS, "Read-only file system", f"{dir}/{prefix}x{suffix}")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    assert cli.run(["pack", str(tmp_path / "mine.zip")]) == 2
    err = capsys.readouterr().err
    assert err == f"exercises: {tmp_path / 'mine.zip'}: Read-only file system\n"


def zipped(tmp_path, entries, **options):
    """A zip with these (name or ZipInfo, bytes)."""
    with zipfile.ZipFile(tmp_path / "h.zip", "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return tmp_path / "h.zip"


def everything(folder):
    """Every file of a folder and its bytes."""
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "h.zip"}


def link(name):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


OURS = "answers/ch00_start/ex2_scale_rows.py"
HOSTILE = {
    "bomb": [(OURS, bytes(carry.LARGEST_ENTRY + 1))],
    "many bombs": [(f"x{i}", bytes(carry.LARGEST_ENTRY)) for i in range(9)],
    "link": [(link(OURS), b"/etc/passwd")],
    "too many": [(f"x/{i}", b"") for i in range(carry.MOST_ENTRIES + 1)],
    "progress": [(OURS, b"x = 1\n"), ("progress.json", b'{"exercises": {"0.2": []}}')],
    "deep progress": [(OURS, b"x = 1\n"), ("progress.json", b"[" * 100_000)],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_changes_nothing(course, tmp_path, name):
    file = zipped(tmp_path, HOSTILE[name])
    before = everything(tmp_path)
    with pytest.raises(ValueError):
        carry.unpack(file)
    assert everything(tmp_path) == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name(course, tmp_path):
    with pytest.raises(ValueError, match="same name"):
        carry.unpack(zipped(tmp_path, [(OURS, b"a = 1\n"), (OURS, b"b = 2\n")]))


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.py",
        "/tmp/evil.py",
        "answers/../../ch00_start/ex9_x.py",
        "answers/ch99_x/ex1_a.py",
        "answers/ch00_start/fresh/ex2.py",
        "backups/0.2/../../../evil.py",
        "backups/0.2/20260101-000000-000000-abc.sh",
        "C:\\windows\\evil.py",
        "exercises/grading/judge.py",
    ],
)
def test_no_name_leads_out_of_our_files(course, tmp_path, name):
    before = everything(tmp_path)
    said = carry.unpack(zipped(tmp_path, [(name, b"evil = 1\n")]))
    after = everything(tmp_path)
    assert "ignored" in said
    assert all(p.parent == progress.folder() for p in set(after) - set(before))
    assert {p: after[p] for p in before} == before


@pytest.mark.parametrize("name", ["answers/a/b/ch00_start/ex2_other.py", OURS.upper().lower()])
def test_any_spelling_of_an_exercise_lands_in_its_one_file(course, tmp_path, name):
    carry.unpack(zipped(tmp_path, [(name, b"x = 5\n")]))
    assert answers.read("0.2") == b"x = 5\n"


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_a_damaged_pack_is_one_clear_error(course, tmp_path, data):
    answers.save("0.2", "mine = 1\n")
    carry.pack(tmp_path / "p.zip")
    whole = bytearray((tmp_path / "p.zip").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    (tmp_path / "d.zip").write_bytes(bytes(whole[:cut] if data.draw(st.booleans()) else whole))
    try:
        carry.unpack(tmp_path / "d.zip")
    except ValueError:
        pass
    kept = {answers.read("0.2")} | {p.read_bytes() for p in answers.backups("0.2")}
    assert b"mine = 1\n" in kept


def test_an_encrypted_or_missing_file(course, tmp_path):
    file = io.BytesIO(zipped(tmp_path, [(OURS, b"x")]).read_bytes())
    raw = bytearray(file.getvalue())
    raw[6] |= 1  # "encrypted", in the local header
    central = raw.index(b"PK\x01\x02")
    raw[central + 8] |= 1
    (tmp_path / "e.zip").write_bytes(raw)
    with pytest.raises(ValueError, match="cannot be read"):
        carry.unpack(tmp_path / "e.zip")
    with pytest.raises(ValueError, match="does not exist"):
        carry.unpack(tmp_path / "none.zip")
