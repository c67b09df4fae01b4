"""Training: the whole-document baseline, and the incremental model converted from it.

from streamcoref.training import TrainingRun, plan, read_recipe

recipe = read_recipe("recipes/tiny.toml", ["training.epochs=3"])
TrainingRun(recipe).train()
"""

from streamcoref.training.bundling import BundleOptions, bundle
from streamcoref.training.chain import Chain, read_chain
from streamcoref.training.planning import plan
from streamcoref.training.recipe import Recipe, read_recipe
from streamcoref.training.run import LogListener, TrainingRun

__all__ = [
    "BundleOptions",
    "Chain",
    "LogListener",
    "Recipe",
    "TrainingRun",
    "bundle",
    "plan",
    "read_chain",
    "read_recipe",
]
