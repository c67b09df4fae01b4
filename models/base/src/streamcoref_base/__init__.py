"""The folder of a larger model of streamcoref. `streamcoref.load("base")` finds it by this package's entry point."""

from pathlib import Path

folder = Path(__file__).parent / "model"
