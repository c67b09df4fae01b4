"""What a pair is known by: one file a feature, each of which owns its columns of span and entity.

To add one, write a file here with a `PairFeature` and its `FeatureOptions`: it is found by being here.
"""

from importlib import import_module
from pkgutil import iter_modules

from streamcoref.model.features.base import AnyFeature, FeatureOptions, Fixed, PairFeature, TextLabels
from streamcoref.model.features.pair_features import FeatureIndex, FoldedFeatures, PairFeatures

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "AnyFeature",
    "FeatureIndex",
    "FeatureOptions",
    "Fixed",
    "FoldedFeatures",
    "PairFeature",
    "PairFeatures",
    "TextLabels",
]
