"""Which of an entity's mentions names it best: a name before a noun phrase before a pronoun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

PRONOUNS = frozenset(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine thyself ye "
    "he him his himself she her hers herself it its itself they them their theirs themselves themself "
    "this that these those who whom whose which what one oneself each other another both all some any none "
    "someone somebody something anyone anybody anything everyone everybody everything nobody nothing "
    "'s ’s s' 'em ’em 'im y'all ya here there then now".split()
)
_POSSESSIVE = frozenset("'s ’s ' ’".split())
_ARTICLES = frozenset("a an the".split())
_DETERMINERS = _ARTICLES | frozenset("this that these those my your his her its our their".split())
_PARTICLES = frozenset("of the de del della di da dos du la le van von der den bin al el y e &".split())
_LONGEST_NAME = 5  # words; a longer one is a title or a mistake, and no label
_LONGEST_PHRASE = 5

Words = tuple[str, ...]


def is_pronoun(words: Sequence[str]) -> bool:
    return all(word.lower() in PRONOUNS for word in words)


def readable_name(mentions: Sequence[tuple[Sequence[str], bool]]) -> int:
    """The number of the best mention. Each is given as its words and whether it opens a sentence.

    The most frequent name wins, or a fuller form of it that is more than a slip: "Elizabeth Bennet" if it occurs
    twice, or once for at most ten times "Elizabeth". Without a name it is the most frequent noun phrase, short ones
    first. Among mentions that read the same, one without a possessive ending and inside a sentence is taken.
    """
    spelled = [_without_possessive(words) for words, _ in mentions]
    inside = {words for words, (_, opens) in zip(spelled, mentions, strict=True) if not opens}
    names = [is_name(words, certain=words in inside) for words in spelled]
    counts = Counter(_folded(words) for words in spelled)

    def rank(number: int) -> tuple[int, int, int, int, bool, bool, int]:
        words, opens = mentions[number]
        own = spelled[number]
        kind = 2 if is_pronoun(own) else 0 if names[number] else 1
        vague = int(kind == 1 and own[_first_noun(own)].lower() in PRONOUNS)  # "the one on the left"
        long = int(kind == 1 and len(own) > _LONGEST_PHRASE)
        return (kind, vague, long, -counts[_folded(own)], len(own) < len(words), opens, number)

    best = min(range(len(mentions)), key=rank)
    if not names[best]:
        return best
    base = _folded(spelled[best])
    fuller = [
        number
        for number, own in enumerate(spelled)
        if names[number] and _extends(_folded(own), base) and _is_no_slip(counts[_folded(own)], counts[base])
    ]
    return min(fuller, key=rank, default=best)


def clean_name(text: str) -> str:
    """A mention's text as a label: one line, no possessive ending."""
    label = " ".join(text.split())
    for ending in ("'s", "’s"):
        label = label.removesuffix(ending).rstrip() or label
    return label


def _without_possessive(words: Sequence[str]) -> Words:
    return tuple(words[:-1]) if len(words) > 1 and words[-1] in _POSSESSIVE else tuple(words)


def _folded(words: Words) -> Words:
    return tuple(word.lower() for word in words)


def _first_noun(words: Words) -> int:
    """Where a phrase begins once its determiner is left out; the last word if there is nothing else."""
    return min(int(words[0].lower() in _DETERMINERS), len(words) - 1)


def is_name(words: Words, *, certain: bool = True) -> bool:
    """Capitals from first to last, but for an article before and particles between.

    One capitalised word is a name only if `certain`: it is also found where no sentence begins.
    """
    core = words[1:] if words[0].lower() in _ARTICLES else words
    if not core or len(core) > _LONGEST_NAME or not (core[0][:1].isupper() and core[-1][:1].isupper()):
        return False
    if is_pronoun(core) or core[0].lower() in _DETERMINERS:
        return False
    if len(words) == 1 and not certain:
        return False
    return all(word[:1].isupper() or word in _PARTICLES or word[:1] in "'’-" for word in core)


def _extends(name: Words, base: Words) -> bool:
    """Whether the base is in the longer name, word for word and side by side."""
    return len(name) > len(base) and any(name[i : i + len(base)] == base for i in range(len(name) - len(base) + 1))


def _is_no_slip(count: int, of_base: int) -> bool:
    return count >= 2 or 10 * count >= of_base
