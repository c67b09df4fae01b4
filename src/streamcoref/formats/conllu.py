"""CoNLL-U with coreference in `Entity=` of MISC, as CorefUD, GUM and OntoGUM have it.

Reading:

- `# newdoc id` begins a document; a file without it is one document named after the file.
- `# global.Entity` names the fields of an opening bracket; the entity is the field `eid` or `GRP`, else the first. The
  fields `etype` and `infstat`, as GUM has them, are labels of the mention.
- The parts of a discontinuous mention, `e5[1/2]` and `e5[2/2]`, become one span from the first word to the last.
- Empty nodes (`8.1`) are not words: a mention only on them is left out, one that reaches beyond keeps its words.
- A range line (`1-2`) is not a word; it gives the characters of its words in the text.
- The text is put together from the words, `SpaceAfter=No`, `SpacesAfter=`, `SpacesBefore=` and `SpacesInToken=`
  (with UDPipe's escapes); `# newpar` begins a paragraph, after a blank line.
- `# speaker` holds for a sentence, `Speaker=` in MISC, our extension, for one word; `# meta::genre` for the document.

The format cannot hold: words that are empty or have a tab or line end; a key or genre with a line end or white space
around it, an empty genre; two crossing mentions of one entity; character offsets that overlap without being equal,
or are empty, or are shared over a sentence end. A document without a text comes back with one. Of gold and
predicted clusters only the predicted are written; scores and labels are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TextIO

from streamcoref.document import Document, Span
from streamcoref.errors import InputError
from streamcoref.formats.base import Format
from streamcoref.formats.brackets import OpenBrackets, bracket_cells
from streamcoref.formats.conllu_text import TextBuilder, escape, surfaces, unescape
from streamcoref.formats.fields import first_bad_word, genre_of, has_any, refuse
from streamcoref.formats.files import plain_name
from streamcoref.formats.raw import RawDocument, from_raw
from streamcoref.mention_labels import MentionLabels

_COLUMNS = 10
_COMMENT = re.compile(
    r"#\s*(?P<name>newdoc|newpar|global\.Entity|speaker|meta::genre)(?P<id>\s+id)?\s*(?:=(?P<value>.*))?"
)
_RANGE = re.compile(r"([0-9]+)-([0-9]+)")
_EMPTY_NODE = re.compile(r"[0-9]+\.[0-9]+")
_BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<single>\))?|(?P<closed>[^()]+)\)")
_PART = re.compile(r"(?P<entity>.+)\[(?P<part>[0-9]+)/(?P<parts>[0-9]+)\]")


class _Building:
    """A document while its lines are read."""

    def __init__(self, key: str, path: Path, line: int) -> None:
        self.key, self.path, self.line = key, path, line
        self.genre = genre_of(key)
        self.words: list[str] = []
        self.sentence_ends: list[int] = []
        self.speakers: list[str] = []
        self.text = TextBuilder()
        self.brackets = OpenBrackets(path)
        # entity -> discontinuous mentions not yet complete: first word, last part seen, parts, line
        self.parts: dict[str, list[tuple[int, int, int, int]]] = {}
        self.open_labels: dict[str, list[MentionLabels]] = {}  # of the open brackets of each entity
        self.labels: dict[Span, MentionLabels] = {}

    def end_sentence(self, line: int) -> None:
        if self.text.range_end is not None:
            raise InputError(f"a range of words ends before its last word, {self.text.range_end}", self.path, line)
        if len(self.words) > (self.sentence_ends[-1] if self.sentence_ends else 0):
            self.sentence_ends.append(len(self.words))

    def read_entity(self, value: str, fields: _Fields, start: int, line: int) -> None:
        """Read the brackets at the word or empty node that starts at word `start` and ends before the next word."""
        position = 0
        while position < len(value):
            match = _BRACKET.match(value, position)
            if match is None:
                raise InputError(f"Entity={value} is not made of brackets like (7, 7) or (7)", self.path, line)
            position = match.end()
            values = (match["opened"] or match["closed"]).split("-")
            entity = fields.entity(values)
            if match["opened"]:
                self.brackets.open(entity, start, line)
                self.open_labels.setdefault(entity, []).append(fields.labels(values))
            if match["closed"] or match["single"]:
                self._close(entity, line)

    def _close(self, bracket: str, line: int) -> None:
        span = self.brackets.close(bracket, len(self.words), line)
        labels = self.open_labels[bracket].pop()
        part = _PART.fullmatch(bracket)
        entity = bracket
        if part:
            entity, number, count = part["entity"], int(part["part"]), int(part["parts"])
            pending = self.parts.setdefault(entity, [])
            opened = (span[0], line)
            if number > 1:
                before = [item for item in pending if item[1:3] == (number - 1, count)]
                if not before:
                    raise InputError(f"'{bracket})' comes without part {number - 1} before it", self.path, line)
                pending.remove(before[-1])
                opened = (before[-1][0], before[-1][3])
            if number < count:
                pending.append((opened[0], number, count, opened[1]))
                return
            span = (opened[0], span[1])
        if span[0] < span[1]:
            self.brackets.add(entity, span)
            if labels:
                self.labels[span] = labels

    def finish(self, line: int) -> RawDocument:
        self.end_sentence(line)
        clusters = self.brackets.finish()
        for entity, pending in self.parts.items():
            for _, number, count, opened in pending:
                raise InputError(f"'{entity}[{number}/{count}]' has no part {number + 1}", self.path, opened)
        text, offsets = self.text.finish()
        return RawDocument(
            key=self.key,
            words=self.words,
            sentence_ends=self.sentence_ends,
            speakers=self.speakers,
            clusters=clusters,
            line=self.line,
            genre=self.genre,
            text=text,
            offsets=offsets,
            labels=self.labels,
        )


class _Fields(NamedTuple):
    """Where in an opening bracket what stands, by the declaration of a file; None where it has no such field."""

    identity: int = 0
    type: int | None = None
    status: int | None = None

    @classmethod
    def of(cls, declaration: str) -> _Fields:
        places = {name: place for place, name in reversed([*enumerate(declaration.split("-"))])}
        identity = next((places[name] for name in ("eid", "GRP") if name in places), 0)
        return cls(identity, places.get("etype"), places.get("infstat"))

    def entity(self, values: list[str]) -> str:
        return values[self.identity] if len(values) > self.identity else values[0]

    def labels(self, values: list[str]) -> MentionLabels:
        return MentionLabels.of(type=_value(values, self.type), status=_value(values, self.status))


def _value(values: list[str], place: int | None) -> str:
    return "" if place is None or place >= len(values) else values[place]


def read(lines: Iterable[str], path: Path) -> Iterator[Document]:
    for raw in read_raw(lines, path):
        yield from_raw(raw, path)


def read_raw(lines: Iterable[str], path: Path) -> Iterator[RawDocument]:
    current: _Building | None = None
    fields, number = _Fields(), 0
    speaker = ""
    for number, raw_line in enumerate(lines, start=1):
        line = raw_line.rstrip("\r\n")
        if not line:
            speaker = ""
            if current:
                current.end_sentence(number)
            continue
        if line[0] == "#":
            comment = _COMMENT.fullmatch(line)
            if comment is None:
                continue
            name, value = comment["name"], (comment["value"] or "").strip()
            if name == "global.Entity":
                fields = _Fields.of(value)
                continue
            if name == "newdoc":
                if current:
                    yield current.finish(number)
                key = _file_key(path) if comment["value"] is None else value
                current = _Building(key, path, number)
                continue
            current = current or _Building(_file_key(path), path, number)
            if name == "newpar":
                current.text.new_paragraph()
            elif name == "speaker":
                speaker = value
            else:
                current.genre = value or None
            continue
        current = current or _Building(_file_key(path), path, number)
        _read_row(current, line, fields, speaker, number)
    if current:
        yield current.finish(number)


def _read_row(current: _Building, line: str, fields: _Fields, speaker: str, number: int) -> None:
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise InputError(f"{len(columns)} columns between tabs where CoNLL-U has {_COLUMNS}", current.path, number)
    name, form, misc = columns[0], columns[1], columns[-1]
    attributes = {} if misc == "_" else dict(item.partition("=")[::2] for item in misc.split("|"))
    entity = attributes.get("Entity", "")
    if name.isdecimal():
        if not form:
            raise InputError("the second column, the word, is empty", current.path, number)
        current.words.append(form)
        own = attributes.get("Speaker")
        current.speakers.append(speaker if own is None else unescape(own))
        current.text.add_word(int(name), form, attributes)
        if entity:
            current.read_entity(entity, fields, len(current.words) - 1, number)
    elif _EMPTY_NODE.fullmatch(name):
        if entity:
            current.read_entity(entity, fields, len(current.words), number)
    elif bounds := _RANGE.fullmatch(name):
        if entity:
            raise InputError(f"Entity={entity} on a range of words; it belongs to the words", current.path, number)
        current.text.add_range(int(bounds[2]), form, attributes)
    else:
        raise InputError(f"the first column has {name!r}; it must be a number, 1-2 or 1.1", current.path, number)


def _file_key(path: Path) -> str:
    return Path(plain_name(path)).stem


def write(documents: Iterable[Document], stream: TextIO) -> None:
    for document in documents:
        _check(document)
        entities = bracket_cells(document, "", FORMAT.name)
        tokens = {token.first: token for token in surfaces(document, FORMAT.name)}
        stream.write(f"# newdoc id = {document.key}\n# global.Entity = GRP\n")
        if document.genre is not None or genre_of(document.key) is not None:
            stream.write(f"# meta::genre = {document.genre or ''}\n")
        if not document.words:
            stream.write("\n")
        for sentence, (start, end) in enumerate(pairwise((0, *document.sentence_ends)), start=1):
            stream.write(f"# sent_id = {document.key}-{sentence}\n")
            speakers = document.speakers[start:end]
            one_speaker = len(set(speakers)) == 1 and _fits_comment(speakers[0])
            if one_speaker and speakers[0]:
                stream.write(f"# speaker = {speakers[0]}\n")
            for i in range(start, end):
                attributes = [f"Entity={entities[i]}"] if i in entities else []
                token = tokens.get(i)
                if token and token.end - i > 1:
                    range_name = f"{i - start + 1}-{token.end - start}"
                    stream.write(_row(range_name, token.form, token.attributes))
                elif token:
                    attributes += token.attributes
                if speakers and not one_speaker:
                    attributes.append(f"Speaker={escape(speakers[i - start])}")
                stream.write(_row(str(i - start + 1), document.words[i], attributes))
            stream.write("\n")


def _row(name: str, form: str, attributes: list[str]) -> str:
    return "\t".join((name, form, *"_" * (_COLUMNS - 3), "|".join(attributes) or "_")) + "\n"


def _fits_comment(value: str) -> bool:
    return value == value.strip() and not has_any(value, "\r\n")


def _check(document: Document) -> None:
    if not _fits_comment(document.key):
        raise refuse(document, "the key has a line end or white space around it", FORMAT.name)
    if document.genre is not None and not (document.genre and _fits_comment(document.genre)):
        raise refuse(document, f"the genre is {document.genre!r}", FORMAT.name)
    bad = first_bad_word(document.words, "\t\r\n")
    if bad is not None:
        raise refuse(document, f"word {bad} is {document.words[bad]!r}", FORMAT.name)


def matches(_name: str, lines: list[str]) -> bool:
    """By the comments before the first row, or by the row."""
    for line in lines:
        if not line.startswith("#") and line.strip():
            return line.count("\t") == _COLUMNS - 1 and re.match(r"[0-9]+([.-][0-9]+)?\t", line) is not None
        if re.match(r"#\s*(newdoc(\s+id\s*=|\s*$)|sent_id\s*=|global\.Entity\s*=)", line):
            return True
    return False


FORMAT = Format(
    name="conllu",
    description="CoNLL-U with Entity= (CorefUD, GUM, OntoGUM)",
    endings=(".conllu",),
    read=read,
    read_raw=read_raw,
    write=write,
    matches=matches,
    precedence=50,
)
