"""The whole-document model that the incremental one is converted from: the paper's JS-L and JS-B."""

from streamcoref.model.baseline.model import Antecedents, BaselineModel, DocumentSpans

__all__ = ["Antecedents", "BaselineModel", "DocumentSpans"]
