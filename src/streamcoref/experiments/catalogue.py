"""All experiments by name."""

from __future__ import annotations

from streamcoref.experiments.ablation import ABLATION
from streamcoref.experiments.base import Experiment
from streamcoref.experiments.books import BOOKS
from streamcoref.experiments.by_length import LENGTH
from streamcoref.experiments.cluster_map import CLUSTERS
from streamcoref.experiments.eviction import EVICTION
from streamcoref.experiments.main_scores import MAIN
from streamcoref.experiments.memory_use import MEMORY
from streamcoref.experiments.segment_lengths import SEGMENTS

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (MAIN, LENGTH, MEMORY, CLUSTERS, SEGMENTS, EVICTION, ABLATION, BOOKS)
}
