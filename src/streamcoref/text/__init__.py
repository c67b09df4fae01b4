"""Raw text to words and sentences, with exact character offsets."""

from streamcoref.text.split import document_from_text, split_text

__all__ = ["document_from_text", "split_text"]
