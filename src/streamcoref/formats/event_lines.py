"""Events as lines: JSON for programs, or a form that people read. Nothing is held, so a text may be of any length."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from streamcoref._wording import counted
from streamcoref.document import Mention
from streamcoref.events import EntitiesMerged, EntityFinished, EntityStarted, Event, QuotationFound
from streamcoref.formats.base import Format


def json_line(event: Event, key: str) -> str:
    """One JSON object; `key` is the document's."""
    record: dict[str, Any] = {"document": key}
    if isinstance(event, EntityFinished):
        record |= {"event": "entity_finished", "entity": event.entity, "name": event.name, "size": event.size}
        if event.type is not None:
            record |= {"type": event.type, "type_score": event.type_score}
        record |= {"first": _mention(event.first), "last": _mention(event.last)}
    elif isinstance(event, EntitiesMerged):
        record |= {"event": "entities_merged", "kept": event.kept, "gone": event.gone}
    elif isinstance(event, QuotationFound):
        record |= {"event": "quotation_found", "quotation": asdict(event.quotation)}
    else:
        kind = "entity_started" if isinstance(event, EntityStarted) else "mention_linked"
        record |= {"event": kind, "entity": event.entity, "mention": _mention(event.mention)}
    return json.dumps(record, ensure_ascii=False) + "\n"


def readable_line(event: Event) -> str:
    """The entity's number, what happened, and the words."""
    if isinstance(event, QuotationFound):
        one = event.quotation
        who = "nobody known" if one.speaker is None else str(one.speaker)
        return f"{'':6}  said    by {who}: words {one.word_start} to {one.word_end - 1}\n"
    if isinstance(event, EntitiesMerged):
        return f"{event.gone:>6}  is      {event.kept}\n"
    number = f"{event.entity:>6}"
    if isinstance(event, EntityFinished):
        kind = "" if event.type is None else f"{one_line(event.type)}, "
        return f"{number}  ends    {one_line(event.name)} ({kind}{counted(event.size, 'mention', 'mentions')})\n"
    verb = "begins" if isinstance(event, EntityStarted) else "again"
    return f"{number}  {verb:6}  {one_line(event.mention.text)}\n"


def one_line(text: str) -> str:
    """Without line ends and control characters, which a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _mention(mention: Mention) -> dict[str, Any]:
    order = ("text", "start", "end", "word_start", "word_end", "sentence", "score")
    return {name: getattr(mention, name) for name in order}


FORMAT = Format(
    name="events",
    description="one JSON object an event, while a text is read",
    endings=(".events.jsonl",),
    write_event=json_line,
)
