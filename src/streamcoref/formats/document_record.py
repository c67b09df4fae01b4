"""A document as plain values, as word-level jsonlines has it on a line: `Document.to_dict` and `Document.from_dict`.

Keys: `doc_key`, `sentences` (lists of words); and, if known, `speakers` (a list of names for each sentence, or one
name a sentence), `genre`, `clusters` and `predicted_clusters` (mentions as `[first, last]` word, both included).
Seven keys are our own: `text` with `offsets` (the original text and the `[start, end)` characters of each word),
`sections` (its chapters: objects with `title`, `level`, `start`, `end`), `scores` (`[first, last, probability]` of
mentions), `types` (`[first, last, type, probability]` of predicted entities, by their first mentions), `labels`
(`[first, last, {types, kind, status}]` of mentions, each of the three if known) and `quotations` (`words` as `[first,
last]`, `speaker` and `addressee` as numbers of predicted clusters or null, `kind`, `score`). Other keys are ignored. It
can hold every document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from streamcoref.document import Clusters, Document, Quotation, Section, Span, TypeScore
from streamcoref.errors import InputError
from streamcoref.formats.fields import genre_of
from streamcoref.formats.json_values import JsonObject
from streamcoref.formats.raw import RawDocument, from_raw
from streamcoref.mention_labels import MentionLabels


def to_record(document: Document) -> dict[str, Any]:
    """Only values that JSON has, lists for tuples; what the document has not is left out."""
    record: dict[str, Any] = {"doc_key": document.key, "sentences": [list(words) for words in document.sentences]}
    if document.speakers:
        record["speakers"] = [list(document.speakers[a:b]) for a, b in pairwise((0, *document.sentence_ends))]
    if document.genre is not None or genre_of(document.key) is not None:
        record["genre"] = document.genre
    record["clusters"] = _inclusive(document.clusters)
    if document.predicted_clusters is not None:
        record["predicted_clusters"] = _inclusive(document.predicted_clusters)
    if document.text is not None:
        record |= {"text": document.text, "offsets": [list(span) for span in document.offsets]}
    if document.sections:
        record["sections"] = [asdict(section) for section in document.sections]
    if document.scores:
        record["scores"] = [[start, end - 1, score] for (start, end), score in sorted(document.scores.items())]
    if document.types:
        types = sorted(document.types.items())
        record["types"] = [[start, end - 1, kind, score] for (start, end), (kind, score) in types]
    if document.labels:
        labels = sorted(document.labels.items())
        record["labels"] = [[start, end - 1, _label_values(label)] for (start, end), label in labels]
    if document.quotations:
        record["quotations"] = [_quotation(one) for one in document.quotations]
    return record


def _label_values(label: MentionLabels) -> dict[str, Any]:
    values = {"types": list(label.types), "kind": label.kind, "status": label.status}
    return {name: value for name, value in values.items() if value}


def _quotation(one: Quotation) -> dict[str, Any]:
    return {
        "words": [one.word_start, one.word_end - 1],
        "speaker": one.speaker,
        "addressee": one.addressee,
        "kind": one.kind,
        "score": one.score,
    }


def _inclusive(clusters: Clusters) -> list[list[list[int]]]:
    return [[[start, end - 1] for start, end in cluster] for cluster in clusters]


def from_record(values: Mapping[str, Any]) -> Document:
    """The document of values that came from anywhere, so that no file or line can be named."""
    if not isinstance(values, Mapping):
        raise InputError(f"a document must be a dictionary with the keys of a record, not a {type(values).__name__}")
    return from_raw(raw_from_record(JsonObject(values, None, 0)), None)


def raw_from_record(record: JsonObject) -> RawDocument:
    """The document of a record, every value of it checked."""
    key = record.string("doc_key")
    sentences = record.string_lists("sentences")
    words = [word for sentence in sentences for word in sentence]
    text = record.optional_string("text")
    return RawDocument(
        key=key,
        words=words,
        sentence_ends=_ends(sentences),
        speakers=_speakers(record, sentences),
        clusters=record.clusters("clusters", len(words)) or [],
        line=record.line,
        genre=record.optional_string("genre") if "genre" in record else genre_of(key),
        predicted_clusters=record.clusters("predicted_clusters", len(words)),
        text=text,
        offsets=() if text is None else _offsets(record, text),
        scores=_scores(record, len(words)),
        labels=_labels(record, len(words)),
        sections=() if record.get("sections") is None else _sections(record),
        quotations=_quotations(record, len(words)),
        types=_types(record, len(words)),
    )


def _ends(sentences: list[list[str]]) -> list[int]:
    ends: list[int] = []
    for sentence in sentences:
        if sentence:  # an empty sentence holds nothing and shifts no offset
            ends.append((ends[-1] if ends else 0) + len(sentence))
    return ends


def _speakers(record: JsonObject, sentences: list[list[str]]) -> list[str]:
    speakers = record.get("speakers")
    if not speakers:
        return []
    if not isinstance(speakers, list) or len(speakers) != len(sentences):
        raise record.error(f"'speakers' must be a list with one item for each of the {len(sentences)} sentences")
    result: list[str] = []
    for number, (names, sentence) in enumerate(zip(speakers, sentences, strict=True)):
        if isinstance(names, str):
            result.extend([names] * len(sentence))
        elif isinstance(names, list) and len(names) == len(sentence) and all(isinstance(name, str) for name in names):
            result.extend(names)
        else:
            raise record.error(
                f"'speakers' of sentence {number} must be one name or a list of {len(sentence)} names, one a word"
            )
    return result


def _offsets(record: JsonObject, text: str) -> list[Span]:
    pairs = record.number_lists("offsets", 2)
    for start, end in pairs:
        if not 0 <= start <= end <= len(text):
            raise record.error(f"'offsets' has [{start}, {end}], but the text has {len(text)} characters")
    return [(start, end) for start, end in pairs]


def _sections(record: JsonObject) -> list[Section]:
    found = record.objects("sections", {"title": str, "level": int, "start": int, "end": int})
    return [Section(one["title"], one["level"], one["start"], one["end"]) for one in found]


def _scores(record: JsonObject, length: int) -> dict[Span, float]:
    if record.get("scores") is None:
        return {}
    scores: dict[Span, float] = {}
    for first, last, score in record.number_lists("scores", 3):
        if not (isinstance(first, int) and isinstance(last, int) and 0 <= first <= last < length):
            raise record.error(f"'scores' has [{first}, {last}, ...], which is no mention of the {length} words")
        scores[first, last + 1] = score
    return scores


def _of_mentions(record: JsonObject, key: str, shape: str, length: int) -> Iterator[tuple[Span, list[Any]]]:
    """The mentions of a list whose items begin with [first, last], each with the rest of its item."""
    value = record.get(key)
    if not isinstance(value, list | None):
        raise record.error(f"{key!r} must be a list of {shape}")
    for item in value or ():
        first, last, *rest = item if isinstance(item, list) and len(item) == shape.count(",") + 1 else (None, None)
        if type(first) is not int or type(last) is not int or not 0 <= first <= last < length:
            raise record.error(f"{key!r} has [{first}, {last}, ...], which is no mention of the {length} words")
        yield (first, last + 1), rest


def _types(record: JsonObject, length: int) -> dict[Span, TypeScore]:
    types: dict[Span, TypeScore] = {}
    for span, (kind, score) in _of_mentions(record, "types", "[first, last, type, probability]", length):
        if not isinstance(kind, str) or type(score) not in (int, float):
            raise record.error(f"'types' of [{span[0]}, {span[1] - 1}] must be a string and a number")
        types[span] = kind, score
    return types


def _labels(record: JsonObject, length: int) -> dict[Span, MentionLabels]:
    found = _of_mentions(record, "labels", "[first, last, labels]", length)
    return {span: _label(record, span, values) for span, (values,) in found}


def _label(record: JsonObject, span: Span, values: Any) -> MentionLabels:
    first, last = span[0], span[1] - 1
    known = {"types": list, "kind": str, "status": str}
    if not isinstance(values, dict) or any(
        not isinstance(values.get(name, kind()), kind) for name, kind in known.items()
    ):
        raise record.error(f"'labels' of [{first}, {last}] must be an object with types (a list), kind and status")
    types = values.get("types", [])
    if not all(isinstance(name, str) for name in types):
        raise record.error(f"'labels' of [{first}, {last}] has types that are not strings")
    return MentionLabels(tuple(types), values.get("kind"), values.get("status"))


def _quotations(record: JsonObject, length: int) -> list[Quotation]:
    """Without their characters, which follow from the words."""
    given = record.get("quotations")
    if given is None:
        return []
    if not isinstance(given, list):
        raise record.error("'quotations' must be a list")
    return [_read_quotation(record, one, length) for one in given]


def _read_quotation(record: JsonObject, given: Any, length: int) -> Quotation:
    try:
        (first, last), kind, score = given["words"], given["kind"], given["score"]
        whole = first, last, *(given[who] for who in ("speaker", "addressee") if given[who] is not None)
        sound = isinstance(kind, str) and isinstance(score, int | float) and not isinstance(score, bool)
        if not sound or any(type(number) is not int for number in whole) or not 0 <= first <= last < length:
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise record.error(
            "'quotations' must have objects with words ([first, last]), speaker and addressee (numbers of clusters, or "
            "null), kind and score"
        ) from None
    return Quotation(first, last + 1, None, None, given["speaker"], given["addressee"], kind, float(score))
