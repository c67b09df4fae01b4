"""`segments`, the paper's Table 4: models trained with segments of one length, used with segments of another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

from pydantic import Field, PositiveInt, model_validator

from streamcoref.checked import Options
from streamcoref.evaluation.changes import with_eviction, with_segment_length
from streamcoref.evaluation.report import Table, markdown
from streamcoref.experiments.base import Cell, Experiment, Found, Progress, Values, key
from streamcoref.experiments.evaluating import evaluate_cell
from streamcoref.experiments.options import CorpusChoice, ExperimentOptions, corpora_inputs, device, identity
from streamcoref.experiments.paper import TABLE_4, TABLE_4_INFERENCE
from streamcoref.experiments.plot import Plot, Series
from streamcoref.experiments.training_runs import (
    base_recipe,
    changed_recipe,
    recipe_identity,
    recipe_inputs,
    tidy_run,
    train_run,
)
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint
from streamcoref.model.evict import NoEvictionOptions
from streamcoref.model.segments import SentencesAs


class Length(Options):
    """So many sentences a segment, or so many pieces."""

    sentences: PositiveInt | None = None
    pieces: int | None = Field(default=None, ge=8)

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.sentences is None) == (self.pieces is None):
            raise ValueError("give either sentences or pieces")
        return self

    @property
    def name(self) -> str:
        if self.sentences is None:
            return f"{self.pieces} pieces"
        return f"{self.sentences} sentence{'' if self.sentences == 1 else 's'}"


LENGTHS = (*(Length(sentences=n) for n in (1, 5, 10)), *(Length(pieces=n) for n in (128, 256, 384, 512)))


class SegmentLengthOptions(ExperimentOptions):
    recipe: Path
    settings: tuple[str, ...] = ()  # changes to the recipe, such as `training.epochs=3`
    train: tuple[Length, ...] = Field(LENGTHS, min_length=1)
    inference: tuple[Length, ...] = Field(LENGTHS, min_length=1)
    most_pieces: int = Field(default=512, ge=8)  # of a segment of so many sentences
    sentences_as: SentencesAs = "counted"  # "published": as the paper's code counts them


def experiment_identity(options: SegmentLengthOptions) -> Values:
    return identity(options) | {"recipe": recipe_identity(base_recipe(options.recipe, options.settings))}


def inputs(options: SegmentLengthOptions) -> list[Path]:
    recipe = base_recipe(options.recipe, options.settings)
    return list(dict.fromkeys([*recipe_inputs(recipe), *corpora_inputs(options)]))


def segments_of(length: Length, most_pieces: int, sentences_as: SentencesAs = "counted") -> Values:
    pieces, sentences = length.pieces or most_pieces, length.sentences
    return {"max_pieces": pieces, "max_sentences": sentences, "sentences_as": sentences_as}


def with_segments(
    checkpoint: Checkpoint, length: Length, most_pieces: int, sentences_as: SentencesAs = "counted"
) -> Checkpoint:
    values = segments_of(length, most_pieces, sentences_as)
    changed = with_segment_length(checkpoint, values["max_pieces"])
    segments = changed.config.segments.model_copy(update=values)
    return changed._replace(config=changed.config.model_copy(update={"segments": segments}))


def cells(options: SegmentLengthOptions, folder: Path) -> list[Cell]:
    base = base_recipe(options.recipe, options.settings)
    result = []
    for train in options.train:
        run = folder / "runs" / train.name.replace(" ", "-")
        changes = {"model": {"changes": {"segments": segments_of(train, options.most_pieces, options.sentences_as)}}}
        recipe = changed_recipe(base, changes, run)
        result.append(Cell(key(train.name, "training"), partial(train_run, recipe), partial(tidy_run, run, True)))
        for inference in options.inference:
            for corpus in options.corpora:
                work = _inference(options, run / "best", inference, corpus)
                result.append(Cell(key(train.name, inference.name, corpus.name), work))
    return result


def _inference(
    options: SegmentLengthOptions, model: Path, length: Length, corpus: CorpusChoice
) -> Callable[[Progress], Values]:
    def work(progress: Progress) -> Values:
        # As in the paper, without eviction: the length of a segment would change when it happens.
        checkpoint = with_eviction(load_checkpoint(model, device()), NoEvictionOptions())
        checkpoint = with_segments(checkpoint, length, options.most_pieces, options.sentences_as)
        return evaluate_cell(checkpoint, corpus.corpus(), options.run, progress)

    return work


def _f1(found: Found, train: Length, inference: Length, corpus: CorpusChoice) -> float:
    return 100.0 * float(found[key(train.name, inference.name, corpus.name)]["scores"]["conll_f1"])


def _counted(options: SegmentLengthOptions) -> str:
    return (
        ", the first of a text one sentence more, as in the paper's code" if options.sentences_as == "published" else ""
    )


def page(options: SegmentLengthOptions, found: Found) -> str:
    columns = ["trained with", *(length.name for length in options.inference)]
    tables = []
    for corpus in options.corpora:
        rows = [
            [train.name, *(f"{_f1(found, train, inference, corpus):.2f}" for inference in options.inference)]
            for train in options.train
        ]
        tables.append(Table(f"{corpus.name}: average F1 by segment length in inference", columns, [rows]))
    papers = [[train, *(f"{value:.1f}" for value in values)] for train, values in TABLE_4.items()]
    title = "The paper's Table 4: OntoNotes 5.0, development"
    tables.append(Table(title, ["trained with", *TABLE_4_INFERENCE], [papers]))
    return (
        "# Segment lengths (the paper's Table 4)\n\n"
        "Average F1 in percent, without eviction. A segment of some sentences has at most "
        f"{options.most_pieces} pieces{_counted(options)}. Each model was trained once, by {options.recipe} with "
        f"{', '.join(options.settings) or 'no changes'}.\n\n" + "\n".join(map(markdown, tables))
    )


def plots(options: SegmentLengthOptions, found: Found) -> list[Plot]:
    names = [length.name for length in options.inference]
    result = []
    for corpus in options.corpora:
        series = [
            Series(
                f"trained with {train.name}",
                names,
                [_f1(found, train, inference, corpus) for inference in options.inference],
                "line",
                colour=number,
            )
            for number, train in enumerate(options.train)
        ]
        title = f"Average F1 on {corpus.name} by segment length"
        result.append(Plot(f"segments-{corpus.name}", title, "segments in inference", "average F1, %", series))
    return result


SEGMENTS = Experiment("segments", SegmentLengthOptions, experiment_identity, inputs, cells, page, plots)
