"""The figures of Xia, Sedoc and Van Durme (2020), to stand beside ours: all are of OntoNotes 5.0, in percent."""

from __future__ import annotations

from typing import Literal

# JS-L and JS-B: the baselines of Joshi et al. (2019) with SpanBERT-large and -base; ours: the incremental model.
PaperModel = Literal["JS-L", "JS-B", "ours", "ours without eviction"]

# Table 1, test set: MUC, B3 and CEAF-e with precision, recall and F1 each, and the average F1.
TABLE_1: dict[PaperModel, tuple[float, ...]] = {
    "JS-L": (85.8, 84.8, 85.3, 78.3, 77.9, 78.1, 76.4, 74.2, 75.3, 79.6),
    "ours": (85.7, 84.8, 85.3, 78.1, 77.5, 77.8, 76.3, 74.1, 75.2, 79.4),
    "ours without eviction": (85.7, 84.9, 85.3, 78.1, 77.5, 77.8, 76.2, 74.2, 75.2, 79.4),
}

# Table 2, development set: documents, then average F1 of JS-L, ours, and ours without eviction. The rows are those
# of `evaluation.groups`, by kind and name.
TABLE_2: dict[tuple[str, str], tuple[int, float, float, float]] = {
    ("all", "all"): (343, 80.1, 79.5, 79.7),
    ("length", "0-128"): (57, 84.6, 84.5, 84.5),
    ("length", "129-256"): (73, 83.7, 83.6, 83.6),
    ("length", "257-512"): (78, 82.9, 83.4, 83.4),
    ("length", "513-768"): (71, 80.1, 79.3, 79.3),
    ("length", "769-1152"): (52, 79.1, 78.6, 79.0),
    ("length", "1153+"): (12, 71.3, 69.6, 69.8),
    ("speakers", "1"): (268, 81.1, 81.0, 81.2),
    ("speakers", "2+"): (75, 76.7, 75.0, 75.0),
}
TABLE_2_COLUMNS: dict[PaperModel, int] = {"JS-L": 1, "ours": 2, "ours without eviction": 3}

# Table 3, development set: GB of GPU memory, and F1.
TABLE_3: dict[PaperModel, tuple[str, float]] = {
    "ours": ("2.0", 79.5),
    "ours without eviction": ("2.0", 79.7),
    "JS-B": ("6.4", 77.7),
    "JS-L": ("> 11.9", 80.1),
}

# Table 4, development set, without eviction: segment length in training, then average F1 by that in inference.
TABLE_4_INFERENCE = ("1 sentence", "10 sentences", "128 pieces", "512 pieces")
TABLE_4: dict[str, tuple[float, ...]] = {
    "1 sentence": (70.0, 76.4, 75.2, 76.9),
    "5 sentences": (70.0, 77.4, 76.4, 78.6),
    "10 sentences": (68.9, 77.8, 76.2, 78.9),
    "128 pieces": (70.1, 77.2, 76.3, 77.7),
    "256 pieces": (69.1, 77.9, 76.5, 78.8),
    "384 pieces": (67.7, 77.3, 76.1, 79.1),
    "512 pieces": (67.1, 77.7, 75.6, 79.7),
}

# Appendix, training set: the recall of antecedents with singletons evicted past 600 pieces and all others past 1,200.
EVICTION_RECALL = 99.57
EVICTION_POLICY = "two_distances:singleton=600,cluster=1200"

# Appendix: what was tried, what was best, and what is said of it.
ABLATION: tuple[tuple[str, str, str, str], ...] = (
    ("update rule", "alpha, mean", "alpha", "about 0.1 F1 better after 2 epochs"),
    ("dropout", "0.3, 0.4, 0.5", "0.4", "after 2 epochs"),
    ("sampling rate of spans without antecedent", "0.2, 0.5, 0.75, 1.0", "1.0", "0.2 costs up to one point of F1"),
    ("teacher forcing", "off, on", "off", "no noticeable effect"),
    ("learning rate", "5e-5, 1e-4, 2e-4, 5e-4", "2e-4", "little difference once converged"),
    ("gradient clipping", "1, 5, 10", "10", "little difference once converged"),
    ("eviction in training", "off, on", "off", "little difference once converged"),
    ("five runs of the final values", "", "79.7", "dev F1 79.4, 79.5, 79.5, 79.5, 79.7"),
)
