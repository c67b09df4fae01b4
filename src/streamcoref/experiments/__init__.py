"""Experiments: every table and figure of the paper, on any corpus. See docs/reproducing.md."""
