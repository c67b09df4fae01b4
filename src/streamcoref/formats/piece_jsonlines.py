"""The piece-level jsonlines of Xia et al. 2020 and of the baseline they start from (Joshi et al. 2019).

One JSON object a document: `doc_key`; `sentences`, which are segments, each `[CLS]` + word pieces + `[SEP]`;
`speakers`, one a piece, `[SPL]` at the special pieces and `-` where unknown; `clusters` and `predicted_clusters`,
inclusive `[first, last]` positions in pieces, special ones counted; `sentence_map` and `subtoken_map`, the sentence and
the word of every piece. Optional: `tokens`, the original words (as coref-hoi writes them), and `genre`. Without
`tokens` a word is its pieces joined, WordPiece's `##` taken off.

A mention that starts or ends inside a word, as a model may predict, is read as the whole words it touches.

The format cannot hold: speakers named `-` or `[SPL]`, a word of more pieces than a segment has room for.
Original text and scores are not written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from streamcoref.document import Clusters, Document, Span
from streamcoref.errors import StreamcorefError
from streamcoref.formats.base import Format, Writer
from streamcoref.formats.fields import genre_of, refuse
from streamcoref.formats.json_values import JsonObject, read_objects
from streamcoref.formats.raw import RawDocument, from_raw

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from streamcoref.model.tokenizer import PieceTokenizer

_SPECIAL_SPEAKER, _UNKNOWN_SPEAKER = "[SPL]", "-"


def read_raw(lines: Iterable[str], path: Path) -> Iterator[RawDocument]:
    for record in read_objects(lines, path):
        yield _raw(record)


def read(lines: Iterable[str], path: Path) -> Iterator[Document]:
    for raw in read_raw(lines, path):
        yield from_raw(raw, path)


def _raw(record: JsonObject) -> RawDocument:
    key = record.string("doc_key")
    segments = record.string_lists("sentences")
    pieces = [piece for segment in segments for piece in segment]
    special = _special_positions(record, segments)
    word_of_piece = _words_of_pieces(record, len(pieces), special)
    words = _words(record, pieces, word_of_piece)
    sentence_map = record.integers("sentence_map", len(pieces))
    first_piece: dict[int, int] = {}
    for position, word in enumerate(word_of_piece):
        if word is not None:
            first_piece.setdefault(word, position)
    speakers = _speakers(record, segments)
    clusters, predicted = (_word_clusters(record, name, word_of_piece) for name in ("clusters", "predicted_clusters"))
    return RawDocument(
        key=key,
        words=words,
        sentence_ends=_sentence_ends(
            [sentence_map[first_piece[i]] if i in first_piece else None for i in range(len(words))]
        ),
        speakers=[speakers[first_piece[i]] if i in first_piece else "" for i in range(len(words))] if speakers else [],
        clusters=clusters or [],
        line=record.line,
        genre=record.optional_string("genre") if "genre" in record else genre_of(key),
        predicted_clusters=predicted,
    )


def _special_positions(record: JsonObject, segments: list[list[str]]) -> set[int]:
    """The first and the last position of every segment, checked to hold the same piece in all of them."""
    if any(len(segment) < 2 for segment in segments):
        raise record.error("'sentences' has a segment without its two special pieces, such as [CLS] and [SEP]")
    for place, name in ((0, "start"), (-1, "end")):
        if len({segment[place] for segment in segments}) > 1:
            raise record.error(
                f"'sentences' has segments that {name} with different pieces; each needs [CLS] and [SEP]"
            )
    special: set[int] = set()
    end = 0
    for segment in segments:
        special |= {end, end + len(segment) - 1}
        end += len(segment)
    return special


def _words_of_pieces(record: JsonObject, length: int, special: set[int]) -> list[int | None]:
    """The word of every piece, counted from 0; None for special pieces."""
    subtoken_map = record.integers("subtoken_map", length)
    real = [subtoken_map[i] for i in range(length) if i not in special]
    if any(a > b for a, b in pairwise([0, *real])):
        raise record.error("'subtoken_map' must count words upwards from 0")
    # Words that the tokenizer made nothing of have no pieces; with `tokens` they are known, else there is no trace.
    number = {word: i for i, word in enumerate(sorted(set(real)))} if "tokens" not in record else None
    return [None if i in special else word if number is None else number[word] for i, word in enumerate(subtoken_map)]


def _words(record: JsonObject, pieces: list[str], word_of_piece: list[int | None]) -> list[str]:
    count = max((word for word in word_of_piece if word is not None), default=-1) + 1
    if "tokens" in record:
        words = record.strings("tokens")
        if len(words) < count:
            raise record.error(f"'tokens' has {len(words)} words, but 'subtoken_map' counts {count}")
        return words
    words = [""] * count
    for piece, word in zip(pieces, word_of_piece, strict=True):
        if word is not None:
            words[word] += piece.removeprefix("##") if words[word] else piece
    return words


def _sentence_ends(sentence_of_word: list[int | None]) -> list[int]:
    """Where the sentence changes; a word without pieces stays with the one before it."""
    ends: list[int] = []
    current: int | None = None
    for word, sentence in enumerate(sentence_of_word):
        if sentence is not None and sentence != current:
            if current is not None:
                ends.append(word)
            current = sentence
    return [*ends, len(sentence_of_word)] if sentence_of_word else []


def _speakers(record: JsonObject, segments: list[list[str]]) -> list[str]:
    if not record.get("speakers"):
        return []
    speakers = record.string_lists("speakers")
    if [len(names) for names in speakers] != [len(segment) for segment in segments]:
        raise record.error("'speakers' must have one name for each piece of each segment in 'sentences'")
    return ["" if name == _UNKNOWN_SPEAKER else name for names in speakers for name in names]


def _word_clusters(record: JsonObject, name: str, word_of_piece: list[int | None]) -> list[list[Span]] | None:
    clusters = record.clusters(name, len(word_of_piece))
    if clusters is None:
        return None
    result: list[list[Span]] = []
    for cluster in clusters:
        spans: list[Span] = []
        for start, end in cluster:
            first, last = word_of_piece[start], word_of_piece[end - 1]
            if first is None or last is None:
                raise record.error(
                    f"{name!r} has the mention {[start, end - 1]}, which starts or ends at a special piece"
                )
            spans.append((first, last + 1))
        result.append(spans)
    return result


def writer(tokenizer: PreTrainedTokenizerBase, max_segment_length: int) -> Writer:
    """A writer for segments of at most `max_segment_length` pieces, `[CLS]` and `[SEP]` counted."""
    from streamcoref.model.tokenizer import PieceTokenizer

    if max_segment_length < 3:
        raise StreamcorefError(f"a segment of {max_segment_length} pieces has no room for a word; use at least 3")
    cut = PieceTokenizer(tokenizer)

    def write(documents: Iterable[Document], stream: TextIO) -> None:
        for document in documents:
            stream.write(json.dumps(_record(document, cut, max_segment_length), ensure_ascii=False) + "\n")

    return write


def _record(document: Document, tokenizer: PieceTokenizer, max_segment_length: int) -> dict[str, Any]:
    from streamcoref.model.segments import cut_segments

    pieces = tokenizer(document.words)
    _check(document, pieces, max_segment_length)
    segments: list[list[int]] = []
    speakers: list[list[str]] = []
    sentence_map: list[int] = []
    subtoken_map: list[int] = []
    bounds: list[tuple[int, int]] = []  # the first and the last piece of each word
    sentence_ends = frozenset(document.sentence_ends)
    sentence = 0
    for start, end in cut_segments([len(word) for word in pieces], document.sentence_ends, max_segment_length - 2):
        segment, names = [tokenizer.first], [_SPECIAL_SPEAKER]
        sentence_map.append(sentence)
        subtoken_map.append(max(start - 1, 0))  # as the baseline's minimize.py: [CLS] has the last word seen
        for word in range(start, end):
            count = len(pieces[word])
            segment += pieces[word]
            names += [(document.speakers[word] if document.speakers else "") or _UNKNOWN_SPEAKER] * count
            bounds.append((len(subtoken_map), len(subtoken_map) + count - 1))
            sentence_map += [sentence] * count
            subtoken_map += [word] * count
            sentence += word + 1 in sentence_ends
        segments.append([*segment, tokenizer.last])
        speakers.append([*names, _SPECIAL_SPEAKER])
        sentence_map.append(sentence)  # after a complete sentence [SEP] has the next one's number
        subtoken_map.append(end - 1)
    record: dict[str, Any] = {
        "doc_key": document.key,
        "sentences": [tokenizer.tokenizer.convert_ids_to_tokens(segment) for segment in segments],
        "speakers": speakers,
        "clusters": _piece_clusters(document.clusters, bounds),
        "sentence_map": sentence_map,
        "subtoken_map": subtoken_map,
        "tokens": document.words,
    }
    if document.genre is not None or genre_of(document.key) is not None:
        record["genre"] = document.genre
    if document.predicted_clusters is not None:
        record["predicted_clusters"] = _piece_clusters(document.predicted_clusters, bounds)
    return record


def _check(document: Document, pieces: list[list[int]], max_segment_length: int) -> None:
    for i, speaker in enumerate(document.speakers):
        if speaker in (_SPECIAL_SPEAKER, _UNKNOWN_SPEAKER):
            raise refuse(document, f"the speaker of word {i} is {speaker!r}", FORMAT.name)
    for i, word in enumerate(pieces):
        if len(word) > max_segment_length - 2:
            raise StreamcorefError(
                f"document {document.key!r}: word {i} has {len(word)} pieces, more than fit into a segment of "
                f"{max_segment_length}; use longer segments"
            )


def _piece_clusters(clusters: Clusters, bounds: list[tuple[int, int]]) -> list[list[list[int]]]:
    return [[[bounds[start][0], bounds[end - 1][1]] for start, end in cluster] for cluster in clusters]


def matches(_name: str, lines: list[str]) -> bool:
    """Named like word-level jsonlines, so only the content tells."""
    first = next((line for line in lines if line.strip()), "")
    return first.lstrip().startswith("{") and re.search(r'"(subtoken_map|sentence_map)"\s*:', first) is not None


FORMAT = Format(
    name="pieces",
    description="one JSON object a document, with segments of word pieces",
    endings=(".pieces.jsonl",),
    read=read,
    read_raw=read_raw,
    matches=matches,
    precedence=10,
    needs_tokenizer=True,
)
