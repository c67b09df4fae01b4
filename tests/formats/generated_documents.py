"""Documents for property tests: nested, crossing and repeated mentions, speakers, words of any script."""

from __future__ import annotations

import io
from pathlib import Path

from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.formats.base import Format

# Letters that stress readers: separators of other notations, white space that is not ours, astral characters.
_NASTY = list("()|-_#=\\/.?[]{}*\"'1a") + [chr(c) for c in (0xA0, 0x85, 0x2028, 0x3000, 0x0301, 0x1F600, 0x1C)]
_CHARACTERS = st.one_of(st.sampled_from(_NASTY), st.characters(exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")))
WORDS = st.text(_CHARACTERS, min_size=1, max_size=6).filter(lambda word: word not in ("/.", "/?"))
SPEAKERS = st.sampled_from(["", "Ann", "Bob", "_x_", "M. Élan".replace(" ", "_")])
KEYS = st.one_of(
    st.sampled_from(["a", "nw/x/00", "nw/x/00_3", "a_007", "a_0", "a_1234", "#b", "c (d); part 1", "", "_5"]),
    st.text(_CHARACTERS, max_size=8).map(str.strip),
)
NO_GENRE = st.none()
GAPS = st.sampled_from(["", " ", "\n", "\n\n", " \t", "\r\n", "|", "\\s", " — "])


@st.composite
def spans(draw: st.DrawFn, length: int) -> tuple[int, int]:
    start = draw(st.integers(0, length - 1))
    return start, draw(st.integers(start + 1, min(length, start + 5)))


@st.composite
def documents(
    draw: st.DrawFn,
    words: st.SearchStrategy[str] = WORDS,
    speakers: st.SearchStrategy[str] | None = SPEAKERS,
    genres: st.SearchStrategy[str | None] = NO_GENRE,
    texts: bool = False,
) -> Document:
    sentences = draw(st.lists(st.lists(words, min_size=1, max_size=6), max_size=4))
    flat = [word for sentence in sentences for word in sentence]
    clusters = draw(st.lists(st.lists(spans(len(flat)), max_size=4), max_size=4)) if flat else []
    names: list[str] = []
    if speakers is not None and draw(st.booleans()):
        names = [draw(speakers) for _ in flat]
    text, offsets = None, []
    if texts and flat:
        text = draw(GAPS)
        for word in flat:
            surface = draw(st.sampled_from([word, word, f"{word}\n{word}"]))
            offsets.append((len(text), len(text) + len(surface)))
            text += surface + draw(GAPS)
    ends = [sum(len(s) for s in sentences[: i + 1]) for i in range(len(sentences))]
    return Document(
        key=draw(KEYS),
        words=tuple(flat),
        sentence_ends=tuple(ends),
        clusters=tuple(tuple(c) for c in clusters),
        speakers=tuple(names) if any(names) else (),
        genre=draw(genres),
        text=text,
        offsets=tuple(offsets),
    )


def crosses(document: Document) -> bool:
    """Whether two mentions of one entity cross by more than one word."""
    return any(a < c < b - 1 and b < d for cluster in document.clusters for a, b in cluster for c, d in cluster)


def written(format_: Format, *given: Document) -> str:
    assert format_.write is not None
    stream = io.StringIO(newline="")
    format_.write(given, stream)
    return stream.getvalue()


def read(format_: Format, text: str, name: str = "file") -> list[Document]:
    assert format_.read is not None
    return list(format_.read(io.StringIO(text, newline="\n"), Path(name)))


def content(document: Document) -> tuple[object, ...]:
    """What every format keeps."""
    return document.key, document.words, document.sentence_ends, document.speakers, document.clusters
