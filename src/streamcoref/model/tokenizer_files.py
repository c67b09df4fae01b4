"""Tokenizers of a folder or of the hub, loaded without running anything and without trusting what their files say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamcoref.errors import StreamcorefError
from streamcoref.model.architecture import shown
from streamcoref.model.folder_files import LARGEST, check_file, needs_code, read_table, why
from streamcoref.model.hub_folders import TOKENIZER_FILES, folder_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TOKENIZER = "tokenizer.json"
SETTINGS = "tokenizer_config.json"
_TABLES = ("added_tokens.json", "special_tokens_map.json", "vocab.json")
_OTHERS = ("vocab.txt", "merges.txt", "tokenizer.model", "sentencepiece.bpe.model", "spiece.model")
LARGEST_ID = 1 << 24  # lists as long as the largest number are made of a vocabulary


def load_auto_tokenizer(name: str | Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a folder, or of a name on the hub."""
    from transformers import AutoTokenizer

    folder = folder_of(name, TOKENIZER_FILES)
    check_tokenizer_files(folder)
    with tokenizer_faults(name):
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


@contextmanager
def tokenizer_faults(name: str | Path) -> Iterator[None]:
    """A crafted or damaged file can make a tokenizer fail in any way, by a panic of another language's too."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, StreamcorefError):
        raise
    except BaseException as error:
        said = why(error) if needs_code(error) else "are its tokenizer.json and tokenizer_config.json there, and whole?"
        raise StreamcorefError(f"cannot load the tokenizer of {name}: {said}") from error


def check_tokenizer_files(folder: Path) -> None:
    """Raise if a file of a tokenizer is not what it should be, or numbers its pieces beyond all measure."""
    tables = {}
    for name in (TOKENIZER, SETTINGS, *_TABLES):
        try:
            tables[name] = read_table(folder / name)
        except FileNotFoundError:
            continue
    for name in _OTHERS:
        if (folder / name).exists():
            check_file(folder / name, LARGEST)
    for name, values in tables.items():
        for number in _ids(folder / name, values):
            if type(number) is not int or not 0 <= number < LARGEST_ID:
                raise StreamcorefError(f"{folder / name}: a piece has the number {shown(number)}; it is damaged")


def _ids(path: Path, values: dict[str, Any]) -> Iterator[object]:
    """The numbers that a file gives to pieces."""
    if path.name in ("added_tokens.json", "vocab.json"):
        yield from values.values()
    elif path.name == SETTINGS:
        added = values.get("added_tokens_decoder", {})
        if not isinstance(added, dict):
            raise StreamcorefError(f"{path}: added_tokens_decoder is no table; it is damaged")
        yield from (int(number) if number.isascii() and number.isdigit() else number for number in added)
    elif path.name == TOKENIZER:
        model, added = values.get("model"), values.get("added_tokens", [])
        vocabulary = model.get("vocab") if isinstance(model, dict) else None
        if not isinstance(vocabulary, dict | list) or not isinstance(added, list):
            raise StreamcorefError(f"{path}: this is no tokenizer: it has no vocabulary")
        if isinstance(vocabulary, dict):  # in a list pieces are numbered by their places
            yield from vocabulary.values()
        for token in added:
            yield token.get("id") if isinstance(token, dict) else token
