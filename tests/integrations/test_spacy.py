"""The component of spaCy's pipelines: spans at the right tokens, whatever the doc; answers that survive journeys."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from streamcoref import Document, StreamcorefError
from tests import toy_resolver
from tests.model import toys

spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'streamcoref[spacy]'")

from spacy.tokens import Doc, DocBin, Span, Token  # noqa: E402

TEXT = "Anna saw the captain.  He left her \n\n under the old ship. She lost his letter, and he found it."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_resolver.save_model(tmp_path_factory.mktemp("spacy") / "toy")


@pytest.fixture(scope="module")
def nlp(folder: Path) -> Any:
    return pipeline(folder)


def pipeline(folder: Path, sentences: bool = True, **config: Any) -> Any:
    nlp = spacy.blank("en")
    if sentences:
        nlp.add_pipe("sentencizer")
    nlp.add_pipe("streamcoref", config={"model": str(folder), "singletons": True, **config})
    return nlp


def answer(doc: Doc) -> list[tuple[str, str, list[tuple[int, int]], list[float]]]:
    """All that was answered, as plain values."""
    return [
        (entity.key, entity.name, [(span.start, span.end) for span in entity.mentions], list(entity.scores))
        for entity in doc._.coref.entities
    ]


def plain_document(doc: Doc) -> Document:
    """The doc as our own Document, written down another way: token by token."""
    words, offsets, ends = [], [], []
    for token in doc:
        if token.is_sent_start and words and (not ends or ends[-1] != len(words)):
            ends.append(len(words))
        if not token.text.isspace():
            words.append(token.text)
            offsets.append((token.idx, token.idx + len(token.text)))
    if words and (not ends or ends[-1] != len(words)):
        ends.append(len(words))
    return Document("doc", tuple(words), tuple(ends), text=doc.text, offsets=tuple(offsets))


@pytest.mark.slow
def test_the_entry_point_names_the_factory() -> None:
    """In a process that has imported nothing of ours; and to look it up does not load torch."""
    if "streamcoref" not in entry_points(group="spacy_factories").names:
        pytest.skip("this installation of streamcoref is older than its entry point: install it again")
    code = (
        "import spacy, sys; nlp = spacy.blank('en');"
        "assert spacy.registry.factories.get('streamcoref'); print('streamcoref.options' in sys.modules);"
        "nlp.add_pipe('streamcoref'); print(nlp.pipe_names)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == ["False", "['streamcoref']"]


def test_everything_that_is_set(nlp: Any) -> None:
    doc = nlp(TEXT)
    coref = doc._.coref
    assert len(coref.entities) > 1
    assert max(len(entity.mentions) for entity in coref.entities) > 1
    for number, entity in enumerate(coref.entities, start=1):
        assert entity.key == f"coref_{number}"
        assert list(doc.spans[entity.key]) == list(entity.mentions)
        assert len(entity.scores) == len(entity.mentions)
        for span in entity.mentions:
            assert isinstance(span, Span)
            assert span._.entity == entity
            assert all(entity in token._.entities for token in span)
    assert set(doc.spans) == {entity.key for entity in coref.entities}
    assert [(s.start, -s.end) for s in coref.mentions] == sorted((s.start, -s.end) for s in coref.mentions)
    for token in doc:
        around = {e.key for e in coref.entities for span in e.mentions if span.start <= token.i < span.end}
        assert {entity.key for entity in token._.entities} == around
        assert len(token._.entities) == len(around)
    assert doc[0 : len(doc)]._.entity is None
    assert doc._.resolved_text == coref.document.resolved_text()


def test_a_token_knows_its_innermost_mention_first(nlp: Any) -> None:
    doc = nlp.make_doc("the captain of the old ship left")
    doc.spans["coref_1"] = [doc[0:6]]
    doc.spans["coref_2"] = [doc[3:6]]
    assert [entity.key for entity in doc[4]._.entities] == ["coref_2", "coref_1"]
    assert [entity.key for entity in doc[1]._.entities] == ["coref_1"]
    assert doc[6]._.entities == ()


def test_the_answer_is_the_models_for_spacys_words_and_sentences(nlp: Any) -> None:
    doc = nlp(TEXT)
    expected = toy_resolver.resolver().resolve(document=plain_document(doc), singletons=True)
    assert doc._.coref.document == expected
    assert any(len(token.text.strip()) == 0 for token in doc), "the text has no white space token"


def test_without_sentences_ours_are_taken(folder: Path) -> None:
    doc = pipeline(folder, sentences=False)(TEXT)
    found = doc._.coref.document
    assert [sentence[0] for sentence in found.sentences] == ["Anna", "He", "under", "She"]
    own = spacy.blank("en")
    own.add_pipe("sentencizer", config={"punct_chars": [","]})
    own.add_pipe("streamcoref", config={"model": str(folder)})
    assert [sentence[0] for sentence in own(TEXT)._.coref.document.sentences] == ["Anna", "and"]


@settings(max_examples=40)
@given(toy_resolver.nasty_texts)
def test_spans_are_at_the_right_characters(text: str) -> None:
    """Of any text, with white space tokens anywhere: a mention's span has exactly its characters."""
    text = "".join(c for c in text if not "\ud800" <= c <= "\udfff")
    nlp = _shared()
    doc = nlp(text)
    coref = doc._.coref
    assert coref.document.text == text
    assert coref.document.words == tuple(token.text for token in doc if not token.is_space)
    for ours, theirs in zip(coref.document.entities, coref.entities, strict=True):
        assert ours.name == theirs.name
        for mention, span in zip(ours.mentions, theirs.mentions, strict=True):
            assert (mention.start, mention.end, mention.text) == (span.start_char, span.end_char, span.text)
            assert not span[0].is_space
            assert not span[-1].is_space


_pipelines: list[Any] = []


def _shared() -> Any:
    return _pipelines[0]


@pytest.fixture(scope="module", autouse=True)
def _keep(nlp: Any) -> Iterator[None]:
    _pipelines.append(nlp)
    yield
    _pipelines.clear()


@pytest.mark.parametrize("text", ["", " ", "\n\n \t", "Anna", ".", " Anna ", "\nshe\n"])
def test_docs_with_hardly_anything(nlp: Any, folder: Path, text: str) -> None:
    for made in (nlp, pipeline(folder, sentences=False)):
        doc = made(text)
        assert doc._.coref.document.words == tuple(text.split())
        assert doc._.resolved_text == text
        assert all(span.text == text.strip() for span in doc._.coref.mentions)


def test_a_doc_of_words_and_one_with_half_its_sentences(nlp: Any) -> None:
    component = nlp.get_pipe("streamcoref")
    doc = Doc(nlp.vocab, ["Anna", "saw", "him", ".", "\n", "He", "left"], [True, True, False, True, False, True, False])
    doc[5].is_sent_start = True
    assert component(doc)._.coref.document.sentences == (("Anna", "saw", "him", "."), ("He", "left"))


def test_batches_and_processes_change_nothing(nlp: Any) -> None:
    texts = [TEXT, "", "Anna left. She saw him.", " ", toy_resolver.plain_text(3, 300), TEXT * 3]
    alone = [answer(nlp(text)) for text in texts]
    assert [answer(doc) for doc in nlp.pipe(texts, batch_size=2)] == alone
    assert [answer(doc) for doc in nlp.pipe(texts, batch_size=2, n_process=2)] == alone
    paired = nlp.pipe([(text, number) for number, text in enumerate(texts)], as_tuples=True, batch_size=4)
    assert [(answer(doc), number) for doc, number in paired] == [(a, i) for i, a in enumerate(alone)]


def test_a_doc_that_is_read_again_has_one_answer(nlp: Any) -> None:
    component = nlp.get_pipe("streamcoref")
    doc = component(nlp(TEXT))
    assert answer(doc) == answer(nlp(TEXT))
    doc.spans["coref_99"] = [doc[0:1]]
    doc.spans["sc"] = [doc[1:2]]
    component(doc)
    assert "coref_99" not in doc.spans
    assert list(doc.spans["sc"]) == [doc[1:2]]


def test_docs_survive_bytes_bins_copies_and_pickles(nlp: Any, tmp_path: Path) -> None:
    doc = nlp(TEXT)
    expected = answer(doc)
    assert answer(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == expected
    assert answer(pickle.loads(pickle.dumps(doc))) == expected
    assert answer(copy.copy(doc)) == expected
    bins = DocBin(docs=[doc, nlp("")])
    bins.to_disk(tmp_path / "docs.spacy")
    first, second = DocBin().from_disk(tmp_path / "docs.spacy").get_docs(spacy.blank("en").vocab)
    assert answer(first) == expected
    assert answer(second) == []
    assert first._.resolved_text == doc._.resolved_text


def test_pipelines_survive_disk_bytes_and_pickles(folder: Path, tmp_path: Path) -> None:
    made = pipeline(folder, min_score=0.2)
    expected = answer(made(TEXT))
    assert expected
    made.to_disk(tmp_path / "pipeline")
    packed = made.to_bytes()
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "pipeline").rename(elsewhere)
    # The folder that the config names need not be there any more.
    loaded = spacy.load(elsewhere, config={"components": {"streamcoref": {"model": "no/such"}}})
    assert answer(loaded(TEXT)) == expected
    assert loaded.get_pipe("streamcoref").options["min_score"] == 0.2
    empty = spacy.blank("en")
    empty.add_pipe("sentencizer")
    empty.add_pipe("streamcoref", config={"model": "no/such", "singletons": True, "min_score": 0.2})
    assert answer(empty.from_bytes(packed)(TEXT)) == expected
    # as a process that begins afresh gets it
    for component in (made.get_pipe("streamcoref"), loaded.get_pipe("streamcoref")):
        again = pickle.loads(pickle.dumps(component))
        assert answer(again(made.get_pipe("sentencizer")(made.make_doc(TEXT)))) == expected


def test_options_reach_the_model(folder: Path) -> None:
    text = toy_resolver.plain_text(5, 200)
    counts = [len(pipeline(folder, singletons=singletons)(text)._.coref.entities) for singletons in (True, False)]
    assert counts[0] > counts[1] > 0
    doc = pipeline(folder, min_score=0.9)(text)
    assert all(score >= 0.9 for entity in doc._.coref.entities for score in entity.scores)
    assert answer(pipeline(folder, scheme="litbank")(text)) != answer(pipeline(folder, scheme="plain")(text))
    assert answer(pipeline(folder, evict={"name": "none"})(text)) == answer(pipeline(folder, evict="none")(text))
    assert answer(pipeline(folder, evict="none:budget=2")(text)) != answer(pipeline(folder, evict="none")(text))


def test_mistakes_are_sentences(folder: Path) -> None:
    with pytest.raises(StreamcorefError, match="min_score"):
        pipeline(folder, min_score=2)
    with pytest.raises(StreamcorefError, match="the model has no scheme 'other'; its schemes: plain, litbank"):
        pipeline(folder, scheme="other")("Anna")
    with pytest.raises(StreamcorefError, match="there is no model folder"):
        pipeline(folder / "none")("Anna")
    with pytest.raises(ValueError, match="singleton"):
        pipeline(folder, singleton=True)


def test_what_the_pipeline_knows_of_the_component(nlp: Any) -> None:
    analysis = nlp.analyze_pipes()
    assert analysis["summary"]["streamcoref"]["assigns"] == [
        "doc.spans",
        "doc._.coref",
        "doc._.resolved_text",
        "span._.entity",
        "token._.entities",
    ]
    assert analysis["summary"]["streamcoref"]["requires"] == []
    assert analysis["problems"]["streamcoref"] == []
    for kind, name in ((Doc, "coref"), (Doc, "resolved_text"), (Span, "entity"), (Token, "entities")):
        assert kind.has_extension(name)


@pytest.mark.slow
def test_an_import_takes_no_name_away() -> None:
    code = (
        "from spacy.tokens import Doc; Doc.set_extension('coref', default='theirs');"
        "import streamcoref.integrations.spacy, spacy, sys; nlp = spacy.blank('en'); print(nlp.make_doc('x')._.coref);"
        "nlp.add_pipe('streamcoref'); print(nlp.make_doc('x')._.coref.entities)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["theirs", "()"]


def test_docs_are_not_kept_alive(nlp: Any) -> None:
    import gc
    import weakref

    doc = nlp(TEXT)
    assert doc._.coref.mentions[0]._.entity
    assert doc[0]._.entities is not None
    gone = weakref.ref(doc)
    del doc
    gc.collect()
    assert gone() is None


def test_every_sentence_of_a_doc_is_one_of_the_document(nlp: Any) -> None:
    doc = nlp(" \n Anna left . \n \n She saw him .  ")
    ends = doc._.coref.document.sentence_ends
    assert [b - a for a, b in pairwise((0, *ends))] == [3, 4]
    assert all(word in toys.WORDS or word == "She" for word in doc._.coref.document.words)


@pytest.mark.model
def test_the_bundled_model_in_a_blank_pipeline() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("streamcoref")
    doc = nlp("Anna Weber lost her keys on Monday. She looked for them everywhere, and her brother helped her.")
    assert [entity.name for entity in doc._.coref.entities] == ["Anna Weber", "her keys"]
    assert [span.text for span in doc.spans["coref_1"]] == ["Anna Weber", "her", "She", "her", "her"]
    assert doc._.resolved_text.startswith("Anna Weber lost her keys on Monday. Anna Weber looked")


@pytest.mark.model
def test_the_bundled_model_behind_spacys_small_english_one() -> None:
    if not spacy.util.is_package("en_core_web_sm"):
        pytest.skip("en_core_web_sm is not installed: python -m spacy download en_core_web_sm")
    nlp = spacy.load("en_core_web_sm")
    nlp.add_pipe("streamcoref")
    doc = nlp("Anna Weber lost her keys on Monday. She looked for them everywhere.")
    assert [span.text for span in doc.spans["coref_1"]] == ["Anna Weber", "her", "She"]
    assert len(doc._.coref.document.sentences) == len(list(doc.sents)) == 2
