"""The text of an answer: read with care, and compared with what the exercise began with."""

from __future__ import annotations

from pathlib import Path

from exercises.grading import messages, spec

LARGEST = 1 << 20  # bytes; an answer is a few lines


def read_source(path: Path) -> tuple[str, dict | None]:
    """(text, None), or ("", what is wrong with the file)."""
    try:
        if path.exists() and not path.is_file():  # never wait on a pipe or a device
            return "", messages.found("error", "file", f"{path} is not a file")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            text = f"{path.name} is longer than 1 MiB: an answer is a few lines"
            return "", messages.found("error", "file", text)
        return data.decode("utf-8-sig").replace("\r\n", "\n"), None
    except FileNotFoundError:
        return "", messages.found("error", "file-missing", f"there is no file {path}")
    except UnicodeDecodeError as error:
        text = f"{path.name} is not UTF-8 text (byte {error.start}): save it as UTF-8"
        return "", messages.found("syntax", "encoding", text)
    except OSError as error:
        return "", messages.found("error", "file", f"{path}: {error.strerror}")


def untouched(exercise_id: str, source: str, student: str = "") -> bool:
    """Whether this is still the text the exercise began with."""
    plain = lambda text: [line.rstrip() for line in text.replace("\r\n", "\n").strip().split("\n")]
    given = {student, ""}
    return any(plain(source) == plain(spec.fresh_text(exercise_id, s)) for s in given)
