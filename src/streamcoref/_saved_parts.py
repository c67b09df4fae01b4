"""Whether the parts of a saved stream are of one moment: what the model holds, and what is reported of it.

All that can be known without a key is checked, so that nothing can be taken that would fail later. Whoever writes a
state that hangs together, as that of another text does, is believed; only a seal can tell that.
"""

from __future__ import annotations

import torch

from streamcoref._tracking import EntityTracker
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.rows import are_entity_rows
from streamcoref.model.state import State
from streamcoref.model.turns import MOST_TURNS

_NOBODY = (0, 0.0)  # mentions, and the best score of them


@torch.inference_mode()
def are_of_one_moment(model: IncrementalModel, state: State, tracker: EntityTracker, turns: int, closed: bool) -> bool:
    """`turns` is how many have begun before the open segment."""
    held = [] if closed else [*range(max(1, turns - MOST_TURNS + 1), turns + 1)]
    if sorted(state.conversation.turns) != held:
        return False
    parts = model.layout, model.pair_score, model.update
    memories = (state.memory, state.register.memory)
    if not all(are_entity_rows(memory.rows[: len(memory)], *parts) for memory in memories):
        return False
    # What the model decides is all reported, unless a mention may be too improbable or proposed twice.
    whole = not (tracker.min_score or state.before or closed) and model.spans.word_boundaries
    return _numbers_agree(state, tracker) and _sizes_agree(state, tracker, whole)


def _numbers_agree(state: State, tracker: EntityTracker) -> bool:
    """Each entity has a number of its own; those that are finished are named by a turn, and nowhere else."""
    reported = [*(one.number for one in tracker.entities.values()), *tracker.past.values()]
    if len(set(reported)) < len(reported) or max(reported, default=-1) >= state.memory.next_id:
        return False
    if not state.conversation.named().issuperset(tracker.past):
        return False
    return tracker.past.keys().isdisjoint(state.memory.ids.tolist()) and not state.register.known(tracker.past)


def _sizes_agree(state: State, tracker: EntityTracker, whole: bool) -> bool:
    """Whoever is reported has as many mentions as the model knows, if `whole`, else no more."""
    found: dict[int, tuple[int, float]] = {}
    for memory in (state.memory, state.register.memory):
        columns = memory.ids.tolist(), memory.sizes.tolist(), memory.best_scores.tolist()
        found |= {number: (size, score) for number, size, score in zip(*columns, strict=True)}
    entities = tracker.entities
    found |= state.register.known(entities.keys() - found)  # who is elsewhere, and still named by turns
    if whole and {n: size for n, (size, _) in found.items()} != {n: one.size for n, one in entities.items()}:
        return False
    for number, one in entities.items():
        size, score = found.get(number, _NOBODY)
        if not one.size <= size or not one.first_score <= score or not tracker.is_sound(one):
            return False
    return True
