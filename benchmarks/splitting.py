"""Our rules for words and sentences next to other splitters, on the corpora's own words and sentence ends.

    .venv/bin/python benchmarks/splitting.py     # the corpora are looked for in ../shared or $STREAMCOREF_SHARED

OntoGUM's text is rebuilt from SpaceAfter, with a blank line where a paragraph begins. LitBank has only words, so
its text is rebuilt by joining them as a printer would; it has no paragraphs left. Every splitter is given one
paragraph at a time, so that knowing what a blank line means is nobody's advantage. The others come with the extra
`bench`: nupunkt, pysbd, syntok, spacy (a blank English pipeline with its sentencizer) and nltk, whose Punkt learns its
abbreviations from the train parts here, as its own model would be a download. One that is not installed is left out
and named. Times are processor times, the best of three turns; in each turn all splitters run one after another. Ours
always finds words and sentences. The last line is one JSON object.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from streamcoref.text import split_text

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CLOSING = re.compile(r"[.,;:!?)\]”’%]|n['’]t|['’](?:s|re|ve|ll|d|m)|\.{2,}|-{2,}|—", re.IGNORECASE)
OPENING = frozenset("( [ “ ‘ $ £ -- —".split())
QUOTES = frozenset("\" '".split())
TURNS = 3

Span = tuple[int, int]
Splitter = Callable[[str], Iterable[Span]]
Measured = dict[str, tuple[float, list[list[Span]]]]  # of each corpus: seconds, and the spans found in each text
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
    inside: set[str] = set()  # the straight quotes that are open
    for sentence in filter(None, words):
        result: list[tuple[str, str]] = []
        for word, following in zip(sentence, [*sentence[1:], ""], strict=True):
            blank = "" if word in OPENING or CLOSING.fullmatch(following) else " "
            if word in QUOTES and (word == '"' or word in inside or following[:1].isupper()):  # else "the boys' hats"
                inside ^= {word}
                if word in inside:
                    blank = ""
            if following in inside or (following == "'" and word.endswith("s")):
                blank = ""
            result.append((word, blank))
        sentences.append((" " if sentences else "", result))
    return sentences


def rebuilt(sentences: list[Sentence]) -> tuple[str, set[Span], set[int]]:
    """Text, the spans of its words, and the ends of its sentences, all in characters."""
    text = ""
    words: set[Span] = set()
    ends: set[int] = set()
    for before, sentence in sentences:
        text = text.rstrip(" ") + before
        for word, blank in sentence:
            words.add((len(text), len(text) + len(word)))
            text += word + blank
        ends.add(max(end for _, end in words))
    return text, words, ends


def f1(found: set[Span], gold: set[Span]) -> float:
    return 2 * len(found & gold) / (len(found) + len(gold))


def paragraphs(text: str) -> list[tuple[int, str]]:
    """The paragraphs of a text, each with the place where it begins."""
    return [(match.start(), match[0]) for match in re.finditer(r"(?s).+?(?=\n\n|\Z)", text)]


def sentence_splitters(training_text: str) -> dict[str, Splitter]:
    """Those that are installed; each takes a text and gives the spans of its sentences, blanks at the ends allowed."""

    def ours() -> Splitter:
        def split(text: str) -> list[Span]:
            words, ends = split_text(text)
            return [(words[begin][0], words[end - 1][1]) for begin, end in zip([0, *ends], ends, strict=False)]

        return split

    def nupunkt() -> Splitter:
        import nupunkt

        return nupunkt.sentence_spans

    def pysbd() -> Splitter:
        import pysbd

        segmenter = pysbd.Segmenter(language="en", clean=False, char_span=True)
        return lambda text: [(span.start, span.end) for span in segmenter.segment(text)]

    def syntok() -> Splitter:
        from syntok import segmenter

        return lambda text: [
            (sentence[0].offset, sentence[-1].offset + len(sentence[-1].value))
            for paragraph in segmenter.analyze(text)
            for sentence in paragraph
        ]

    def spacy() -> Splitter:
        import spacy

        pipeline = spacy.blank("en")
        pipeline.add_pipe("sentencizer")
        return lambda text: [(sentence.start_char, sentence.end_char) for sentence in pipeline(text).sents]

    def nltk() -> Splitter:
        from nltk.tokenize.punkt import PunktSentenceTokenizer

        return PunktSentenceTokenizer(training_text).span_tokenize

    return installed(
        {
            "streamcoref": ours,
            "nupunkt": nupunkt,
            "pysbd": pysbd,
            "syntok": syntok,
            "spaCy sentencizer": spacy,
            "NLTK Punkt, trained here": nltk,
        }
    )


def word_splitters() -> dict[str, Splitter]:
    """Those that are installed; each takes a text and gives the spans of its words."""

    def ours() -> Splitter:
        return lambda text: split_text(text)[0]

    def nupunkt() -> Splitter:
        import nupunkt

        return nupunkt.word_spans

    def syntok() -> Splitter:
        from syntok.tokenizer import Tokenizer

        tokenizer = Tokenizer()
        return lambda text: [(t.offset, t.offset + len(t.value)) for t in tokenizer.tokenize(text)]

    def spacy() -> Splitter:
        import spacy

        tokenizer = spacy.blank("en").tokenizer
        return lambda text: [(t.idx, t.idx + len(t)) for t in tokenizer(text) if not t.is_space]

    def nltk() -> Splitter:
        from nltk.tokenize import NLTKWordTokenizer

        return NLTKWordTokenizer().span_tokenize

    return installed(
        {
            "streamcoref": ours,
            "spaCy": spacy,
            "NLTK Treebank": nltk,
            "syntok": syntok,
            "nupunkt": nupunkt,
        }
    )


def installed(makers: dict[str, Callable[[], Splitter]]) -> dict[str, Splitter]:
    splitters: dict[str, Splitter] = {}
    for name, make in makers.items():
        try:
            splitters[name] = make()
        except ModuleNotFoundError as error:
            print(f"left out: {name}, as {error.name} is not installed: pip install 'streamcoref[bench]'")
    return splitters


def seconds_and_spans(splitter: Splitter, texts: Sequence[str]) -> tuple[float, list[list[Span]]]:
    """Processor time for all texts; what is found is kept as it comes and looked at afterwards."""
    began = time.process_time()
    found = [list(splitter(text)) for text in texts]
    return time.process_time() - began, found


def compare(splitters: dict[str, Splitter], texts: dict[str, list[str]]) -> dict[str, Measured]:
    """Of each splitter, and of each corpus: seconds, and the spans found in each text."""
    best: dict[str, Measured] = {name: {} for name in splitters}
    for _ in range(TURNS):
        for corpus, given in texts.items():
            for name, splitter in splitters.items():
                seconds, found = seconds_and_spans(splitter, given)
                best[name][corpus] = min(seconds, best[name].get(corpus, (seconds, found))[0]), found
    return best


def sentence_ends(spans: Iterable[Span], text: str) -> set[Span]:
    """Where sentences end, as empty spans, blanks behind them left out."""
    ends = {start + len(text[start:end].rstrip()) for start, end in spans if text[start:end].strip()}
    return {(end, end) for end in ends}


def rows(
    measured: dict[str, Measured],
    gold: dict[str, set[Span]],
    found: Callable[[str, list[list[Span]]], set[Span]],
    words: int,
) -> dict[str, dict[str, float]]:
    """Of each splitter: F1 on each corpus, its time over ours on all corpora together, and its speed."""
    seconds = {name: sum(time for time, _ in corpora.values()) for name, corpora in measured.items()}
    return {
        name: {
            **{f"{corpus}_f1": round(f1(found(corpus, corpora[corpus][1]), gold[corpus]), 4) for corpus in gold},
            "time_over_ours": round(seconds[name] / seconds["streamcoref"], 2),
            "words_a_second": round(words / seconds[name], -3),
        }
        for name, corpora in measured.items()
    }


def show(title: str, figures: dict[str, dict[str, float]]) -> None:
    table = Table("splitter", "OntoGUM F1", "LitBank F1", "time over ours", "words a second", title=title)
    for name, row in figures.items():
        table.add_row(
            name,
            f"{row['ontogum_f1']:.4f}",
            f"{row['litbank_f1']:.4f}",
            f"{row['time_over_ours']:.2f}",
            f"{row['words_a_second']:,.0f}",
        )
    Console(width=100).print(table)


def main() -> None:
    corpora = SHARED / "corpora"
    if not corpora.is_dir():
        print(f"skipped: no corpora in {SHARED}; set STREAMCOREF_SHARED to the folder that has them")
        return
    training: list[str] = []
    texts: dict[str, list[str]] = {}
    places: dict[str, list[int]] = {}  # where each text begins, so that no two spans of a corpus are the same
    gold_words: dict[str, set[Span]] = {}
    gold_ends: dict[str, set[Span]] = {}
    for corpus, folder, suffix, reader in (
        ("ontogum", "conllu", ".conllu", ontogum),
        ("litbank", "conll", ".conll", litbank),
    ):
        for part in ("train", "dev"):
            names = (corpora / corpus / f"{part}.ids").read_text(encoding="utf-8").split()
            documents = [rebuilt(reader(corpora / corpus / folder / f"{name}{suffix}")) for name in names]
            if part == "train":
                training += [text for text, _, _ in documents]
                continue
            texts[corpus], places[corpus], gold_words[corpus], gold_ends[corpus] = [], [], set(), set()
            position = 0
            for text, words, ends in documents:
                for start, paragraph in paragraphs(text):
                    texts[corpus].append(paragraph)
                    places[corpus].append(position + start)
                gold_words[corpus] |= {(position + a, position + b) for a, b in words}
                gold_ends[corpus] |= {(position + end, position + end) for end in ends}
                position += len(text)

    def moved(corpus: str, found: Iterable[Iterable[Span]]) -> set[Span]:
        return {(place + a, place + b) for place, spans in zip(places[corpus], found, strict=True) for a, b in spans}

    def found_ends(corpus: str, found: list[list[Span]]) -> set[Span]:
        return moved(corpus, [sentence_ends(s, text) for s, text in zip(found, texts[corpus], strict=True)])

    count = sum(len(words) for words in gold_words.values())
    sentences = rows(compare(sentence_splitters("\n\n".join(training)), texts), gold_ends, found_ends, count)
    show(f"sentence ends: {', '.join(f'{len(ends):,} in {name}' for name, ends in gold_ends.items())} dev", sentences)
    single_words = rows(compare(word_splitters(), texts), gold_words, moved, count)
    show(f"words: {', '.join(f'{len(spans):,} in {name}' for name, spans in gold_words.items())} dev", single_words)
    print(json.dumps({"sentence_ends": sentences, "words": single_words}))


if __name__ == "__main__":
    main()
