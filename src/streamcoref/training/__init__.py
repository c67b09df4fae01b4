"""Training: the whole-document baseline, and the incremental model converted from it."""
