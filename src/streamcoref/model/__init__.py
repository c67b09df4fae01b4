"""The model: Algorithm 1 in `incremental.py`, its parts in a file each, and the whole-document `baseline.py`."""
