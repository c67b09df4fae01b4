"""What `make demo` runs: the bundled model reads a story, and its answer is held against a reader's.

python examples/demo.py [MODEL]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

import streamcoref
from streamcoref.formats import read_documents, write_documents
from streamcoref.metrics import score_document

EXAMPLES = Path(__file__).resolve().parent
PAGE = EXAMPLES.parent / "build" / "demo.html"
SHOWN, OTHER_NAMES = 12, 5


def main(resolver: streamcoref.Resolver, page: Path = PAGE) -> None:
    console = Console(highlight=False)
    text = (EXAMPLES / "marigold.txt").read_text(encoding="utf-8")
    began = time.perf_counter()
    story = resolver.resolve(text, key="marigold")
    seconds = time.perf_counter() - began
    mentions = sum(entity.size for entity in story.entities)
    title = text.partition("\n")[0]
    console.print(
        f"“{title}”: {len(text.split()):,} words read in {seconds:.1f} s, "
        f"{len(story.entities)} entities with {mentions} mentions.\n"
    )
    console.print(main_entities(story))

    (gold,) = read_documents(EXAMPLES / "marigold.conllu")
    scores = score_document(gold.clusters, story.predicted_clusters or ())
    console.print(f"\nAgainst the entities that a reader marked by hand: CoNLL F1 {100 * scores.conll_f1:.1f}.")

    page.parent.mkdir(parents=True, exist_ok=True)
    write_documents([story], page, "html", force=True)
    shown = page.relative_to(EXAMPLES.parent) if page.is_relative_to(EXAMPLES.parent) else page
    console.print(f"The story with its entities, to open in a browser: {shown}")


def main_entities(story: streamcoref.Document) -> Table:
    table = Table("entity", "mentions", "also called", box=None, pad_edge=False, header_style="bold")
    for entity in sorted(story.entities, key=lambda entity: -entity.size)[:SHOWN]:
        others = dict.fromkeys(
            " ".join(mention.text.split()) for mention in entity.mentions if mention.text != entity.name
        )
        more = ", …" if len(others) > OTHER_NAMES else ""
        table.add_row(Text(entity.name), str(entity.size), Text(", ".join(list(others)[:OTHER_NAMES]) + more))
    return table


if __name__ == "__main__":
    try:
        main(streamcoref.load(*sys.argv[1:2]))
    except streamcoref.StreamcorefError as error:
        sys.exit(f"demo: {error}")
