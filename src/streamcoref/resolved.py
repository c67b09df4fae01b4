"""A text with pronouns replaced by names, where that can be done without ruining it.

A pronoun is replaced only if it is the first mention of its entity in its sentence, and the sentence does not name
the entity itself: "She took her hat" becomes "Anna took her hat", and "Anna took her hat" stays. Where the first
pronoun has to stay, so do those behind it: "She'd lost Anna's hat" would speak of two people. Replaced are he, she, it,
they with him, her, them and the possessives his, her, hers, its, their, theirs. First and second person stay, as the
verb would have to change and a quotation would no longer be one; reflexives, relatives and demonstratives stay; so does
whatever is doubtful. Every replaced span is one word, so nested mentions never overlap in what is replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from streamcoref.document import Document, Entity, Mention, Span
from streamcoref.naming import PRONOUNS, clean_name, is_pronoun, readable_name

_PLAIN = frozenset("he him she it they them".split())
_POSSESSIVE = frozenset("his hers its their theirs".split())
_REPLACED = _PLAIN | _POSSESSIVE | {"her"}
_PLURAL = frozenset("they them their theirs".split())
_HE = frozenset("he him his himself".split())
_SHE = frozenset("she her hers herself".split())
_OTHER_PERSONS = frozenset(  # these name nobody, so they keep no later pronoun from its name: "I know," she said
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine "
    "thyself ye".split()
)

# What "her" is, told by its neighbours: before these words it is an object ("told her that") ...
_AFTER_OBJECT = frozenset(
    "a about above across after again against ago all along already also although always am among an and "
    "another any anything anyway apart are around as aside asleep at away awake because been before behind "
    "being below beneath beside besides between beyond but by can could did do does down during else enough "
    "everything except for forever from had has have he her here him his how however i if in indeed instead "
    "into is it its may me might must my near neither no nor not nothing of off often on or our out over "
    "perhaps quite rather said say says she should since so some something sometimes soon than that the their "
    "them then there these they this those though through till to today together tomorrow tonight too toward "
    "towards under unless until up upon us was we were what whatever when whenever where whether which while "
    "who whom whose why with within without would yesterday yet you your n't n’t 's ’s".split()
)
# ... before these it may be either, unless a preposition goes before: "on her back", "brought her back" ...
_UNSURE_AFTER = frozenset(
    "alone both back either even ever every first five four half home inside just last later left less like "
    "more most much never next now once one only other outside past right still ten three twice two very well "
    "will".split()
)
_UNSURE_NOUNS = frozenset("back half home left past right will".split())
_PREPOSITIONS = frozenset(
    "about above across after against along among around at before behind below beneath beside between beyond "
    "by during for from in inside into near of off on onto over past through to toward towards under upon "
    "with within without".split()
)
# ... and behind these too: "gave her flowers", "made her laugh".
_UNSURE_BEHIND = frozenset(
    "ask asked asking asks bought bring bringing brought buy call called calling calls deny denied feel felt "
    "find found gave get gets give given gives giving got had hand handed handing has have having hear heard "
    "hears help helped "
    "helping helps keep kept lend lent let lets letting made make makes making name named offer offered owe "
    "owed paid pass passed pay promise promised read saw see seeing seen sees send sending sends sent show "
    "showed showing shown shows sold taught teach tell telling tells told watch watched watching wish wished "
    "write wrote".split()
)

# "They" behind a singular name needs a verb that shows no number: "Lindqvist Foods would", never "Lindqvist Foods are".
_NUMBERLESS = frozenset("can could did had may might must never shall should will would".split())
_NUMBERED = frozenset("are do have were n't n’t".split())
_QUANTITIES = frozenset(
    "all any both each either few half many most much neither none one part several some two".split()
)
_TITLES = frozenset(
    "Eminence Excellency Grace Highness Holiness Honor Honour Imperial Ladyship Lordship Majesty Royal Serene "
    "Worship".split()
)
_BE = frozenset("is was 's ’s be been being will would might may seems seemed appears appeared".split())
_CLAUSE = frozenset("that to who whom whether when if as because".split())

_POINTERS = frozenset("a an this that these those".split())  # "a woman" is "the woman" when she comes again
_NUMBERS = frozenset("two three four five six seven eight nine ten twelve".split())
_IRREGULAR_PLURALS = ("people", "men", "women", "children", "folk", "police", "mice", "geese")
_HEAD_ENDS = frozenset("of in on at with from by for under near behind".split())
_VAGUE = (PRONOUNS - {"'s", "’s", "s'"}) | frozenset(
    "no every few many most several such same former latter own".split()
)
_LONGEST_LABEL = 5  # words; a longer one hides the sentence


class Replacement(NamedTuple):
    """`text[start:end]`, one pronoun, becomes `replacement`."""

    start: int
    end: int
    replacement: str


class Label(NamedTuple):
    """What an entity is called where a pronoun stood: "Anna Weber", "the baker"."""

    text: str
    words: tuple[str, ...]
    is_name: bool


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
    labels = _labels(document)
    mentions = [(m.word_start, m.word_end) for entity in document.entities for m in entity.mentions]
    phrases = {start for start, end in mentions if end - start > 1}
    in_names = _inside_names(document.words, mentions)
    found: list[Replacement] = []
    for entity in document.entities:
        label = labels[entity.id]
        if label is None:
            continue
        rarer = _rarer_gender(entity)
        for mention in _first_pronouns(document, entity):
            word = mention.word_start
            pronoun = document.words[word].lower()
            if word in in_names or pronoun in rarer or not _stands_free(document, word):
                continue
            if _stays(document, word) or not _agrees(document, word, label):
                continue
            possessive = pronoun in _POSSESSIVE
            if pronoun == "her":
                is_possessive = True if word in phrases else her_is_possessive(document.words, word)
                if is_possessive is None:
                    continue
                possessive = is_possessive
            replacement = _possessive(label, pronoun, apostrophe) if possessive else label.text
            if document.words[word][0].isupper():
                replacement = replacement[0].upper() + replacement[1:]
            found.append(Replacement(*document.offsets[word], replacement))
    return sorted(found)


def her_is_possessive(words: Sequence[str], i: int) -> bool | None:
    """Whether the "her" at i is "her hat" and not "saw her", by the words around it; None where they do not tell."""
    following = words[i + 1].lower() if i + 1 < len(words) else ""
    before = words[i - 1].lower() if i else ""
    if not following[:1].isalnum() or following in _AFTER_OBJECT:
        return False
    unsure = following in _UNSURE_AFTER or following.endswith(("ing", "ed", "ly"))
    if before in _PREPOSITIONS and unsure:
        more = i + 2 < len(words) and words[i + 2][:1].isalnum() and words[i + 2].lower() not in _AFTER_OBJECT
        return True if more or following in _UNSURE_NOUNS else None
    return None if unsure or before in _UNSURE_BEHIND else True


def _first_pronouns(document: Document, entity: Entity) -> list[Mention]:
    """Of each sentence the entity's first mention, if it is a pronoun we replace and no mention there has a noun."""
    result: list[Mention] = []
    for _, group in groupby(entity.mentions, key=lambda mention: mention.sentence):
        mentions = list(group)
        spoken = [[word.lower() for word in document.words[m.word_start : m.word_end]] for m in mentions]
        if not all(is_pronoun(words) for words in spoken):
            continue
        counted = [i for i, words in enumerate(spoken) if not _OTHER_PERSONS.issuperset(words)]
        if counted and len(spoken[counted[0]]) == 1 and spoken[counted[0]][0] in _REPLACED:
            result.append(mentions[counted[0]])
    return result


def _rarer_gender(entity: Entity) -> frozenset[str]:
    """Pronouns that the entity's others speak against: who is "she" once and "he" often is a mistake."""
    counts = Counter(mention.text.lower() for mention in entity.mentions)
    he, she = sum(counts[word] for word in _HE), sum(counts[word] for word in _SHE)
    if he and she:
        return (_HE if he <= she else frozenset()) | (_SHE if she <= he else frozenset())
    return frozenset()


def _inside_names(words: Sequence[str], mentions: Sequence[Span]) -> set[int]:
    """Words inside mentions that are capitals throughout: "Her Majesty", "Tell Her Twice"."""
    return {
        i
        for start, end in mentions
        if end - start > 1 and all(w[:1].isupper() for w in words[start:end])
        for i in range(start, end)
    }


def _stands_free(document: Document, word: int) -> bool:
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


def _stays(document: Document, word: int) -> bool:
    """Whether the words around a pronoun speak against a name: titles, "he who", "one of them", "it seems"."""
    words = document.words
    sentence = document.sentence_of_word[word]
    end = document.sentence_ends[sentence]
    begin = document.sentence_ends[sentence - 1] if sentence else 0
    spelled = words[word]
    following = words[word + 1 : end]
    before = words[begin:word]
    if spelled.isupper() or (spelled[0].isupper() and before and before[-1][-1:].isalnum()):
        return True  # shouted, or a capital where no sentence begins: God, or a title
    if following and (following[0] in _TITLES or following[0].lower() in ("who", "whom", "whose")):
        return True
    if len(before) > 1 and before[-1].lower() == "of" and before[-2].lower() in _QUANTITIES:
        return True
    return spelled.lower() == "it" and _is_expletive(following)


def _is_expletive(following: Sequence[str]) -> bool:
    """It is true that …, it was Anna who …, it seems to …: "it" stands for no thing, whatever a model says."""
    if not following or following[0].lower() not in _BE:
        return False
    for word in following[1:6]:
        if word.lower() in _CLAUSE:
            return True
        if not word[:1].isalnum():
            return False
    return False


def _agrees(document: Document, word: int, label: Label) -> bool:
    """Whether name and pronoun are both one or both many, as far as the words show it."""
    pronoun = document.words[word].lower()
    one, many = _number(label)
    if pronoun not in _PLURAL:
        return one
    if many or pronoun != "they":
        return True
    following = document.words[word + 1].lower() if word + 1 < len(document.words) else ""
    before = document.words[word - 1].lower() if word else ""
    return (following in _NUMBERLESS or following.endswith("ed")) and before not in _NUMBERED


def _number(label: Label) -> tuple[bool, bool]:
    """Whether a label may speak of one, and whether of many: "the Vales" and "the Netherlands" look alike."""
    words = [word.lower() for word in label.words]
    if "and" in words:
        return label.is_name, True  # two people, or a firm
    end = next((i for i, word in enumerate(words) if i and word in _HEAD_ENDS), len(words))
    head = words[end - 1]
    plural = head.endswith(_IRREGULAR_PLURALS) or (head.endswith("s") and not head.endswith(("ss", "us", "is")))
    if words[0] != "the":
        return True, False
    return (not plural or label.words[end - 1][0].isupper()), plural


def _possessive(label: Label, pronoun: str, apostrophe: str) -> str:
    """Anna's, James's, the Vales'."""
    plural = label.text[-1:] in "sS" and (pronoun in _PLURAL or _number(label)[1])
    return label.text + apostrophe + ("" if plural else "s")


def _labels(document: Document) -> list[Label | None]:
    """One for each entity. A noun phrase that two entities share tells nobody which is meant, so neither has it."""
    lower_case = {word for word in document.words if word.islower()}
    labels = [_label(document, entity, lower_case) for entity in document.entities]
    phrases = Counter(label.text.lower() for label in labels if label and not label.is_name)
    return [None if label and phrases[label.text.lower()] > 1 else label for label in labels]


def _label(document: Document, entity: Entity, lower_case: set[str]) -> Label | None:
    """The best mention that can stand anywhere: a name, or a short phrase with an article, and no pronoun in it."""
    spans: list[Span] = []
    for mention in entity.mentions:
        start, end = mention.word_start, mention.word_end
        if end - start > 1 and document.words[end - 1] in ("'s", "’s", "'", "’"):
            end -= 1
        if _can_be_label(document, (start, end), lower_case):
            spans.append((start, end))
    if not spans:
        return None
    start, end = spans[readable_name([(document.words[a:b], _opens(document, a)) for a, b in spans])]
    words = document.words[start:end]
    text = clean_name(document.span_text((start, end)))
    first = words[0].lower()
    if first in _POINTERS:
        return Label(f"the {clean_name(document.span_text((start + 1, end)))}", ("the", *words[1:]), False)
    if first in _NUMBERS:
        return Label(f"the {text[0].lower()}{text[1:]}", ("the", *words), False)
    if first == "the" and _opens(document, start):
        text = f"the{text[3:]}"
    is_name = words[-1][0].isupper()
    return Label(text, (first, *words[1:]), is_name)


def _can_be_label(document: Document, span: Span, lower_case: set[str]) -> bool:
    words = document.words[slice(*span)]
    first = words[0].lower()
    has_article = first in _POINTERS or first in _NUMBERS or first == "the"
    core = words[1:] if has_article else words
    if not core or len(words) > _LONGEST_LABEL or any(word.lower() in _VAGUE for word in core):
        return False
    if not all(word[0].isalnum() or word in ("'s", "’s", "&") for word in words) or "\n\n" in document.span_text(span):
        return False
    if has_article or any(word in ("'s", "’s") for word in words[1:-1]):
        return True
    if not (words[0][0].isupper() and words[-1][0].isupper()):
        return False
    # One capitalised word that only ever opens a sentence is a name unless it is also found in lower case.
    return len(words) > 1 or not _opens(document, span[0]) or first not in lower_case


def _opens(document: Document, word: int) -> bool:
    """Whether a word begins a sentence, or what is said inside one."""
    before = document.sentence_of_word[word - 1] != document.sentence_of_word[word] if word else True
    return before or not document.words[word - 1][-1:].isalnum()
