"""Import of published checkpoints into models of ours; what they are in docs/checkpoints.md."""

from streamcoref.convert.importing import import_checkpoint
from streamcoref.convert.writing import Imported

__all__ = ["Imported", "import_checkpoint"]
