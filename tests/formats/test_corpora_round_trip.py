"""Every document of the corpora, read, written and read again in each format that can hold it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from generated_documents import content, read, written
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers import PreTrainedTokenizerFast

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats import FORMATS, detect, read_documents, read_raw_documents
from streamcoref.formats.piece_jsonlines import writer

pytestmark = pytest.mark.corpus

# documents, words, longest, mentions, clusters, singletons, documents with more than one speaker; from the README
# beside the corpora, which counts clusters as published: six pairs in OntoGUM share a mention.
COUNTS = {
    ("litbank", "train"): (80, 169_456, 3_419, 23_218, 6_344, 4_635, 0),
    ("litbank", "dev"): (10, 20_438, 2_247, 3_053, 776, 563, 0),
    ("ontogum", "train"): (128, 129_805, 1_878, 16_854, 3_895, 2, 38),
    ("ontogum", "dev"): (20, 18_432, 1_247, 2_366, 529, 0, 6),
    ("craft", "train"): (59, 487_522, 16_528, 62_235, 12_861, 0, 0),
    ("craft", "dev"): (7, 67_650, 13_803, 9_351, 1_980, 0, 0),
}
MERGED = {("ontogum", "train"): 5, ("ontogum", "dev"): 1}
DETECTED = {"litbank": "litbank", "ontogum": "conllu", "craft": "jsonlines"}


def files(shared: Path, corpus: str, part: str) -> list[Path]:
    folder = shared / "corpora" / corpus
    if corpus == "craft":
        return [folder / f"{part}.jsonl"]
    suffix = {"litbank": "conll", "ontogum": "conllu"}[corpus]
    return [folder / suffix / f"{name}.{suffix}" for name in (folder / f"{part}.ids").read_text().split()]


def corpus_documents(shared: Path, corpus: str, part: str) -> Iterator[Document]:
    for path in files(shared, corpus, part):
        yield from read_documents(path)


@pytest.mark.parametrize(("corpus", "part"), COUNTS)
def test_counts(shared: Path, corpus: str, part: str) -> None:
    paths = files(shared, corpus, part)
    assert {detect(path) for path in paths} == {DETECTED[corpus]}
    raw = [document for path in paths for document in read_raw_documents(path)]
    clusters = [set(cluster) for document in raw for cluster in document.clusters]
    assert COUNTS[corpus, part] == (
        len(raw),
        sum(len(document.words) for document in raw),
        max(len(document.words) for document in raw),
        sum(len(cluster) for cluster in clusters),
        len(clusters),
        sum(len(cluster) == 1 for cluster in clusters),
        sum(len(set(document.speakers) - {""}) > 1 for document in raw),
    )
    merged = sum(len(document.clusters) for document in corpus_documents(shared, corpus, part))
    assert merged == len(clusters) - MERGED.get((corpus, part), 0)


@pytest.mark.parametrize(("corpus", "part"), COUNTS)
@pytest.mark.parametrize("name", ["jsonlines", "conll", "litbank", "conllu"])
def test_round_trip(shared: Path, corpus: str, part: str, name: str) -> None:
    refused = 0
    for document in corpus_documents(shared, corpus, part):
        if name == "litbank" and document.speakers:
            with pytest.raises(StreamcorefError, match="it has speakers"):
                written(FORMATS[name], document)
            refused += 1
            continue
        (again,) = read(FORMATS[name], written(FORMATS[name], document))
        assert content(again) == content(document)
        if name in ("jsonlines", "conllu"):
            assert again.genre == document.genre
            assert document.text is None or (again.text, again.offsets) == (document.text, document.offsets)
    assert refused == (
        0 if name != "litbank" else {("ontogum", "train"): 52, ("ontogum", "dev"): 10}.get((corpus, part), 0)
    )


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of single letters: many pieces a word, and unknown words."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    model = Tokenizer(WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    model.pre_tokenizer = BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=model, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]"
    )


@pytest.mark.parametrize(("corpus", "part"), COUNTS)
def test_round_trip_in_pieces(shared: Path, tokenizer: PreTrainedTokenizerFast, corpus: str, part: str) -> None:
    write = writer(tokenizer, 512)
    for document in corpus_documents(shared, corpus, part):
        stream = io.StringIO()
        write([document], stream)
        (again,) = read(FORMATS["pieces"], stream.getvalue())
        assert content(again) == content(document)
        assert again.genre == document.genre
