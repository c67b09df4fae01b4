"""Tokenizers of published models: their own files, or a plain list of word pieces, vocab.txt."""

from __future__ import annotations

from pathlib import Path

from streamcoref.errors import InputError
from streamcoref.model.checkpoint import load_tokenizer
from streamcoref.model.segments import PieceTokenizer

VOCABULARY = "vocab.txt"
_OWN = ("tokenizer.json", "tokenizer_config.json")
_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def find_tokenizer(given: Path | None, folders: list[Path]) -> PieceTokenizer:
    """The tokenizer that was given, as a folder or a vocab.txt, or else that of the first folder that has one."""
    if given is not None:
        if given.is_file():
            return word_pieces(given)
        found = _tokenizer_of(given)
        if found is None:
            raise InputError(f"there is no tokenizer here: no {_OWN[0]}, no {VOCABULARY}", given)
        return found
    for folder in folders:
        found = _tokenizer_of(folder)
        if found is not None:
            return found
    raise InputError(
        f"there is no {VOCABULARY} or {_OWN[0]} here; name one with --tokenizer "
        "(all published models use that of bert-base-cased)",
        folders[0],
    )


def _tokenizer_of(folder: Path) -> PieceTokenizer | None:
    if any((folder / name).is_file() for name in _OWN):
        return load_tokenizer(folder)
    return word_pieces(folder / VOCABULARY) if (folder / VOCABULARY).is_file() else None


def word_pieces(path: Path) -> PieceTokenizer:
    """A tokenizer from a list of word pieces, one a line. It keeps capitals if the list has any."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    try:
        pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as a list of word pieces: {error}", path) from error
    numbers = {piece.rstrip("\r"): number for number, piece in enumerate(pieces)}
    missing = [piece for piece in _SPECIAL.values() if piece not in numbers]
    if missing:
        raise InputError(f"not a list of word pieces, one a line: it has no {', '.join(missing)}", path)
    cased = any(piece != piece.lower() for piece in numbers if not piece.startswith("["))
    backend = Tokenizer(models.WordPiece(numbers, unk_token=_SPECIAL["unk_token"]))
    backend.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    return PieceTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, **_SPECIAL))
