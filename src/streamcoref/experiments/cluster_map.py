"""`clusters`, the paper's Figure 2: the span vectors of one document on a plane, coloured by predicted entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from torch import Tensor

from streamcoref.checked import Options
from streamcoref.corpora import corpus_files, read_corpus
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import settle
from streamcoref.evaluation.report import Table, markdown
from streamcoref.experiments.base import Cell, Experiment, Found, Progress, Values
from streamcoref.experiments.options import CorpusChoice, ModelChoice, RunChoice, identity
from streamcoref.experiments.plot import Plot, Series
from streamcoref.experiments.span_records import span_records

CELL = "map"
NOT_ANNOTATED = -1  # the gold cluster of a span that is no gold mention, as in the paper
_FEWEST = 5  # spans: fewer have no neighbourhoods to preserve
_LABELLED = 80  # spans: with more of them, singletons are labelled only on the page


class ClusterMapOptions(Options):
    model: ModelChoice
    corpus: CorpusChoice
    document: str  # its key
    words: PositiveInt | None = None  # only so many from the start, to the end of the sentence
    perplexity: PositiveFloat = 30.0
    seed: NonNegativeInt = 1
    run: RunChoice = RunChoice()


def inputs(options: ClusterMapOptions) -> list[Path]:
    return [*options.model.files(), *corpus_files(options.corpus.path)]


def cells(options: ClusterMapOptions, _: Path) -> list[Cell]:
    def work(_: Progress) -> Values:
        document = beginning(_find(options), options.words)
        checkpoint = options.model.load()
        scheme = settle(options.corpus.corpus(), checkpoint.config).scheme
        records, vectors = span_records(checkpoint, document, scheme)
        if len(records) < _FEWEST:
            raise StreamcorefError(
                f"document {document.key!r}: the model keeps {len(records)} spans of it, too few for a map; "
                "choose a longer one"
            )
        gold = {span: number for number, cluster in enumerate(document.clusters) for span in cluster}
        places = embed(vectors, options.perplexity, options.seed)
        return {
            "document": document.key,
            "text": " ".join(document.words),
            "spans": [
                {
                    "words": list(record.span),
                    "text": document.span_text(record.span),
                    "entity": record.entity,
                    "gold": gold.get(record.span, NOT_ANNOTATED),
                    "alpha": record.share,
                    "x": x,
                    "y": y,
                }
                for record, (x, y) in zip(records, places, strict=True)
            ],
        }

    return [Cell(CELL, work)]


def _find(options: ClusterMapOptions) -> Document:
    seen = []
    for document in read_corpus(options.corpus.path, options.corpus.format):
        if document.key == options.document:
            return document
        seen.append(document.key)
    shown = ", ".join(seen[:5]) + (f" and {len(seen) - 5} more" if len(seen) > 5 else "")
    raise StreamcorefError(f"{options.corpus.path} has no document {options.document!r}; it has {shown or 'none'}")


def beginning(document: Document, words: int | None) -> Document:
    """The first sentences, until there are so many words; mentions beyond them are left out."""
    if words is None or words >= len(document.words):
        return document
    end = next(end for end in document.sentence_ends if end >= words)
    return Document.from_sentences(
        document.key,
        [document.words[a:b] for a, b in pairwise((0, *(e for e in document.sentence_ends if e <= end)))],
        [[span for span in cluster if span[1] <= end] for cluster in document.clusters],
        speakers=document.speakers[:end],
        genre=document.genre,
    )


def embed(vectors: Tensor, perplexity: float, seed: int) -> list[tuple[float, float]]:
    """t-SNE to the plane. The perplexity is lowered where there are too few points for it."""
    from openTSNE import TSNE

    highest = (len(vectors) - 1) / 3
    tsne = TSNE(perplexity=min(perplexity, highest), random_state=seed, n_jobs=1, initialization="pca")
    return [(float(x), float(y)) for x, y in tsne.fit(vectors.double().cpu().numpy())]


def _label(span: Values) -> str:
    """As in the paper: the text, and in parentheses the gold cluster and the share."""
    return f"{span['text']} ({span['gold']}, {span['alpha']:.2f})"


def _entities(spans: list[Values]) -> Iterator[tuple[str, int | None, list[Values]]]:
    """Name, colour and spans of each predicted entity, singletons together at the end."""
    sizes = Counter(span["entity"] for span in spans)
    several = [entity for entity, size in sizes.items() if size > 1]
    for colour, entity in enumerate(several):
        members = [span for span in spans if span["entity"] == entity]
        yield max((span["text"] for span in members), key=len), colour, members
    singletons = [span for span in spans if sizes[span["entity"]] == 1]
    if singletons:
        yield "singletons", None, singletons


def page(options: ClusterMapOptions, found: Found) -> str:
    spans = found[CELL]["spans"]
    sizes = Counter(span["entity"] for span in spans)
    rows = [
        [str(span["entity"]), span["text"], str(span["gold"]), f"{span['alpha']:.3f}"]
        for span in sorted(spans, key=lambda span: (span["entity"], span["words"]))
        if sizes[span["entity"]] > 1
    ]
    alone = sum(size == 1 for size in sizes.values())
    table = Table("Predicted entities", ["entity", "span", "gold cluster", "normalised alpha"], [rows])
    return (
        f"# Span vectors of {found[CELL]['document']} (the paper's Figure 2)\n\n"
        f"{len(spans)} spans that {options.model.name} kept, t-SNE with perplexity {options.perplexity:g} and seed "
        f"{options.seed}; {alone} of them are predicted singletons, grey in the plot. The gold cluster is "
        f"{NOT_ANNOTATED} where the span is not annotated. The normalised alpha is the span's share of its entity's "
        f"vector at the end.\n\n{markdown(table)}\n> {found[CELL]['text']}\n"
    )


def plots(_: ClusterMapOptions, found: Found) -> list[Plot]:
    spans = found[CELL]["spans"]
    series = []
    for name, colour, members in _entities(spans):
        labels = [_label(span) for span in members]
        series.append(
            Series(
                name,
                [span["x"] for span in members],
                [span["y"] for span in members],
                hover=labels,
                labels=labels if colour is not None or len(spans) <= _LABELLED else (),
                colour=colour,
            )
        )
    title = f"Spans of {found[CELL]['document']}: text (gold cluster, normalised alpha)"
    return [Plot("clusters", title, "t-SNE 1", "t-SNE 2", series)]


CLUSTERS = Experiment("clusters", ClusterMapOptions, identity, inputs, cells, page, plots)
