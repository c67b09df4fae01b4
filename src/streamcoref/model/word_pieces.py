"""Tokenizers that are a plain list of word pieces, vocab.txt, without a file that says how words become pieces."""

from __future__ import annotations

from pathlib import Path

from streamcoref.errors import InputError
from streamcoref.model.tokenizer import PieceTokenizer

VOCABULARY = "vocab.txt"
OWN_FILES = ("tokenizer.json", "tokenizer_config.json")  # of a tokenizer that says how it works
_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def plain_vocabulary(folder: Path) -> Path | None:
    """The list of word pieces of a folder that has no other file of a tokenizer.

    SpanBERT is published like this. transformers would take any such list for one without capitals.
    """
    if any((folder / file).exists() for file in OWN_FILES):
        return None
    path = folder / VOCABULARY
    return path if path.exists() else None


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
