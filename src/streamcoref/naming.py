"""Which of an entity's mentions names it best: a name before a noun phrase before a pronoun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

PRONOUNS = frozenset(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine thyself ye "
    "he him his himself she her hers herself it its itself they them their theirs themselves themself "
    "this that these those who whom whose which what one oneself each other another both all some any none "
    "'s 'em 'im y'all ya mine here there then now".split()
)
_OPENERS = frozenset("a an the this that these those my your his her its our their mr. mrs. ms. dr. mr mrs".split())


def is_pronoun(words: Sequence[str]) -> bool:
    return all(word.lower() in PRONOUNS for word in words)


def readable_name(mentions: Sequence[tuple[Sequence[str], bool]]) -> int:
    """The number of the best mention. Each is given as its words and whether it opens a sentence.

    A capital counts as a sign of a name unless it may be there only because the sentence begins. Among names,
    short clean ones are preferred to long phrases around them, then frequent ones, then earlier ones.
    """
    counts = Counter(tuple(word.lower() for word in words) for words, _ in mentions)

    def rank(number: int) -> tuple[int, int, int, int]:
        words, opens = mentions[number]
        if is_pronoun(words):
            return (2, 0, 0, number)
        lowered = tuple(word.lower() for word in words)
        capitals = [
            word[:1].isupper() and not (position == 0 and (opens or lowered[0] in _OPENERS))
            for position, word in enumerate(words)
        ]
        long = int(len(words) > 5)
        return (0 if any(capitals) else 1, long, -counts[lowered], number)

    return min(range(len(mentions)), key=rank)
