"""`streamcoref score`: compare a response with a key."""


def score() -> None:
    """Score RESPONSE against KEY."""
