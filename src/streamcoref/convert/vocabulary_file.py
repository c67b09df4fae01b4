"""Tokenizers of published models: their own files, or a plain list of word pieces, vocab.txt."""

from __future__ import annotations

from pathlib import Path

from streamcoref.errors import InputError, Remedy
from streamcoref.model.checkpoint import load_tokenizer
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.word_pieces import OWN_FILES, VOCABULARY, word_pieces


def find_tokenizer(given: Path | None, folders: list[Path]) -> PieceTokenizer:
    """The tokenizer that was given, as a folder or a vocab.txt, or else that of the first folder that has one."""
    if given is not None:
        if given.is_file():
            return word_pieces(given)
        found = _tokenizer_of(given)
        if found is None:
            raise InputError(f"there is no tokenizer here: no {OWN_FILES[0]}, no {VOCABULARY}", given)
        return found
    for folder in folders:
        found = _tokenizer_of(folder)
        if found is not None:
            return found
    raise InputError(f"there is no {VOCABULARY} or {OWN_FILES[0]} here", folders[0], remedy=Remedy.TOKENIZER)


def _tokenizer_of(folder: Path) -> PieceTokenizer | None:
    there = any((folder / name).is_file() for name in (*OWN_FILES, VOCABULARY))
    return load_tokenizer(folder) if there else None
