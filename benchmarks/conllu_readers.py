"""Our CoNLL-U reader next to the packages conllu and udapi, on the OntoGUM files.

    .venv/bin/python benchmarks/conllu_readers.py [FOLDER]

FOLDER is corpora/ontogum/conllu in ../shared, or in $STREAMCOREF_SHARED. Ours and udapi give words and mentions;
conllu gives words and leaves `Entity=` to the caller. The last line is one JSON object: how many times as long as
ours each takes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from streamcoref.formats import read_raw_documents

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
FILES = 40  # the slowest reader needs several seconds for these
REPEATS = 3

Counts = tuple[int, int | None]  # words, mentions


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED / "corpora/ontogum/conllu"
    paths = sorted(folder.glob("*.conllu"))[:FILES]
    if not paths:
        print(f"skipped: no .conllu files in {folder}; name a folder that has some")
        return
    readers: dict[str, Callable[[Sequence[Path]], Counts]] = {
        "streamcoref": read_ours,
        "conllu": read_conllu,
        "udapi": read_udapi,
    }
    # Interleaved, and the best of each: a busy machine slows all alike.
    seconds = dict.fromkeys(readers, float("inf"))
    counts: dict[str, Counts] = {}
    for _ in range(REPEATS):
        for name, reader in readers.items():
            start = time.perf_counter()
            counts[name] = reader(paths)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    table = Table("reader", "words", "mentions", "seconds", "words a second", "times ours")
    for name, (words, mentions) in counts.items():
        table.add_row(
            name,
            f"{words:,}",
            "-" if mentions is None else f"{mentions:,}",
            f"{seconds[name]:.2f}",
            f"{words / seconds[name]:,.0f}",
            f"{seconds[name] / seconds['streamcoref']:.1f}",
        )
    Console().print(table)
    ratios = {f"{name}_over_ours": round(seconds[name] / seconds["streamcoref"], 2) for name in ("conllu", "udapi")}
    print(json.dumps({"files": len(paths), "words": counts["streamcoref"][0], **ratios}))


def read_ours(paths: Sequence[Path]) -> Counts:
    words = mentions = 0
    for path in paths:
        for document in read_raw_documents(path, "conllu"):
            words += len(document.words)
            mentions += sum(len(cluster) for cluster in document.clusters)
    return words, mentions


def read_conllu(paths: Sequence[Path]) -> Counts:
    import conllu

    words = 0
    for path in paths:
        with path.open(encoding="utf-8") as stream:
            for sentence in conllu.parse_incr(stream):
                words += sum(isinstance(token["id"], int) for token in sentence)
    return words, None


def read_udapi(paths: Sequence[Path]) -> Counts:
    from udapi.core.document import Document

    words = mentions = 0
    for path in paths:
        document = Document(str(path))
        words += sum(len(tree.descendants) for tree in document.trees)
        mentions += sum(len(entity.mentions) for entity in document.coref_entities)
    return words, mentions


if __name__ == "__main__":
    main()
