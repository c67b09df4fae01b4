"""The documents of a recipe, cut into segments, and the order of an epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from streamcoref.corpora import LabelFiles, read_corpus, with_paragraphs
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.resolver import Resolver, load
from streamcoref.training.label_loss import LabelTasks
from streamcoref.training.recipe import CorpusOptions, Recipe
from streamcoref.training.silver import Lesson, Teacher, teach_all
from streamcoref.training.steps import Example


@dataclass(frozen=True)
class TrainingCorpus:
    options: CorpusOptions
    examples: list[Example]


def load_corpora(recipe: Recipe, checkpoint: Checkpoint, use: str) -> list[TrainingCorpus]:
    """The corpora of one use, each document with its segments."""
    config, segmenter = checkpoint.config, checkpoint.segmenter
    corpora: list[TrainingCorpus] = []
    load_once = cache(partial(load, precision=recipe.run.teacher_precision))  # one model may teach several corpora
    for options in recipe.corpora:
        if options.use != use:
            continue
        source = options.labels
        for scheme in (options.scheme, source and source.scheme):
            if scheme is not None and scheme not in config.schemes:
                known = ", ".join(config.schemes)
                raise StreamcorefError(f"corpus {options.name}: the model has no scheme {scheme!r}; it has {known}")
        if any(corpus.options.name == options.name for corpus in corpora):
            raise StreamcorefError(f"two corpora for {use} are called {options.name}; give one another name")
        examples = []
        labels = None if source is None else LabelFiles(source.path)
        teach = _teach([load_once(teacher) for teacher in options.teachers], options, recipe.run.cache)
        left_out: set[str] = set()
        for document in read_corpus(options.path, options.format):
            if document.key in options.without:
                left_out.add(document.key)
                continue
            if not document.words:
                continue  # nothing to learn from
            if options.genre is not None:
                document = replace(document, genre=options.genre)
            document = replace(document, genre=config.genre_of(document))
            if labels is not None:
                document = labels.add_to(document)
            if options.quotations is not None:
                document = with_paragraphs(document, options.quotations)
            weight, tasks = _mention_weight(recipe, options), _label_tasks(recipe, options, document)
            examples.append(Example(document, segmenter.cut(document), options.scheme, weight, tasks, teach))
        if unknown := sorted(options.without - left_out):
            raise StreamcorefError(f"corpus {options.name}: {options.path} has no document {unknown[0]} to leave out")
        if not examples:
            raise StreamcorefError(f"corpus {options.name}: {options.path} has no document with words")
        corpora.append(TrainingCorpus(options, examples))
    return corpora


def _teach(
    resolvers: Sequence[Resolver], options: CorpusOptions, folder: Path | None
) -> Callable[[Document], Lesson] | None:
    """What teachers say. They are asked once a document, by each process that learns from it."""
    teachers = [Teacher(resolver, options.scheme, folder) for resolver in resolvers]
    return cache(partial(teach_all, teachers, singletons=options.singletons)) if teachers else None


def _mention_weight(recipe: Recipe, options: CorpusOptions) -> float:
    training = recipe.training
    on = training.mention_loss == "all" or (training.mention_loss == "singletons" and options.singletons)
    return training.mention_weight if on else 0.0


def _label_tasks(recipe: Recipe, options: CorpusOptions, document: Document) -> LabelTasks | None:
    weights = recipe.training.label_weights
    scheme = None if options.labels is None else options.labels.scheme
    tasks = LabelTasks(weights.heads, 0.0 if scheme is None else weights.mentions, scheme)
    return tasks if document.labels and (tasks.heads or tasks.mentions) else None


def epoch_order(
    corpora: Sequence[TrainingCorpus], seed: int, epoch: int, together: int = 1, crop: int | None = None
) -> list[Example]:
    """The documents of an epoch, each as often as its corpus' weight says, shuffled; the same for the same epoch.

    `together` of them at a time are of one length, or nearly, for whoever is done with a shorter one has to wait.
    """
    choose = random.Random(f"{seed} {epoch}")
    order: list[Example] = []
    for corpus in corpora:
        whole, part = divmod(corpus.options.weight, 1)
        order += corpus.examples * int(whole)
        order += choose.sample(corpus.examples, round(part * len(corpus.examples)))
    choose.shuffle(order)
    if together == 1:
        return order
    order.sort(key=lambda example: sum(map(len, example.segments[:crop])))
    first = len(order) % together  # the shortest, who are too few, come last: only a last step may be short
    groups = [order[at : at + together] for at in range(first, len(order), together)]
    choose.shuffle(groups)
    return [example for group in [*groups, order[:first]] for example in group]


def epoch_length(corpora: Sequence[TrainingCorpus]) -> int:
    return len(epoch_order(corpora, 0, 0))
