"""Model configurations that come with the package, as TOML."""
