"""A long text to a store, and its main characters from there.

python examples/novel.py NOVEL.txt [MODEL]

The script may be stopped or killed at any time: run it again, and it goes on where it was. The store is an SQLite file,
described in docs/store.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import streamcoref
from streamcoref.store import ReadingProgress, Store, StoredEntity

CHARACTERS, PARTS, OTHER_NAMES = 8, 40, 4
BARS = " ▁▂▃▄▅▆▇█"
PEOPLE = {"he", "him", "she", "her"}


def main(novel: Path, model: str | None = None) -> None:
    with streamcoref.resolve_file(novel, novel.with_suffix(".sqlite"), model=model, on_progress=show) as store:
        people = (entity for entity in store.entities() if is_person(store, entity))
        for entity in islice(people, CHARACTERS):
            timeline = bars(store.timeline(entity.id, PARTS))
            print(f"{entity.name[:24]:24} {entity.size:6,} |{timeline}| {', '.join(other_names(store, entity))}")


def show(progress: ReadingProgress) -> None:
    print(f"\r{progress.words:,} words, {progress.entities:,} entities alive ", end="", file=sys.stderr)


def is_person(store: Store, entity: StoredEntity) -> bool:
    """People are those whom the text calls he or she."""
    return any(mention.text.lower() in PEOPLE for mention in store.mentions(entity.id))


def other_names(store: Store, entity: StoredEntity) -> list[str]:
    """What else it is called, most often first; pronouns are too short to be names."""
    texts = Counter(" ".join(mention.text.split()) for mention in store.mentions(entity.id))
    return [text for text, _ in texts.most_common() if text != entity.name and len(text) > 4][:OTHER_NAMES]


def bars(counts: list[int]) -> str:
    """A small timeline; a part with any mention at all has a bar."""
    most = max(counts)
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] for count in counts)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python examples/novel.py NOVEL.txt [MODEL]")
    try:
        main(Path(sys.argv[1]), *sys.argv[2:3])
    except streamcoref.StreamcorefError as error:
        sys.exit(f"novel: {error}")
