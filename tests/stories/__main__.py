"""How a model answers the texts of this folder, by text and annotation scheme.

    python -m tests.stories                   # the bundled model
    python -m tests.stories runs/some/best    # another, by its folder

Average F1 (MUC, B-cubed, CEAF-e) of texts with every mention marked; how many stories and passages are right in all
that they ask. The first scheme is the one for raw text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import streamcoref
from streamcoref.evaluation import Table, markdown
from streamcoref.metrics import Scores
from tests.stories.everyday_texts import TEXTS
from tests.stories.judging import judged, mean_f1
from tests.stories.longer_texts import LONGER_TEXTS
from tests.stories.mistakes import mistakes, resolved
from tests.stories.passages import PASSAGES
from tests.stories.stories import DIALOGUES, STORIES

if TYPE_CHECKING:
    from streamcoref import Resolver


def answers_table(resolver: Resolver) -> Table:
    """A row a text, a column a scheme; then means, and what is right in all."""
    schemes = resolver.checkpoint.config.schemes
    texts = TEXTS | LONGER_TEXTS
    by_scheme = {
        scheme: {name: judged(resolver, name, marked, scheme) for name, marked in texts.items()} for scheme in schemes
    }

    totals = [sum(scores.values(), Scores()) for scores in by_scheme.values()]

    def text_rows(names: Iterable[str]) -> list[list[str]]:
        return [_row(name, (scores[name].conll_f1 for scores in by_scheme.values())) for name in names]

    def mean_row(title: str, names: Collection[str]) -> list[str]:
        return _row(title, (mean_f1(scores[name] for name in names) for scores in by_scheme.values()))

    means = [
        mean_row("mean of everyday texts", TEXTS),
        mean_row("mean of longer texts", LONGER_TEXTS),
        mean_row("mean of all", texts),
        _row("all as one corpus", (total.conll_f1 for total in totals)),
        _row("mentions, all as one corpus", (total.mentions.f1 for total in totals)),
    ]
    right = [
        ["stories right", *(_right(resolver, STORIES, scheme) for scheme in schemes)],
        ["passages right", *(_right(resolver, PASSAGES, scheme) for scheme in schemes)],
    ]
    return Table("Average F1", ["text", *schemes], [text_rows(TEXTS), text_rows(LONGER_TEXTS), means, right])


def _row(title: str, figures: Iterable[float]) -> list[str]:
    return [title, *(f"{100 * figure:.1f}" for figure in figures)]


def _right(resolver: Resolver, stories: Mapping[str, str], scheme: str) -> str:
    wrong = [
        name
        for name, marked in stories.items()
        if mistakes(*resolved(resolver, marked, dialogue=name in DIALOGUES, scheme=scheme))
    ]
    return f"{len(stories) - len(wrong)} of {len(stories)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m tests.stories", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", help="a folder or a name; the bundled model if none is said")
    try:
        resolver = streamcoref.load(parser.parse_args().model)
    except streamcoref.StreamcorefError as error:
        sys.exit(str(error))
    print(markdown(answers_table(resolver)), end="")


if __name__ == "__main__":
    main()
