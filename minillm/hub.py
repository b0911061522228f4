"""Models of the Hugging Face hub, through its own library, which keeps them on this disk."""

from __future__ import annotations

from pathlib import Path

from minillm.files import LoadError

WANTED = [
    "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
    "chat_template.jinja", "*.safetensors", "model.safetensors.index.json",
]  # fmt: skip


def fetch(name: str) -> Path:
    """Folder of a hub model: the copy on this disk if it is complete, else downloaded now."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    folder = _local(name, snapshot_download)
    if folder is not None:
        return folder
    try:
        return Path(snapshot_download(name, allow_patterns=WANTED, etag_timeout=10))
    except GatedRepoError:
        raise LoadError(f"{name} asks for its licence to be accepted: visit its page on "
                        "huggingface.co, then log in with `hf auth login`") from None  # fmt: skip
    except RepositoryNotFoundError:
        raise LoadError(f"the hub has no model {name}, or it is private") from None
    except Exception as error:  # network, proxy, disk: the library has many kinds
        raise LoadError(
            f"{name} is not on this disk and the hub cannot be reached ({type(error).__name__}: "
            f"{str(error).splitlines()[0][:120]}). Offline, use load('tiny'), "
            "load('gemma3-270m') or a folder; or fetch it elsewhere with "
            f"`hf download {name}` and copy the folder"
        ) from None


def _local(name: str, snapshot_download) -> Path | None:
    try:
        folder = Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=True))
    except Exception:
        return None
    complete = (folder / "config.json").exists() and any(folder.glob("*.safetensors"))
    return folder if complete else None
