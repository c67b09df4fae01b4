"""A chat, message by message: who is meant is printed while the chat goes on.

python examples/stream.py [MODEL]

A stream holds the entities that are alive and a small window of text, so a chat may go on for ever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import streamcoref
from streamcoref import EntityFinished, EntityStarted, Event

CHAT = [
    ("Mira", "Has anyone seen the new printer? It was in the hall this morning."),
    ("Owen", "Paula took it upstairs. She said it was too loud for the hall."),
    ("Mira", "Then I'll ask her. I only need it for ten pages."),
    ("Owen", "Careful, she is in a meeting with the auditors, and they don't like to be disturbed."),
    ("Mira", "I met them yesterday. They were friendly enough."),
]


def main(resolver: streamcoref.Resolver, chat: Iterable[tuple[str, str]] = CHAT) -> None:
    stream = resolver.stream()
    names: dict[int, str] = {}  # a service that runs for ever would drop the finished ones, as below
    for speaker, message in chat:
        print(f"{speaker}: {message}")
        # Without flush, events come when a whole segment has been read: better answers, but later ones.
        for event in stream.feed(message + "\n", speaker) + stream.flush():
            report(event, names)
    for event in stream.close():
        report(event, names)


def report(event: Event, names: dict[int, str]) -> None:
    if isinstance(event, EntityFinished):
        names.pop(event.entity, None)
        print(f"    “{event.name}” was mentioned {event.size} times")
    elif isinstance(event, EntityStarted):
        names[event.entity] = event.mention.text
    else:
        print(f"    “{event.mention.text}” at character {event.mention.start} is “{names[event.entity]}”")


if __name__ == "__main__":
    try:
        main(streamcoref.load(*sys.argv[1:2]))
    except streamcoref.StreamcorefError as error:
        sys.exit(f"stream: {error}")
