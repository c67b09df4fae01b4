"""Which pronouns of a text may be replaced by a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from streamcoref.document import Document, Entity, Mention, Span
from streamcoref.language.english import (
    AFTER_OBJECT,
    BE,
    CLAUSE_OPENERS,
    EMPHASIS,
    ENCLOSURES,
    HE,
    OTHER_PERSONS,
    PAIRED,
    PARTITIVES,
    QUANTITIES,
    RELATIVES,
    REPLACED_PRONOUNS,
    SHE,
    STYLES,
    SUBJECTS,
)
from streamcoref.language.labels import is_pronoun

_CLAUSE_WITHIN = 5  # words behind "it is": "it is not at all true that"
_NEAR = 20  # words on each side of a pronoun, marks of emphasis among them, that may tell what it is


def first_pronouns(document: Document, entity: Entity) -> list[Mention]:
    """Of each sentence the entity's first mention, if it is a pronoun we replace and no mention there has a noun."""
    result: list[Mention] = []
    for _, group in groupby(entity.mentions, key=lambda mention: mention.sentence):
        mentions = list(group)
        spoken = [[word.lower() for word in document.words[m.word_start : m.word_end]] for m in mentions]
        if not all(is_pronoun(words) for words in spoken):
            continue
        counted = [i for i, words in enumerate(spoken) if not OTHER_PERSONS.issuperset(words)]
        if counted and len(spoken[counted[0]]) == 1 and spoken[counted[0]][0] in REPLACED_PRONOUNS:
            result.append(mentions[counted[0]])
    return result


def rarer_gender(entity: Entity) -> frozenset[str]:
    """Pronouns that the entity's others speak against: who is "she" once and "he" often is a mistake."""
    counts = Counter(mention.text.lower() for mention in entity.mentions)
    he, she = sum(counts[word] for word in HE), sum(counts[word] for word in SHE)
    if he and she:
        return (HE if he <= she else frozenset()) | (SHE if she <= he else frozenset())
    return frozenset()


def inside_names(words: Sequence[str], mentions: Sequence[Span]) -> set[int]:
    """Words inside mentions that are capitals throughout: "Her Majesty", "Tell Her Twice"."""
    return {
        i
        for start, end in mentions
        if end - start > 1 and all(w[:1].isupper() for w in words[start:end])
        for i in range(start, end)
    }


def stands_free(document: Document, word: int) -> bool:
    """Whether the pronoun is a word of the text on its own: not of "he/she", "they've" or two words in one place."""
    text = document.text or ""
    start, end = document.offsets[word]
    if text[start:end] != document.words[word] or "/" in (text[start - 1 : start], text[end : end + 1]):
        return False
    if word > 0 and document.offsets[word - 1][1] > start:
        return False
    if word + 1 == len(document.words):
        return True
    next_start, next_end = document.offsets[word + 1]
    # "it's late" may become "the ferry's late", but "he'd" and "they've" have no good form with a name.
    return next_start > end or (next_start == end and not re.match(r"['’](?!s\b)\w", text[next_start:next_end]))


def sentence_around(document: Document, word: int) -> tuple[list[str], int]:
    """The words near a word in its sentence, and which of them it is; without emphasis: "_Her_ hat" is "Her hat".

    Near, since a text without stops is one sentence, however long it is.
    """
    sentence = document.sentence_of_word[word]
    begin = max(document.sentence_ends[sentence - 1] if sentence else 0, word - _NEAR)
    end = min(document.sentence_ends[sentence], word + _NEAR)
    before, behind = document.words[begin:word], document.words[word:end]
    kept = [other for other in before if other.strip(EMPHASIS)]
    return [*kept, *(other for other in behind if other.strip(EMPHASIS))], len(kept)


def stays(words: Sequence[str], i: int, *, possessive: bool) -> bool:
    """Whether the words of a sentence speak against a name: a title, "he who", "them both", "it seems that"."""
    spelled, pronoun = words[i], words[i].lower()
    before, following = words[:i], words[i + 1 :]
    last, behind = (before[-1] if before else ""), (following[0] if following else "")
    if spelled.isupper() or (spelled[0].isupper() and last[-1:].isalnum()):
        return True  # shouted, or a capital where no sentence begins: God, or a title
    if behind in STYLES or behind.lower() in RELATIVES or (pronoun in SUBJECTS and behind.lower() == "that"):
        return True
    if behind and ENCLOSURES.get(last) == behind:  # the word itself is spoken of, or put in by somebody else
        return True
    if last.lower() == "or" and len(before) > 1 and before[-2].lower() in PAIRED:  # "he or she"
        return True
    if behind.lower() == "or" and len(following) > 1 and following[1].lower() in PAIRED:
        return True
    if possessive:
        more = following[1] if len(following) > 1 else ""
        alone = not more[:1].isalnum() or more.lower() in AFTER_OBJECT
        return last.lower() == "on" and behind.lower() == "own" and alone  # "on her own", but "on her own terms"
    if last.lower() == "of" and len(before) > 1 and before[-2].lower() in QUANTITIES:
        return True
    if behind.lower() in PARTITIVES and pronoun not in SUBJECTS:
        return True
    return pronoun == "it" and _is_expletive(following)


def _is_expletive(following: Sequence[str]) -> bool:
    """It is true that …, it was Anna who …, it seems to …: "it" stands for no thing, whatever a model says."""
    if not following or following[0].lower() not in BE:
        return False
    for word in following[1 : 1 + _CLAUSE_WITHIN]:
        if word.lower() in CLAUSE_OPENERS:
            return True
        if not word[:1].isalnum():
            return False
    return False
