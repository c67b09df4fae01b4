"""How long tests wait for something that will come: a busy machine may take its time, and nobody waits in vain for long
unless something is broken."""

PATIENCE = 1800.0  # seconds
