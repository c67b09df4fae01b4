"""A text with pronouns replaced by names, where that can be done without ruining it.

A pronoun is replaced only if it is the first mention of its entity in its sentence, and the sentence does not name
the entity itself: "She took her hat" becomes "Anna took her hat", and "Anna took her hat" stays. Where the first
pronoun has to stay, so do those behind it: "She'd lost Anna's hat" would speak of two people. Replaced are he, she, it,
they with him, her, them and the possessives his, her, hers, its, their, theirs. First and second person stay, as the
verb would have to change and a quotation would no longer be one; reflexives, relatives and demonstratives stay; so does
whatever is doubtful. Every replaced span is one word, so nested mentions never overlap in what is replaced.

`replaceable.py` says which pronouns, `stand_ins.py` by what, `grammar.py` in which form.
"""

from __future__ import annotations

from typing import NamedTuple

from streamcoref.document import Document
from streamcoref.language.english import POSSESSIVE_PRONOUNS
from streamcoref.language.grammar import agrees, contradicts, her_is_possessive, possessive_form
from streamcoref.language.replaceable import (
    first_pronouns,
    inside_names,
    rarer_gender,
    sentence_around,
    stands_free,
    stays,
)
from streamcoref.language.stand_ins import stand_ins


class Replacement(NamedTuple):
    """`text[start:end]`, one pronoun, becomes `replacement`."""

    start: int
    end: int
    replacement: str


def resolved_text(document: Document) -> str:
    """The document's text with pronouns replaced; all that is not replaced stays as it is, character for character."""
    document = document.with_text()
    text = document.text or ""
    parts: list[str] = []
    position = 0
    for start, end, replacement in replacements(document):
        parts += text[position:start], replacement
        position = end
    return "".join(parts) + text[position:]


def replacements(document: Document) -> list[Replacement]:
    """What `resolved_text` replaces, in the order of the text; places are those of `document.with_text()`."""
    document = document.with_text()
    text = document.text or ""
    apostrophe = "’" if "’" in text else "'"
    mentions = [(m.word_start, m.word_end) for entity in document.entities for m in entity.mentions]
    phrases = {start for start, end in mentions if end - start > 1}
    in_names = inside_names(document.words, mentions)
    found: list[Replacement] = []
    for entity, name in zip(document.entities, stand_ins(document), strict=True):
        if name is None:
            continue
        rarer = rarer_gender(entity)
        for mention in first_pronouns(document, entity):
            word = mention.word_start
            pronoun = document.words[word].lower()
            if word in in_names or pronoun in rarer or not stands_free(document, word) or contradicts(name, pronoun):
                continue
            words, place = sentence_around(document, word)
            possessive = pronoun in POSSESSIVE_PRONOUNS
            if pronoun == "her":
                is_possessive = True if word in phrases else her_is_possessive(words, place)
                if is_possessive is None:
                    continue
                possessive = is_possessive
            if stays(words, place, possessive=possessive) or not agrees(words, place, name):
                continue
            replacement = possessive_form(name, pronoun, apostrophe) if possessive else name.text
            if document.words[word][0].isupper():
                replacement = replacement[0].upper() + replacement[1:]
            start, end = document.offsets[word]
            if text[end : end + 1] == ".":  # "Vale Jr." ends with the stop that ends the sentence
                replacement = replacement.removesuffix(".")
            found.append(Replacement(start, end, replacement))
    return sorted(found)
