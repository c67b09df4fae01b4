"""Names on the hub: what is there is fetched into a folder first, so that it is looked at as anybody's folder is."""

from __future__ import annotations

from pathlib import Path

from streamcoref.errors import StreamcorefError

# None of these is program code.
TOKENIZER_FILES = ("*.json", "*.txt", "*.model")
MODEL_FILES = ("*.safetensors", "*.md", *TOKENIZER_FILES)
PICKLED_FILES = ("*.bin",)  # of encoders that have no safetensors; torch reads nothing but weights from them


def fetched(name: str, files: tuple[str, ...], revision: str | None = None) -> Path:
    """The folder of these files of a repository, of a branch, tag or commit; what was fetched before is kept."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(files)))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        said = str(error).strip().splitlines()[0]
        raise StreamcorefError(f"the hub did not give one: {said}") from error


def folder_of(name: str | Path, files: tuple[str, ...]) -> Path:
    """A folder as it is, or fetched."""
    folder = Path(name)
    if folder.is_dir():
        return folder
    try:
        return fetched(str(name), files)
    except StreamcorefError as error:
        raise StreamcorefError(f"there is no folder {name}, and {error}") from error
