"""PAIRSCORE: one file per scorer."""

from streamcoref.model.pair_score.base import FeatureTables, Pairs, PairScorer
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.model.pair_score.feed_forward import FeedForwardScorer

__all__ = ["CoarseToFineScorer", "FeatureTables", "FeedForwardScorer", "PairScorer", "Pairs"]
