"""The tables of a store, and their rows as values. docs/store.md describes them, with example queries."""

from __future__ import annotations

from dataclasses import dataclass, fields

from streamcoref.document import Mention, Quotation, Section

APPLICATION = 0x53434F52  # "SCOR" in the header of the file: what tells our stores from other databases
VERSION = 4

SCHEMA = (
    """CREATE TABLE input (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        path TEXT NOT NULL,
        size INTEGER,
        sha256 TEXT NOT NULL,
        model TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        options TEXT NOT NULL,
        bytes_read INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        characters INTEGER NOT NULL,
        words INTEGER NOT NULL,
        decoder TEXT NOT NULL,
        state BLOB,
        done INTEGER NOT NULL
    )""",
    """CREATE TABLE entities (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        size INTEGER NOT NULL,
        start INTEGER,
        end INTEGER,
        word_start INTEGER NOT NULL,
        word_end INTEGER NOT NULL,
        type TEXT,
        type_score REAL,
        finished INTEGER NOT NULL
    )""",
    """CREATE TABLE mentions (
        entity INTEGER NOT NULL REFERENCES entities (id),
        start INTEGER,
        end INTEGER,
        word_start INTEGER NOT NULL,
        word_end INTEGER NOT NULL,
        text TEXT NOT NULL,
        sentence INTEGER NOT NULL,
        score REAL
    )""",
    """CREATE TABLE sections (
        title TEXT NOT NULL,
        level INTEGER NOT NULL,
        start INTEGER NOT NULL,
        end INTEGER
    )""",
    "CREATE INDEX sections_by_place ON sections (start)",
    """CREATE TABLE quotations (
        start INTEGER,
        end INTEGER,
        word_start INTEGER NOT NULL,
        word_end INTEGER NOT NULL,
        speaker INTEGER REFERENCES entities (id),
        addressee INTEGER REFERENCES entities (id),
        kind TEXT NOT NULL,
        score REAL NOT NULL
    )""",
    """CREATE TABLE merges (
        gone INTEGER PRIMARY KEY,
        kept INTEGER NOT NULL REFERENCES entities (id)
    )""",
    # Who left the memory, while the text is being read: see store/register_table.py.
    """CREATE TABLE register (
        entity INTEGER PRIMARY KEY,
        record BLOB NOT NULL,
        tracked BLOB
    )""",
    """CREATE TABLE register_words (
        word INTEGER NOT NULL,
        size INTEGER NOT NULL,
        entity INTEGER NOT NULL,
        PRIMARY KEY (word, size DESC, entity)
    ) WITHOUT ROWID""",
    # What the rows of each table amount to: see store/digests.py.
    """CREATE TABLE digests (
        name TEXT PRIMARY KEY,
        sum BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX entities_by_size ON entities (size DESC, id)",
    "CREATE INDEX entities_by_name ON entities (name COLLATE NOCASE)",
    "CREATE INDEX mentions_by_entity ON mentions (entity, word_start)",
    "CREATE INDEX mentions_by_place ON mentions (word_start)",
    "CREATE INDEX quotations_by_addressee ON quotations (addressee)",
    "CREATE INDEX merges_by_kept ON merges (kept)",
    "CREATE INDEX quotations_by_speaker ON quotations (speaker, word_start)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

# Only in a store of a book, whose text was taken out of its file: in parts, by the characters at which they start.
TEXT_TABLE = """CREATE TABLE text (
        start INTEGER PRIMARY KEY,
        characters TEXT NOT NULL
    )"""

# Those that have a digest, as `text` has if it is there.
TABLES = ("input", "entities", "mentions", "sections", "quotations", "merges", "register", "register_words")


@dataclass(frozen=True, slots=True)
class StoreOrigin:
    """What a store is made from; all but `path` and `model`, which are only for people, must stay the same.

    `size` and `sha256` are of the whole text. Of a pipe, whose end nobody knows, `size` is None and `sha256` that of
    the bytes read so far. `fingerprint` is the model's, `options` a JSON object.
    """

    path: str
    size: int | None
    sha256: str
    model: str
    fingerprint: str
    options: str


@dataclass(frozen=True, slots=True)
class ReadingPosition:
    """How far the text has been read, what the decoder holds of a character cut in two, and the stream's state."""

    bytes_read: int = 0
    lines: int = 0
    characters: int = 0
    words: int = 0
    decoder: str = ""
    state: bytes | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """A row of `entities`: from the start of its first mention to the end of its latest.

    What it is, `type`, is known when it is finished, if the model tells types at all.
    """

    id: int
    name: str
    size: int
    start: int | None
    end: int | None
    word_start: int
    word_end: int
    type: str | None
    type_score: float | None
    finished: bool


def columns(row: type[StoreOrigin | ReadingPosition | StoredEntity | Mention | Section | Quotation]) -> str:
    """The names of a row's columns, for a statement."""
    return ", ".join(field.name for field in fields(row))
