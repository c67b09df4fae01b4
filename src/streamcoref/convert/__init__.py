"""Import of published checkpoints: `import_checkpoint` in `importing.py`; what they are in docs/checkpoints.md."""
