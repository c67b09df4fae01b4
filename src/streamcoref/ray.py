"""Ray, of the extra `ray`: data sets, folders of any size, and one book on many machines. See docs/scaling.md."""

from __future__ import annotations

from streamcoref.integrations.ray_dataset import resolve_dataset
from streamcoref.integrations.ray_encoders import load
from streamcoref.integrations.ray_folder import FolderProgress, FolderReport, resolve_folder

__all__ = ["FolderProgress", "FolderReport", "load", "resolve_dataset", "resolve_folder"]
