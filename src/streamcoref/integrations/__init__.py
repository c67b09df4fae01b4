"""Where people meet us: spaCy, frames, notebooks, the hub, Ray. Each file is thin and imports its package when used."""
