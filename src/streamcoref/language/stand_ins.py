"""What each entity is called where a pronoun stood: "Anna Weber", "the baker", or nothing."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from streamcoref.document import Document, Entity, Span
from streamcoref.language.english import NUMBERS, POINTERS, POSSESSIVE_ENDINGS, POSSESSIVE_S, VAGUE
from streamcoref.language.labels import clean_name, readable_name

_LONGEST = 5  # words; a longer one hides the sentence


class StandIn(NamedTuple):
    text: str
    words: tuple[str, ...]
    is_name: bool


def stand_ins(document: Document) -> list[StandIn | None]:
    """One for each entity. A noun phrase that two entities share tells nobody which is meant, so neither has it."""
    lower_case = {word for word in document.words if word.islower()}
    found = [_stand_in(document, entity, lower_case) for entity in document.entities]
    phrases = Counter(one.text.lower() for one in found if one and not one.is_name)
    return [None if one and phrases[one.text.lower()] > 1 else one for one in found]


def _stand_in(document: Document, entity: Entity, lower_case: set[str]) -> StandIn | None:
    """The best mention that can stand anywhere: a name, or a short phrase with an article, and no pronoun in it."""
    spans: list[Span] = []
    for mention in entity.mentions:
        start, end = mention.word_start, mention.word_end
        if end - start > 1 and document.words[end - 1] in POSSESSIVE_ENDINGS:
            end -= 1
        if _can_stand(document, (start, end), lower_case):
            spans.append((start, end))
    if not spans:
        return None
    start, end = spans[readable_name([(document.words[a:b], _opens(document, a)) for a, b in spans])]
    words = document.words[start:end]
    text = clean_name(document.span_text((start, end)))
    first = words[0].lower()
    if first in POINTERS:
        return StandIn(f"the {clean_name(document.span_text((start + 1, end)))}", ("the", *words[1:]), False)
    if first in NUMBERS:
        return StandIn(f"the {text[0].lower()}{text[1:]}", ("the", *words), False)
    if first == "the" and _opens(document, start):
        text = f"the{text[3:]}"
    is_name = words[-1][0].isupper()
    return StandIn(text, (first, *words[1:]), is_name)


def _can_stand(document: Document, span: Span, lower_case: set[str]) -> bool:
    words = document.words[slice(*span)]
    first = words[0].lower()
    has_article = first in POINTERS or first in NUMBERS or first == "the"
    core = words[1:] if has_article else words
    if not core or len(words) > _LONGEST or any(word.lower() in VAGUE for word in core):
        return False
    if not all(word[0].isalnum() or word in (*POSSESSIVE_S, "&") for word in words):
        return False
    if "\n\n" in document.span_text(span):
        return False
    if has_article or any(word in POSSESSIVE_S for word in words[1:-1]):
        return True
    if not (words[0][0].isupper() and words[-1][0].isupper()):
        return False
    # One capitalised word that only ever opens a sentence is a name unless it is also found in lower case.
    return len(words) > 1 or not _opens(document, span[0]) or first not in lower_case


def _opens(document: Document, word: int) -> bool:
    """Whether a word begins a sentence, or what is said inside one."""
    before = document.sentence_of_word[word - 1] != document.sentence_of_word[word] if word else True
    return before or not document.words[word - 1][-1:].isalnum()
