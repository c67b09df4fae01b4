"""A long text to SQLite, and its main characters from there.

python examples/novel.py NOVEL.txt [MODEL]

The command may be stopped or killed at any time: run it again, and it goes on where it was. The tables are described in
docs/store.md.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

COMMAND = Path(sys.executable).with_name("streamcoref")
CHARACTERS, PARTS = 8, 40
BARS = " ▁▂▃▄▅▆▇█"
# People are those whom the text calls he or she.
MAIN_CHARACTERS = """
    SELECT entities.id, name, size FROM entities
    WHERE EXISTS (SELECT 1 FROM mentions WHERE entity = entities.id AND lower(text) IN ('he', 'him', 'she', 'her'))
    ORDER BY size DESC, entities.id LIMIT ?
"""
TIMELINE = """
    SELECT word_start * ? / (SELECT max(word_end) FROM mentions) AS part, count(*) FROM mentions
    WHERE entity = ? GROUP BY part
"""
OTHER_NAMES = """
    SELECT text FROM mentions WHERE entity = ? AND text <> ? AND length(text) > 4
    GROUP BY text ORDER BY count(*) DESC, text LIMIT 4
"""


def main(novel: Path, model: str = "default") -> int:
    store = novel.with_suffix(".sqlite")
    # The store must be complete before its main characters are known; the command says itself what went wrong.
    status = subprocess.run([COMMAND, "resolve", novel, "-o", store, "--model", model], check=False).returncode
    if status:
        return status
    with closing(sqlite3.connect(store)) as connection:
        for entity, name, size in connection.execute(MAIN_CHARACTERS, (CHARACTERS,)):
            counts = dict(connection.execute(TIMELINE, (PARTS, entity)))
            others = [" ".join(text.split()) for (text,) in connection.execute(OTHER_NAMES, (entity, name))]
            print(
                f"{name[:24]:24} {size:6,} |{bars([counts.get(part, 0) for part in range(PARTS)])}| {', '.join(others)}"
            )
    return 0


def bars(counts: list[int]) -> str:
    """A small timeline; a part with any mention at all has a bar."""
    most = max(counts)
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] for count in counts)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python examples/novel.py NOVEL.txt [MODEL]")
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:3]))
