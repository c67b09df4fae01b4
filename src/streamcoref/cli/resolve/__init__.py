"""`streamcoref resolve`: texts in, entities out."""

from streamcoref.cli.resolve.command import resolve

__all__ = ["resolve"]
