"""The Resolver: texts, words and turns in, documents out; many texts; what is refused."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count, islice, pairwise
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from tokenizers import normalizers

import streamcoref
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.events import Event, with_answer
from streamcoref.model import checkpoint as checkpoints
from streamcoref.resolver import Resolver, load
from streamcoref.text import split_text
from tests import toy_resolver
from tests.model import toys
from tests.toy_resolver import plain_text, resolver

TEXTS = [plain_text(seed, 40) for seed in range(7)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_resolver.save_model(tmp_path_factory.mktemp("resolver") / "model")


def test_a_text() -> None:
    text = "\ufeff" + TEXTS[0].replace(" ", "\r\n", 3)
    document = resolver().resolve(text, key="story", singletons=True, genre="novel")
    assert (document.key, document.text, document.genre) == ("story", text, "novel")
    assert document.speakers == ()
    assert len(document.entities) > 3
    for entity in document.entities:
        for mention in entity.mentions:
            assert mention.text == text[mention.start : mention.end]
            assert mention.score is not None


def streamed(document: Document, events: list[Event]) -> Document:
    """A document with the answer of a stream."""
    return with_answer(replace(document, predicted_clusters=None, scores={}), events)


def test_words_and_speakers_agree_with_a_stream() -> None:
    """Of documents that have words only, with a speaker a word, whatever the model makes of the speakers."""
    model = toy_resolver.make_resolver(segments={"max_pieces": 24, "speakers_as_text": True})
    plain = toys.document(3, 80)
    names = [["", "Anna", "Carl"][number // 9 % 3] for number in range(80)]
    document = Document.from_sentences("toy", plain.sentences, speakers=names)
    ends = [0, *document.sentence_ends]
    speakers = [names[a:b] for a, b in pairwise(ends)]
    answer = model.resolve(words=document.sentences, speakers=speakers, key="toy")
    stream = model.stream()
    assert answer == streamed(document, stream.feed_words(document.sentences, speakers) + stream.close())
    assert answer == model.resolve(document=document)
    assert answer.predicted_clusters
    assert answer.text is None
    assert answer.scores != model.resolve(words=document.sentences).scores


def test_a_speaker_a_sentence() -> None:
    document = resolver().resolve(words=[["he", "left"], [], ["she"]], speakers=["Anna", "Bo", ""])
    assert document.sentences == (("he", "left"), ("she",))
    assert document.speakers == ("Anna", "Anna", "")
    assert resolver().resolve(words=[["he"]]).speakers == ()


def test_turns() -> None:
    turns = [("Anna", "I saw the captain"), ("Anna", "he left"), (None, "She wept."), ("Carl", ""), ("Carl", "Who?")]
    document = resolver().resolve(turns=turns, singletons=True)
    assert document.text == "I saw the captain\nhe left\nShe wept.\n\nWho?"
    assert [" ".join(sentence) for sentence in document.sentences] == [
        "I saw the captain",
        "he left",
        "She wept .",
        "Who ?",
    ]
    assert document.speakers == ("Anna",) * 6 + ("",) * 3 + ("Carl",) * 2
    assert [document.text[a:b] for a, b in document.offsets] == list(document.words)
    assert document.entities


def test_turns_agree_with_a_stream() -> None:
    model = toy_resolver.make_resolver(segments={"max_pieces": 24, "speakers_as_text": True})
    turns = [(["Anna", "Carl", None][seed % 3], text) for seed, text in enumerate(TEXTS)]
    document = model.resolve(turns=turns)
    stream = model.stream()
    events: list[Event] = []
    for number, (speaker, text) in enumerate(turns):
        events += stream.feed("\n" + text if number else text, speaker)
        events += stream.end_turn()
    assert streamed(document, events + stream.close()) == document
    assert len(document.entities) > 3


@pytest.mark.parametrize("options", [{}, {"singletons": True}, {"min_score": 0.1, "evict": "none"}])
def test_a_text_agrees_with_a_stream(options: dict[str, Any]) -> None:
    for text in (plain_text(9, 300), "“I know,” said Anna.\n\nHe left -- she did n't.", ""):
        stream = resolver().stream(**options)
        document = resolver().resolve(text, **options)
        assert document == streamed(document, stream.feed(text) + stream.close())


def test_a_document_is_answered_as_it_is() -> None:
    """By its own words and sentences, keeping all that it has."""
    document = replace(toys.document(3, 80), clusters=(((0, 1), (5, 6)),), genre="novel")
    answer = resolver().resolve(document=document)
    assert replace(answer, predicted_clusters=None, scores={}) == document
    assert answer.predicted_clusters == resolver().resolve(words=document.sentences, genre="novel").predicted_clusters
    assert resolver().resolve(document=document, genre="unknown").genre == "unknown"
    # Its own genre counts as one that is asked for, and one that the model does not know as none.
    other = replace(document, genre="verse")
    assert resolver().resolve(document=other).scores == resolver().resolve(document=replace(other, genre=None)).scores


def test_a_baseline_resolves_but_does_not_stream() -> None:
    baseline = toy_resolver.make_baseline()
    document = baseline.resolve(TEXTS[1], singletons=True, min_score=0.2)
    assert document.entities
    assert all(mention.score is not None and mention.score >= 0.2 for e in document.entities for mention in e.mentions)
    assert len(baseline.resolve(TEXTS[1], singletons=True, min_score=0.6).scores) < len(document.scores)
    assert document == baseline.resolve(document=document, singletons=True, min_score=0.2)
    assert len(baseline.resolve(words=[["Anna", "left", "her"]], speakers="Carl").words) == 3
    with pytest.raises(StreamcorefError, match="whole-document baseline, which cannot read a stream; use resolve"):
        baseline.stream()
    with pytest.raises(StreamcorefError, match="whole-document baseline, which holds no entities"):
        baseline.resolve("x", evict="none")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": b"bytes"}, "a text to resolve is a str, not bytes"),
        ({"text": 3}, "a text to resolve is a str, not int"),
        ({}, "give one of text, words, turns and document"),
        ({"text": "a", "words": [["a"]]}, "give one of text, words, turns and document"),
        ({"text": "a", "speakers": ["Anna"]}, "speakers go with words"),
        ({"words": "a b"}, "a list of sentences, each a list of str, not str"),
        ({"turns": "a b"}, r"a list of pairs \(speaker, text\), not str"),
        ({"turns": [("Anna", "a"), "ab"]}, r"turn 1 \(counted from 0\) is not a pair"),
        ({"turns": [(3, "a")]}, r"turn 0 \(counted from 0\) is not a pair"),
        ({"text": "a", "scheme": "nope"}, "the model has no scheme 'nope'; its schemes: plain, litbank"),
        ({"text": "a", "genre": "nope"}, "the model has no genre 'nope'; its genres: unknown, novel"),
        ({"text": "a", "evict": "nope"}, "^evict: unknown name 'nope'; known: none, two_distances"),
        ({"text": "a", "evict": {"name": "none", "colour": 1}}, "^evict.colour: unknown key"),
        ({"text": "a", "evict": 3}, "^evict: 3 is no policy; give one by name"),
        ({"text": "a", "min_score": 1.5}, "^min_score: Input should be less than or equal to 1"),
        ({"text": "a", "min_score": float("nan")}, "^min_score: Input should be "),
        ({"text": "a", "singletons": "yes"}, "^singletons: Input should be a valid boolean"),
        ({"text": "a", "colour": 1}, "there is no option 'colour'; the options are singletons, min_score"),
    ],
)
def test_mistakes_are_said_in_a_sentence(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(StreamcorefError, match=said) as caught:
        resolver().resolve(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", " \t\r\n\n\u3000", "\ufeff\u200b", "\x00\x00"])
def test_a_text_without_words_has_no_entities(text: str) -> None:
    document = resolver().resolve(text, singletons=True)
    assert (document.text, document.words, document.sentence_ends) == (text, (), ())
    assert document.predicted_clusters == ()
    assert resolver().resolve(words=[[]]).words == resolver().resolve(turns=[]).words == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", ["x"]),
        (".", ["."]),
        ("?!... “”—(", ["?", "!", "...", "“", "”", "—", "("]),
        ("👨\u200d👩\u200d👧👍🏽🇳🇿", ["👨\u200d👩\u200d👧", "👍🏽", "🇳🇿"]),
        ("\x00he\x00saw\x00", ["he", "saw"]),
        ("\ud800he \udfff", ["\ud800he", "\udfff"]),
    ],
)
def test_odd_texts(text: str, words: list[str]) -> None:
    document = resolver().resolve(text, singletons=True)
    assert list(document.words) == words
    assert document.predicted_clusters is not None
    for entity in document.entities:
        assert all(text[mention.start : mention.end] == mention.text for mention in entity.mentions)


def test_a_text_of_names() -> None:
    text = " ".join(["Anna", "Berta", "Carl", "Doyle", "Emma"] * 12)
    document = resolver().resolve(text)
    assert len(document.words) == 60
    assert document.entities
    for entity in document.entities:
        assert all(part in text.split() for part in entity.name.split())


def test_a_long_run_without_a_blank() -> None:
    text = "Anna" * 2000
    document = resolver().resolve(text, singletons=True)
    assert len(document.words) == 80
    assert "".join(document.words) == text


@pytest.mark.slow
def test_a_sentence_of_20_000_words() -> None:
    text = " and ".join(["Anna saw the ship"] * 4000)
    document = resolver().resolve(text)
    assert len(document.words) == 19_999
    assert document.sentence_ends == (19_999,)
    assert document.entities
    assert {mention.sentence for entity in document.entities for mention in entity.mentions} == {0}


@pytest.mark.slow
def test_a_million_identical_words() -> None:
    """Split in seconds; a stream reads as many of them as one wants and holds no more for it."""
    text = "Anna " * 1_000_000
    began = time.process_time()
    words, ends = split_text(text)
    assert time.process_time() - began < 20
    assert (len(words), ends) == (1_000_000, [1_000_000])
    stream = resolver().stream()
    stream.feed(text[:50_000])
    early, alive = len(stream.state()), stream.alive
    stream.feed(text[50_000:200_000])
    assert stream.words_read > 39_900
    assert stream.alive <= 2 * alive
    assert len(stream.state()) < 1.5 * early


@pytest.mark.parametrize("texts", ["Anna saw the ship.", b"Anna", {"text": "Anna saw the ship."}])
@pytest.mark.parametrize("workers", [1, 2])
def test_one_text_is_not_many(texts: Any, workers: int) -> None:
    """A str is a sequence of its characters, each of which would be a text."""
    with pytest.raises(StreamcorefError, match=r"resolve_many takes several texts.*give \[text\], or call resolve"):
        resolver().resolve_many(texts, workers=workers)


def test_a_resolver_is_shared_by_its_copies_and_read_again_from_a_pickle(folder: Path) -> None:
    ours = load(folder)
    assert copy.copy(ours) is ours
    assert copy.deepcopy(ours) is ours
    again = pickle.loads(pickle.dumps(ours))
    assert again.folder == ours.folder
    assert again.resolve(TEXTS[0]) == ours.resolve(TEXTS[0])


def test_a_resolver_that_cannot_be_read_again_says_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="cannot be sent elsewhere: its model is in no folder"):
        pickle.dumps(resolver())
    moving = tmp_path / "model"
    shutil.copytree(folder, moving)
    sent = pickle.dumps(load(moving))
    shutil.rmtree(moving)
    checkpoints.save_checkpoint(moving, toy_resolver.make_resolver(spans={"ratio": 0.3}).checkpoint, "# Another\n")
    with pytest.raises(StreamcorefError, match="no longer the model that was sent"):
        pickle.loads(sent)


def test_many_texts_in_order_and_none_dropped() -> None:
    given = [*TEXTS[:3], "", {"text": TEXTS[3], "key": "mine"}, {"words": [["he", "left"]], "speakers": "Anna"}]
    documents = list(resolver().resolve_many(given, singletons=True))
    assert documents[:3] == [resolver().resolve(t, key=f"text-{i}", singletons=True) for i, t in enumerate(TEXTS[:3])]
    assert [document.key for document in documents] == ["text-0", "text-1", "text-2", "text-3", "mine", "text-5"]
    assert documents[5].speakers == ("Anna", "Anna")
    assert list(resolver().resolve_many([])) == []


class Taken:
    """An endless iterator of texts that counts those taken."""

    def __init__(self, bad: int = -1) -> None:
        self.number, self.bad = 0, bad

    def __iter__(self) -> Iterator[Any]:
        for number in count():
            self.number += 1
            yield 3 if number == self.bad else TEXTS[number % len(TEXTS)]


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_of_endless_texts_a_few_are_taken_ahead(ahead: int) -> None:
    texts = Taken()
    documents = resolver().resolve_many(texts, ahead=ahead)
    assert texts.number == 0
    for number in range(1, 7):
        next(documents)
        assert number <= texts.number < number + ahead


def test_a_bad_text_is_named() -> None:
    documents = resolver().resolve_many(Taken(bad=2))
    assert len(list(islice(documents, 2))) == 2
    with pytest.raises(StreamcorefError, match=r"text 2 \(counted from 0\): a text is a str or a mapping .*, not int"):
        next(documents)
    with pytest.raises(StreamcorefError, match=r"text 0 .* resolve has no argument 'colour'; it has text, words"):
        next(resolver().resolve_many([{"colour": 1}]))


def test_bad_options_are_said_before_the_first_text() -> None:
    with pytest.raises(StreamcorefError, match="no scheme 'nope'"):
        resolver().resolve_many([], scheme="nope")
    with pytest.raises(StreamcorefError, match="workers is 0; give at least 1"):
        resolver().resolve_many([], workers=0)
    with pytest.raises(StreamcorefError, match="ahead is 0; give at least 1"):
        resolver().resolve_many([], ahead=0)


def test_an_unforeseen_error_names_its_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr("streamcoref.resolver.predict", fail)
    with pytest.raises(StreamcorefError, match=r"text 0 .* could not be resolved: RuntimeError: out of memory"):
        next(resolver().resolve_many(["x"]))


@pytest.mark.slow
def test_workers_give_the_same_documents(folder: Path) -> None:
    model = load(folder)
    texts = Taken()
    documents = model.resolve_many(texts, workers=2, singletons=True)
    first = list(islice(documents, 6))
    assert 6 <= texts.number <= 6 + 4  # twice the workers
    documents.close()  # type: ignore[attr-defined]
    assert active_children() == []
    assert first == list(islice(model.resolve_many(Taken(), singletons=True), 6))
    with pytest.raises(StreamcorefError, match=r"text 1 \(counted from 0\): a text is a str"):
        list(model.resolve_many([TEXTS[0], 3, TEXTS[1]], workers=2))  # type: ignore[list-item]


@pytest.mark.slow
def test_a_dying_worker_is_an_error_and_no_hang(folder: Path) -> None:
    documents = load(folder).resolve_many(Taken(), workers=2)
    assert len(list(islice(documents, 2))) == 2
    victim = active_children()[0].pid
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(StreamcorefError, match=r"a worker process died at text \d+ \(counted from 0\) or one of the 4"):
        for _ in documents:
            pass
    assert active_children() == []


def test_threads_may_share_a_resolver() -> None:
    expected = [resolver().resolve(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(resolver().resolve, TEXTS)) == expected


def test_load(folder: Path) -> None:
    one, two = load(folder), load(str(folder), device="auto")
    assert one.folder == folder.resolve()
    assert one.fingerprint == two.fingerprint
    assert one.resolve(TEXTS[0]) == resolver().resolve(TEXTS[0])
    assert one.fingerprint != toy_resolver.make_resolver(update={"name": "mean"}).fingerprint
    with pytest.raises(StreamcorefError, match="threads is 0; give at least 1"):
        load(folder, threads=0)
    with pytest.raises(StreamcorefError, match="torch cannot use the device 'nope' here"):
        load(folder, device="nope")
    with pytest.raises(StreamcorefError, match="there is no model folder nowhere"):
        load("nowhere")


def test_other_weights_have_another_fingerprint() -> None:
    one, two = toy_resolver.make_resolver(), toy_resolver.make_resolver()
    next(two.checkpoint.model.spans.parameters()).data.add_(1e-3)
    assert one.fingerprint == resolver().fingerprint != two.fingerprint


def test_another_tokenizer_has_another_fingerprint() -> None:
    one, two = toy_resolver.make_resolver(), toy_resolver.make_resolver()
    one.resolve(TEXTS[0])  # what a call sets in a tokenizer does not count
    assert one.fingerprint == two.fingerprint
    other = toys.tokenizer()
    other.tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    changed = Resolver(two.checkpoint._replace(tokenizer=other), Path("nowhere"))
    assert changed.fingerprint != two.fingerprint


def test_the_bundled_model_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkpoints, "BUNDLED", folder)
    for name in (None, "default", Path("default")):
        assert load(name).folder == folder.resolve()
    assert checkpoints.load_checkpoint("default").config == load().checkpoint.config
    monkeypatch.setattr(checkpoints, "BUNDLED", tmp_path)
    with pytest.raises(StreamcorefError, match="this installation has no bundled model; name a model folder"):
        load()


@pytest.mark.model
def test_the_bundled_model_resolves() -> None:
    document = streamcoref.load().resolve("Anna met Carl at the harbour. She gave him a letter.")
    assert any({"Anna", "She"} <= {mention.text for mention in entity.mentions} for entity in document.entities)


def test_the_package_knows_the_names_without_importing_torch() -> None:
    code = (
        "import sys, streamcoref\n"
        "streamcoref.EntityStarted, streamcoref.MentionLinked, streamcoref.EntityFinished\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "assert not hasattr(streamcoref, 'nope')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert streamcoref.Resolver is Resolver
    assert streamcoref.load is load
