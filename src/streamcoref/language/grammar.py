"""As much English grammar as a name needs in a pronoun's place: possessives, one and many, two kinds of "her"."""

from __future__ import annotations

from collections.abc import Sequence

from streamcoref.language.english import (
    ADVERBS,
    AFTER_OBJECT,
    HEAD_ENDS,
    IRREGULAR_PLURALS,
    NUMBERED_VERBS,
    NUMBERLESS_ENDING,
    NUMBERLESS_VERBS,
    PLURAL_PRONOUNS,
    POSSESSIVE_S,
    PREPOSITIONS,
    SINGULAR_ENDINGS,
    UNSURE_AFTER,
    UNSURE_BEHIND,
    UNSURE_ENDINGS,
    UNSURE_MARKS,
    UNSURE_NOUNS,
)
from streamcoref.language.names import read_mention
from streamcoref.language.stand_ins import StandIn
from streamcoref.language.versions import LATEST, lexicon

_LEXICON = lexicon(LATEST)


def her_is_possessive(words: Sequence[str], i: int) -> bool | None:
    """Whether the "her" at i is "her hat" and not "saw her", by the words around it; None where they do not tell."""
    following = words[i + 1].lower() if i + 1 < len(words) else ""
    before = words[i - 1].lower() if i else ""
    if following in UNSURE_MARKS:
        return None
    if not following[:1].isalnum() or following in AFTER_OBJECT:
        return False
    unsure = following in UNSURE_AFTER or following.endswith(UNSURE_ENDINGS)
    if before in PREPOSITIONS and unsure and following not in ADVERBS:
        more = i + 2 < len(words) and words[i + 2][:1].isalnum() and words[i + 2].lower() not in AFTER_OBJECT
        return True if more or following in UNSURE_NOUNS else None
    return None if unsure or before in UNSURE_BEHIND else True


def agrees(words: Sequence[str], i: int, name: StandIn) -> bool:
    """Whether the pronoun at i and a name for it are both one or both many, as far as the words show it."""
    pronoun = words[i].lower()
    one, many = _number(name)
    if pronoun not in PLURAL_PRONOUNS:
        return one
    if many or pronoun != "they":
        return True
    following = words[i + 1].lower() if i + 1 < len(words) else ""
    before = words[i - 1].lower() if i else ""
    return (following in NUMBERLESS_VERBS or following.endswith(NUMBERLESS_ENDING)) and before not in NUMBERED_VERBS


def contradicts(name: StandIn, pronoun: str) -> bool:
    """Whether a title speaks against a pronoun: Mr. Thorpe is not "she", and Lady Russell not "it"."""
    behind = max(
        (i + 1 for i, word in enumerate(name.words[:-1]) if word in POSSESSIVE_S), default=0
    )  # the king's ship
    title = read_mention(name.words[behind:], _LEXICON).title
    meant = _LEXICON.pronouns.get(pronoun, title)
    return bool(title) and not title & meant


def possessive_form(name: StandIn, pronoun: str, apostrophe: str) -> str:
    """Anna's, James's, the Vales'."""
    plural = name.text[-1:] in "sS" and (pronoun in PLURAL_PRONOUNS or _number(name)[1])
    return name.text + apostrophe + ("" if plural else "s")


def _number(name: StandIn) -> tuple[bool, bool]:
    """Whether a name may speak of one, and whether of many: "the Vales" and "the Netherlands" look alike."""
    words = [word.lower() for word in name.words]
    if "and" in words:
        return name.is_name, True  # two people, or a firm
    end = next((i for i, word in enumerate(words) if i and word in HEAD_ENDS), len(words))
    head = words[end - 1]
    plural = head.endswith(IRREGULAR_PLURALS) or (head.endswith("s") and not head.endswith(SINGULAR_ENDINGS))
    if words[0] != "the":
        return True, False
    return (not plural or name.words[end - 1][0].isupper()), plural
