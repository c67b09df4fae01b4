"""`eviction`, the paper's appendix: how many antecedents policies keep, from gold data alone, without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, PositiveInt

from streamcoref.evaluation.gold import count_gold, read_gold
from streamcoref.evaluation.report import Table, markdown
from streamcoref.experiments.base import NONE, Cell, Experiment, Found, Progress, Values, key
from streamcoref.experiments.gold_memory import follow, gold_segments, needed_entities
from streamcoref.experiments.options import CorpusChoice, ExperimentOptions, corpora_inputs, identity
from streamcoref.experiments.paper import EVICTION_POLICY, EVICTION_RECALL
from streamcoref.experiments.plot import Mark, Plot, Series
from streamcoref.metrics import Scores, score_document
from streamcoref.model.checkpoint import load_tokenizer
from streamcoref.model.evict import parse_eviction

Distances = tuple[PositiveInt, ...]


class EvictionSweepOptions(ExperimentOptions):
    """The paper's sweep by default, and some more of each kind."""

    tokenizer: str  # a folder or a name on the hub: distances are in its pieces
    max_pieces: int = Field(default=512, ge=8)  # of a segment; eviction comes after each
    singleton: Distances = (200, 300, 400, 500, 600, 900)
    cluster: Distances = (400, 600, 800, 1000, 1200, 1800)
    one_distance: Distances = (200, 400, 600, 800, 1000, 1200, 1800, 2400, 3600, 4800, 7200, 9600, 14400)
    size_times_distance: Distances = (50, 100, 200, 300, 400, 600, 900, 1200, 2400, 4800, 7200)
    longest: PositiveInt = 20_000  # the limit of size x distance, without which memory would have none
    budget: Distances = (10, 20, 30, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450)


class Family(NamedTuple):
    """Policies that one pass over a corpus computes together."""

    name: str
    policies: list[str]


def families(options: EvictionSweepOptions) -> list[Family]:
    # Beyond the limit for all clusters one for singletons has no meaning: all clusters are singletons too.
    pairs = [
        Family(f"two distances, singletons {s}", [f"two_distances:singleton={s},cluster={c}" for c in larger])
        for s in options.singleton
        if (larger := [c for c in options.cluster if c >= s])
    ]
    return [
        *pairs,
        Family("one distance", [f"one_distance:distance={d}" for d in options.one_distance]),
        Family(
            "size x distance",
            [f"size_times_distance:distance={d},longest={options.longest}" for d in options.size_times_distance],
        ),
        Family("budget", [f"none:budget={b}" for b in options.budget]),
        Family("none", ["none"]),
    ]


def cells(options: EvictionSweepOptions, _: Path) -> list[Cell]:
    return [
        Cell(key(corpus.name, family.name), _work(options, corpus, family))
        for corpus in options.corpora
        for family in families(options)
    ]


def _work(options: EvictionSweepOptions, corpus: CorpusChoice, family: Family) -> Callable[[Progress], Values]:
    def work(progress: Progress) -> Values:
        tokenizer = load_tokenizer(options.tokenizer)
        policies = [parse_eviction(text).build() for text in family.policies]
        gold = count_gold(corpus.corpus())
        singletons = gold.has_singletons if corpus.singletons is None else corpus.singletons
        sums = [
            {"policy": text, "antecedents": 0, "kept": 0, "peak_entities": 0, "sum_of_peaks": 0}
            for text in family.policies
        ]
        scores = [Scores() for _ in policies]
        pieces = needed = 0
        for done, (document, _) in enumerate(read_gold(corpus.corpus()), start=1):
            segments = gold_segments(document, tokenizer, options.max_pieces)
            pieces += segments[-1].end if segments else 0
            needed = max(needed, needed_entities(segments))
            for number, policy in enumerate(policies):
                outcome = follow(segments, policy)
                mine: Values = sums[number]
                mine["antecedents"] += outcome.antecedents
                mine["kept"] += outcome.kept
                mine["peak_entities"] = max(mine["peak_entities"], outcome.peak_entities)
                mine["sum_of_peaks"] += outcome.peak_entities
                scores[number] += score_document(document.clusters, outcome.clusters, singletons)
            progress(done, gold.documents)
        for mine, score in zip(sums, scores, strict=True):
            mine["conll_f1"] = score.conll_f1
        return {
            "documents": gold.documents,
            "pieces": pieces,
            "needed_entities": needed,
            "singletons": singletons,
            "policies": sums,
        }

    return work


class Row(NamedTuple):
    """One policy on one corpus."""

    family: str
    policy: str
    antecedents: int
    kept: int
    peak: int
    mean_peak: float
    f1: float  # percent

    @property
    def recall(self) -> float:
        return 100 * self.kept / self.antecedents if self.antecedents else 100.0


def _rows(options: EvictionSweepOptions, found: Found, corpus: CorpusChoice) -> Iterator[Row]:
    for family in families(options):
        values = found[key(corpus.name, family.name)]
        for p in values["policies"]:
            yield Row(
                family.name.split(",")[0],
                p["policy"],
                p["antecedents"],
                p["kept"],
                p["peak_entities"],
                p["sum_of_peaks"] / values["documents"],
                100 * p["conll_f1"],
            )


def page(options: EvictionSweepOptions, found: Found) -> str:
    parts = [
        "# Eviction from gold data (the paper's appendix)\n\n"
        "The gold mentions go through the model's own memory and policies, as a model without errors would put "
        f"them there, in segments of at most {options.max_pieces} pieces of the tokenizer {options.tokenizer}, "
        "evicting after each. A mention with an antecedent counts as kept if the entity of its latest antecedent is "
        "still alive when it is read; if not, it starts an entity anew. Peak entities are gold entities alive at "
        "once: the largest number in any document, and the mean over documents. A model also holds spans that are no "
        "mentions, so its own peak is higher. F1 is the average F1 of the clusters that are left: what a model would "
        "score that makes no other error.\n\n"
        f"The paper's mark: a recall of {EVICTION_RECALL}% on OntoNotes 5.0 (training) for {EVICTION_POLICY}.\n"
    ]
    for corpus in options.corpora:
        rows = list(_rows(options, found, corpus))
        values = found[key(corpus.name, "none")]
        parts.append(
            f"## {corpus.name}\n\n{values['documents']:,} documents, {values['pieces']:,} pieces, "
            f"{rows[0].antecedents:,} mentions with an antecedent, singletons "
            f"{'kept' if values['singletons'] else 'dropped'} in F1. Who knew the future would need "
            f"{values['needed_entities']} entities at once to lose nothing.\n"
        )
        parts += [markdown(_grid(options, rows)), markdown(_smallest(rows)), markdown(_all(rows))]
    return "\n".join(parts)


def _grid(options: EvictionSweepOptions, rows: list[Row]) -> Table:
    recall = {row.policy: row for row in rows}
    cells = []
    for s in options.singleton:
        line = [str(s)]
        for c in options.cluster:
            row = recall.get(f"two_distances:singleton={s},cluster={c}")
            line.append(NONE if row is None else f"{row.recall:.2f} ({row.peak})")
        cells.append(line)
    columns = ["singletons", *(f"all at {c}" for c in options.cluster)]
    return Table("Two distances: recall in percent (peak entities)", columns, [cells])


def _smallest(rows: list[Row]) -> Table:
    """Of each family, the policy of the smallest peak that reaches the paper's recall."""
    lines = []
    for family in dict.fromkeys(row.family for row in rows):
        mine = [row for row in rows if row.family == family]
        enough = [row for row in mine if row.recall >= EVICTION_RECALL]
        if enough:
            lines.append(_line(min(enough, key=lambda row: (row.peak, row.mean_peak, -row.recall))))
        else:
            best = max(mine, key=lambda row: row.recall)
            lines.append([f"{best.policy} (none reaches it; this is the best)", *_line(best)[1:]])
    return Table(f"Smallest peak with a recall of at least {EVICTION_RECALL}%, by family", _COLUMNS, [lines])


def _all(rows: list[Row]) -> Table:
    return Table("All policies", _COLUMNS, [[_line(row) for row in rows]])


_COLUMNS = ["policy", "recall %", "lost", "peak entities", "mean peak", "F1 %"]


def _line(row: Row) -> list[str]:
    lost = row.antecedents - row.kept
    return [row.policy, f"{row.recall:.2f}", f"{lost:,}", str(row.peak), f"{row.mean_peak:.1f}", f"{row.f1:.2f}"]


def plots(options: EvictionSweepOptions, found: Found) -> list[Plot]:
    result = []
    for corpus in options.corpora:
        rows = list(_rows(options, found, corpus))
        series = []
        for number, family in enumerate(dict.fromkeys(row.family for row in rows)):
            mine = [row for row in rows if row.family == family]
            hover = [f"{r.policy}: recall {r.recall:.2f}%, peak {r.peak} entities, F1 {r.f1:.2f}%" for r in mine]
            x, y = [float(row.peak) for row in mine], [row.recall for row in mine]
            series.append(Series(family, x, y, hover=hover, colour=number))
        mark = Mark(EVICTION_RECALL, f"the paper's {EVICTION_RECALL}% (OntoNotes, 600 / 1200)")
        title = f"Antecedents kept on {corpus.name}"
        result.append(Plot(f"eviction-{corpus.name}", title, "peak entities", "recall of antecedents, %", series, mark))
    return result


EVICTION = Experiment("eviction", EvictionSweepOptions, identity, corpora_inputs, cells, page, plots)
