"""Pronouns replaced by names: what is replaced, by what, and that nothing else changes."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, pairwise

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from streamcoref import Document
from streamcoref.document import Clusters, Entity
from streamcoref.language.resolved import replacements
from streamcoref.text import document_from_text
from tests.formats.generated_documents import WORDS, documents, spans
from tests.stories.marked import Places, parse

THIRD_PERSON = frozenset("he him his she her hers it its they them their theirs".split())


def annotated(marked: str) -> Document:
    """From a text with mentions in brackets, each with its entity's letter: `[a Anna] lost [a her] hat`."""
    text, places = parse(marked)
    document = document_from_text("story", text)
    return replace(document, clusters=word_clusters(document, places))


def word_clusters(document: Document, places: Places) -> Clusters:
    """Clusters of words for mentions given in characters; a place that is cut by a word is left out."""
    starts, ends = ({span[side]: i + side for i, span in enumerate(document.offsets)} for side in (0, 1))
    return tuple(tuple((starts[a], ends[b]) for a, b in c if a in starts and b in ends) for c in places.values())


def resolved(marked: str) -> str:
    return annotated(marked).resolved_text()


def unmarked(marked: str) -> str:
    return parse(marked)[0]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("[a Anna Weber] ran. [a She] won.", "Anna Weber ran. Anna Weber won."),
        ("[a Anna] ran. Nobody saw [a her].", "Anna ran. Nobody saw Anna."),
        ("We know [a the baker]. [a He] sings.", "We know the baker. The baker sings."),
        ("[a The baker] came. Then [a he] sang.", "The baker came. Then the baker sang."),
        (
            "[a The Hague] grew. We saw [a The Hague]. Now [a it] sleeps.",
            "The Hague grew. We saw The Hague. Now The Hague sleeps.",
        ),
        ("[a Anna] ran. “[a She] won,” said Carl.", "Anna ran. “Anna won,” said Carl."),
    ],
)
def test_case(marked: str, expected: str) -> None:
    assert resolved(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("[a Anna] ran. [a Her] dog ran too.", "Anna ran. Anna's dog ran too."),
        ("[a Anna] ran. The dog is [a hers].", "Anna ran. The dog is Anna's."),
        ("[a Carl] ran. The dog is [a his].", "Carl ran. The dog is Carl's."),
        ("[a James] ran. [a His] dog ran too.", "James ran. James's dog ran too."),
        ("[a The Vales] ran. [a Their] dog ran too.", "The Vales ran. The Vales' dog ran too."),
        ("[a The Vales] ran. The dog is [a theirs].", "The Vales ran. The dog is the Vales'."),
        ("We took [a the ferry]. [a Its] bell rang.", "We took the ferry. The ferry's bell rang."),
        ("It’s [a Anna]. [a Her] dog ran.", "It’s Anna. Anna’s dog ran."),
        ("I met [a Anna's] dog. [a She] ran.", "I met Anna's dog. Anna ran."),
        (
            "[a The Vales]' dog ran. We saw [a the Vales']. [a They] ran.",
            "The Vales' dog ran. We saw the Vales'. The Vales ran.",
        ),
        ("We took [a the ferry]. [a It]'s late.", "We took the ferry. The ferry's late."),
    ],
)
def test_possessives(marked: str, expected: str) -> None:
    assert resolved(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("[a Anna] took [a her] hat.", "Anna took her hat."),
        ("[a Anna] ran. [a She] took [a her] hat when [a she] left.", "Anna ran. Anna took her hat when she left."),
        ("When [a she] came, [a Anna] sat down.", "When she came, Anna sat down."),
        ("[a Anna] ran. [a She]'d lost [a her] hat.", "Anna ran. She'd lost her hat."),
        ("[a Anna] ran. [a Herself] a cook, [a she] ate.", "Anna ran. Herself a cook, she ate."),
        ("[a Anna] ran. “[a I] am late,” [a she] said.", "Anna ran. “I am late,” Anna said."),
    ],
)
def test_only_the_first_pronoun_of_a_sentence_without_the_name(marked: str, expected: str) -> None:
    assert resolved(marked) == expected


@pytest.mark.parametrize(
    "marked",
    [
        "[a Anna] ran. The fool was [a herself].",
        "[a Anna] ran. “[a I] lost [a my] hat; it is [a mine].”",
        "[a Anna] ran. “[a You] lost [a your] hat.”",
        "I met [a the man]. Here is [a who] I mean, or [a that].",
        "[a She] ran. Then [a she] fell.",
        "[a Anna] ran. [a SHE] won.",
        "[a Anna] ran. [a Her Majesty] won, and [a Her] word was law.",
        "[a Anna] ran. [a Her] Majesty won.",
        "[a Anna] sang [b Tell [a Her] Twice]. Carl sang [b Tell [a Her] Twice].",
        "[a Anna] ran. Now [a He] is God.",
        "[a Anna] ran. Say [a he]/she.",
        "[a Carl] ran. [a He] who laughs last wins.",
        "[a The Vales] ran. One of [a them] fell.",
        "I read [a the book]. [a It] is true that Carl ran.",
        "I read [a the book]. [a It] was Carl who ran.",
        "I saw [a the men]. [a It] ran.",
        "[a Lind] grew. [a They] are rich.",
        "[a Lind] grew. Do [a they] ever pay?",
        "[a Lind] grew. Don't [a they] need pay?",
        "[a His] dog ran. [b [a His] dog] sat. [b It] slept.",
        "Carl [a quarrelled]. [a It] hurt.",
        "[a Quarrels] hurt, and I hate quarrels. [a They] hurt.",
        "[a The man with a very long beard] ran. [a He] won.",
        "[a Everyone] ran. [a They] won.",
        "I saw [a some men]. [a They] ran.",
        "[a Anna] ran. They made [a her] laugh.",
        "[a Anna] ran. They brought [a her] home.",
    ],
)
def test_what_stays(marked: str) -> None:
    assert resolved(marked) == unmarked(marked)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("I saw [a a woman]. [a She] ran.", "I saw a woman. The woman ran."),
        ("I saw [a two men]. [a They] ran.", "I saw two men. The two men ran."),
        ("[a Two men] came. I saw [a them].", "Two men came. I saw the two men."),
        ("I saw [a that dog]. [a It] ran.", "I saw that dog. The dog ran."),
        ("[b Carl]’s in. I saw [a [b Carl]’s dog]. [a It] ran.", "Carl’s in. I saw Carl’s dog. Carl’s dog ran."),
        ("[a Anna and Carl] ran. [a They] are tired.", "Anna and Carl ran. Anna and Carl are tired."),
        ("[a Lind] grew. [a They] would pay.", "Lind grew. Lind would pay."),
        ("[a Lind] grew. We know [a them].", "Lind grew. We know Lind."),
        ("I read [a the\n  book]. [a It] is long.", "I read the\n  book. The book is long."),
        ("I read [a the book]. [a It] is long, so to bed.", "I read the book. The book is long, so to bed."),
    ],
)
def test_names_and_phrases(marked: str, expected: str) -> None:
    assert resolved(marked) == expected


def test_nested_mentions_are_replaced_inside_and_never_twice() -> None:
    marked = "[a Anna] ran. [b [a Her] brother] sat. [c [b His] dog] slept. [c It] snored."
    assert resolved(marked) == "Anna ran. Anna's brother sat. His dog slept. It snored."
    marked = "[b Carl] met [a Anna]. [b [a Her] brother] sat. [c [b His] dog] slept."
    assert resolved(marked) == "Carl met Anna. Anna's brother sat. Carl's dog slept."


def test_a_longer_mention_tells_a_possessive() -> None:
    assert resolved("[a Anna] ran. They gave [a her] flowers.") == "Anna ran. They gave her flowers."
    assert resolved("[a Anna] ran. They gave [b [a her] flowers] away.") == "Anna ran. They gave Anna's flowers away."


def test_a_phrase_of_two_entities_names_neither_but_a_name_does() -> None:
    marked = "I saw [a the man]. Carl saw [b the man]. [a He] ran. [b He] fell."
    assert resolved(marked) == unmarked(marked)
    assert resolved(marked.replace("the man", "Ben")) == "I saw Ben. Carl saw Ben. Ben ran. Ben fell."


def test_the_rarer_of_he_and_she_is_taken_for_a_mistake() -> None:
    marked = "[a Sam] ran. [a She] won. [a He] fell. [a She] sat."
    assert resolved(marked) == "Sam ran. Sam won. He fell. Sam sat."
    assert resolved("[a Sam] ran. [a She] won. [a He] fell.") == "Sam ran. She won. He fell."


def test_predicted_clusters_go_before_gold_ones() -> None:
    document = annotated("[a Anna] and Eve ran. [a She] won.")
    assert replace(document, predicted_clusters=(((2, 3), (5, 6)),)).resolved_text() == "Anna and Eve ran. Eve won."
    assert replace(document, predicted_clusters=()).resolved_text() == document.text


def test_a_document_of_words_is_joined_by_blanks() -> None:
    document = Document.from_sentences("d", [["Anna", "ran", "."], ["She", "won", "."]], [[(0, 1), (3, 4)]])
    assert document.resolved_text() == "Anna ran .\nAnna won ."
    assert Document("empty", (), ()).resolved_text() == ""


PRONOUNS = st.sampled_from(
    "She she Her her hers He he him his It it its They they their them I you herself who SHE".split()
)
NAMES = st.sampled_from(["Anna", "Carl Lind", "James", "The Vales", "the\nman", "a dog", "Ünal", "Anna's", "中"])
OTHERS = st.sampled_from("ran saw gave is was 's ’s 'd ! , “ ” and of one Majesty who USA hat".split())
ENTITIES = st.sampled_from("ab")
NAMED = "Anna he She her it They".split()


@st.composite
def stories(draw: st.DrawFn) -> Document:
    """Pronouns and names of two entities between other words, with odd white space, and phrases around them."""
    text = ""
    places: dict[str, list[tuple[int, int]]] = {}
    piece = st.one_of(st.tuples(PRONOUNS | NAMES, ENTITIES), st.tuples(OTHERS, st.none()))
    sentence = st.lists(piece, min_size=1, max_size=4).map(lambda pieces: [*pieces, (".", None)])
    for words, entity in chain(
        [(draw(NAMES), "a"), (draw(NAMES), "b"), (".", None)],
        *draw(st.lists(sentence, min_size=2, max_size=6)),
    ):
        if entity is not None:
            places.setdefault(entity, []).append((len(text), len(text) + len(words)))
        text += words + draw(st.sampled_from([" ", " ", " ", "\r\n", " \t", "", "\n\n"]))
    document = document_from_text("random", text)
    more = draw(st.lists(spans(len(document.words)), max_size=2))
    return replace(document, clusters=(*word_clusters(document, places), tuple(more)))


def with_a_name(document: Document) -> Document:
    """With an entity more: all words that stand for Anna."""
    anna = tuple((i, i + 1) for i, word in enumerate(document.words) if word in NAMED)
    return replace(document, clusters=(*document.clusters, anna))


# Words of any script and odd offsets, among them names and pronouns
ANY_DOCUMENTS = documents(st.sampled_from(NAMED) | WORDS, texts=True).map(with_a_name)


@given(stories())
def test_all_else_stays_character_for_character(document: Document) -> None:
    for entity, replacement in replaced(document):
        # what comes in is a mention of the same entity, but for its article, its possessive and a capital
        core = re.sub(r"^the |['’]s?$", "", replacement, flags=re.IGNORECASE).lower()
        assert any(core in " ".join(m.text.lower().split()) for m in entity.mentions), (replacement, entity)
        assert core not in THIRD_PERSON


def replaced(document: Document) -> list[tuple[Entity, str]]:
    """What was replaced, once it is clear that this is single pronouns, and that everything else is as it was."""
    document = document.with_text()
    text, found = document.text, replacements(document)
    assert text is not None
    assert all(a.end <= b.start for a, b in pairwise(found))
    mentions = {(m.start, m.end): entity for entity in document.entities for m in entity.mentions}
    single = [document.offsets[m.word_start] for e in document.entities for m in e.mentions if len(m.text.split()) == 1]
    parts, position = [], 0
    for start, end, replacement in found:
        assert text[start:end].lower() in THIRD_PERSON
        assert (start, end) in single
        parts += [text[position:start], replacement]
        position = end
    assert document.resolved_text() == "".join(parts) + text[position:]
    return [(mentions[start, end], replacement) for start, end, replacement in found]


def test_the_random_stories_have_something_to_replace() -> None:
    quick = settings(database=None, phases=[Phase.generate], max_examples=2000)
    find(stories(), lambda document: len(replacements(document)) > 1, settings=quick)
    find(ANY_DOCUMENTS, lambda document: bool(replacements(document)), settings=quick)


@given(ANY_DOCUMENTS)
def test_any_text_is_safe(document: Document) -> None:
    for _, replacement in replaced(document):
        assert replacement.strip() == replacement != ""


@given(documents(WORDS.filter(lambda word: word.lower() not in THIRD_PERSON), texts=True))
def test_a_text_without_pronouns_stays(document: Document) -> None:
    assert document.resolved_text() == document.with_text().text
