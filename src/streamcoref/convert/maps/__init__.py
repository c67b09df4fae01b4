"""How tensors are called elsewhere, as TOML: one file a source."""
