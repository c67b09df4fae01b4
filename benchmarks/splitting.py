"""How well the rule-based splitter finds the corpora's own words and sentences, and how fast it is.

    python benchmarks/splitting.py            # the corpora are looked for in ../shared or $STREAMCOREF_SHARED

OntoGUM's text is rebuilt from SpaceAfter, with a blank line where a paragraph begins. LitBank has only words, so
its text is rebuilt by joining them as a printer would; it has no paragraphs left.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from pathlib import Path

from streamcoref.text import split_text

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CLOSING = re.compile(r"[.,;:!?)\]”’%]|n['’]t|['’](?:s|re|ve|ll|d|m)|\.{2,}|-{2,}|—", re.IGNORECASE)
OPENING = frozenset("( [ “ ‘ $ £ -- —".split())

Sentence = tuple[str, list[tuple[str, str]]]  # what goes before it; its words, each with the blank after it


def ontogum(path: Path) -> list[Sentence]:
    """The sentences of one OntoGUM file."""
    sentences: list[Sentence] = []
    before, inside, last_inside = " ", "", -1
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("# newpar"):
            before = "\n\n"
        elif line.startswith("# sent_id"):
            sentences.append((before if sentences else "", []))
            before = " "
        elif len(cells) == 10 and "." not in cells[0]:
            if "-" in cells[0]:  # the words of a multi-word token have no blanks between them
                last_inside = int(cells[0].split("-")[1])
                inside = "" if "SpaceAfter=No" in cells[9] else " "
                continue
            number = int(cells[0])
            blank = "" if "SpaceAfter=No" in cells[9] or number < last_inside else " "
            if number == last_inside:
                blank, last_inside = inside, -1
            sentences[-1][1].append((cells[1], blank))
    return sentences


def litbank(path: Path) -> list[Sentence]:
    """The sentences of one LitBank file, with blanks where print has them."""
    words: list[list[str]] = [[]]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line.strip():
            words[-1].append(line.split("\t")[3])
        elif words[-1]:
            words.append([])
    sentences: list[Sentence] = []
    in_quotes = False
    for sentence in filter(None, words):
        result: list[tuple[str, str]] = []
        for word, following in zip(sentence, [*sentence[1:], ""], strict=True):
            blank = "" if word in OPENING or CLOSING.fullmatch(following) else " "
            if word == '"':
                in_quotes = not in_quotes
                if in_quotes:
                    blank = ""
            if following == '"' and in_quotes:
                blank = ""
            result.append((word, blank))
        sentences.append((" " if sentences else "", result))
    return sentences


def rebuilt(sentences: list[Sentence]) -> tuple[str, set[tuple[int, int]], set[int]]:
    """Text, the spans of its words, and the ends of its sentences, all in characters."""
    text = ""
    words: set[tuple[int, int]] = set()
    ends: set[int] = set()
    for before, sentence in sentences:
        text = text.rstrip(" ") + before
        for word, blank in sentence:
            words.add((len(text), len(text) + len(word)))
            text += word + blank
        ends.add(max(end for _, end in words))
    return text, words, ends


def f1(found: int, gold: int, right: int) -> float:
    return 2 * right / (found + gold)


def measure(name: str, documents: list[list[Sentence]]) -> None:
    counts = Counter[str]()
    seconds = 0.0
    for document in documents:
        text, words, ends = rebuilt(document)
        began = time.perf_counter()
        offsets, found_ends = split_text(text)
        seconds += time.perf_counter() - began
        sentence_ends = {offsets[end - 1][1] for end in found_ends}
        counts.update(
            characters=len(text),
            gold_words=len(words),
            words=len(offsets),
            right_words=len(words & set(offsets)),
            gold_ends=len(ends),
            ends=len(sentence_ends),
            right_ends=len(ends & sentence_ends),
        )
    word_f1 = f1(counts["words"], counts["gold_words"], counts["right_words"])
    end_f1 = f1(counts["ends"], counts["gold_ends"], counts["right_ends"])
    print(
        f"{name:14} words {counts['gold_words']:8,}  word F1 {word_f1:.4f}  sentences {counts['gold_ends']:6,}  "
        f"sentence-end F1 {end_f1:.4f}  {counts['characters'] / seconds / 1e6:.2f} million characters a second"
    )


def main() -> None:
    corpora = SHARED / "corpora"
    if not corpora.is_dir():
        print(f"no corpora in {SHARED}: set STREAMCOREF_SHARED to the folder that has them")
        return
    for corpus, folder, suffix, reader in (
        ("ontogum", "conllu", ".conllu", ontogum),
        ("litbank", "conll", ".conll", litbank),
    ):
        for part in ("train", "dev"):
            names = (corpora / corpus / f"{part}.ids").read_text(encoding="utf-8").split()
            measure(f"{corpus} {part}", [reader(corpora / corpus / folder / f"{name}{suffix}") for name in names])


if __name__ == "__main__":
    main()
