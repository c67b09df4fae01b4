"""PAIRSCORE: one file per scorer, its options beside it; a file that is here is found."""

from importlib import import_module
from pkgutil import iter_modules

from streamcoref.model.pair_score.base import AnyPairScorer, FeatureTables, Pairs, PairScorer, PairScorerOptions

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["AnyPairScorer", "FeatureTables", "PairScorer", "PairScorerOptions", "Pairs"]
