"""The query scorer: what it reads, what it adds, and any other reader in its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref.document import Document, Span
from streamcoref.errors import StoppedError, StreamcorefError
from streamcoref.formats import files
from streamcoref.model.base import CorefModel
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from streamcoref.model.config import ModelConfig, build_model
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.pair_score import Pairs
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.model.pair_score.query import QueryScorer
from streamcoref.model.parts import load_code
from streamcoref.model.reading import Link
from streamcoref.model.segments import SegmentOptions
from streamcoref.model.text_context import Question, TextContext
from streamcoref.model.text_reader import EncoderReader
from streamcoref.resolver import Resolver
from streamcoref.store import Store
from tests.cli.toy_resolving import rows
from tests.model import toys

COARSE: dict[str, Any] = {
    "name": "coarse_to_fine",
    "hidden": 24,
    "shortlist": 3,
    "features": ["distance"],
    "feature_size": 4,
}
QUERY = COARSE | {"name": "query", "contexts": 2, "context_pieces": 8, "query_hidden": 16}


def query_config(**changes: Any) -> ModelConfig:
    return toys.config(pair_score=QUERY | changes)


def model_of(config: ModelConfig, seed: int = 0, says: float = 0.0) -> IncrementalModel:
    """With weights spread out; `says` is how much its reader's answers differ."""
    torch.manual_seed(seed)
    model = build_model(config, tokenizer=toys.tokenizer()).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("pair_score.reader.net.output"):
                parameter.normal_(std=says)
            elif not name.startswith(("encoder.", "pair_score.reader.")) and name != "new_entity_score":
                parameter.mul_(6.0) if parameter.dim() > 1 else parameter.uniform_(-0.1, 0.1)
    assert isinstance(model, IncrementalModel)
    return model


def reader_of(model: IncrementalModel) -> EncoderReader:
    assert isinstance(model.pair_score, QueryScorer)
    assert isinstance(model.pair_score.reader, EncoderReader)
    return model.pair_score.reader


def context(text: str) -> TextContext:
    """`Anna [met Carl] .` as a mention in its sentence."""
    before, _, rest = text.partition("[")
    mention, _, behind = rest.partition("]")
    words = [part.split() for part in (before, mention, behind)]
    return TextContext(
        tuple(text.translate({91: None, 93: None}).split()), len(words[0]), len(words[0]) + len(words[1])
    )


QUESTION = Question(context("[She] saw the ship ."), (context("[Anna] left ."), context("Carl met [her] .")))


def test_a_pass_is_the_span_and_the_mentions_marked() -> None:
    tokenizer = toys.tokenizer()
    pieces, places = reader_of(model_of(query_config())).pieces(QUESTION)
    text = "[CLS] [ she ] saw the ship . [SEP] [ anna ] left . carl met [ her ] . [SEP]".split()
    special = {"[CLS]": tokenizer.first, "[SEP]": tokenizer.last}
    expected = [special[word] if word in special else tokenizer([word])[0][0] for word in text]
    assert pieces == expected
    assert places == [(1, 4), (9, 12), (16, 19)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("he saw it and [Anna] left her near it .", "saw it and [ anna ] left her near it"),
        ("[Anna] saw it and he left her near it .", "[ anna ] saw it and he left her near"),
        ("he saw it and she left her near [Anna]", "saw it and she left her near [ anna ]"),
        ("it and [he saw it and she left her near] .", "[ he saw it and she left her near ]"),
    ],
)
def test_of_a_long_sentence_the_pieces_around_the_mention_are_read(text: str, kept: str) -> None:
    tokenizer, words = toys.tokenizer(), kept.split()
    pieces, places = reader_of(model_of(query_config())).pieces(Question(context(text), ()))
    assert pieces == [tokenizer.first, *(tokenizer([word])[0][0] for word in words), tokenizer.last, tokenizer.last]
    assert places == [(1 + words.index("["), 1 + words.index("]") + 1)]


@pytest.mark.parametrize("layers", [2, 1])
def test_an_encoder_of_its_own_begins_as_the_lower_layers_mixed_as_they_are(layers: int) -> None:
    config = query_config(layers=layers)
    config = config.model_copy(update={"encoder": config.encoder.model_copy(update={"layers": 3, "mix": True})})
    model = model_of(config)
    encoder = model.encoder
    assert encoder.mix is not None
    with torch.no_grad():
        encoder.mix.copy_(torch.tensor([0.5, -1.0, 2.0]))  # of the embeddings and of both layers
    model.pair_score.begin(encoder)
    ids = torch.tensor([[2, 7, 9, 3]])
    every = encoder.model(input_ids=ids, output_hidden_states=True).hidden_states[: layers + 1]
    shares = torch.softmax(encoder.mix[: layers + 1], 0)
    expected = sum(share * vectors for share, vectors in zip(shares, every, strict=True))
    torch.testing.assert_close(reader_of(model).encoder.encode(ids, None), expected)


@pytest.mark.parametrize("encoder", ["own", "model"])
def test_answers_do_not_depend_on_the_other_questions(encoder: str) -> None:
    reader = reader_of(model_of(query_config(encoder=encoder), says=1.0))
    texts = [
        context(t) for t in ("[Anna] left .", "he met [the old captain] and left her .", "[it]", "Carl saw [him] .")
    ]
    questions = [Question(a, (b,)) for a in texts for b in texts] + [QUESTION]
    with torch.no_grad():
        together = reader(questions)
        alone = torch.cat([reader([question]) for question in questions])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    assert together.std() > 0.01
    assert len(reader([])) == 0


def test_an_encoder_of_its_own_begins_as_the_lower_layers_of_the_models() -> None:
    model = model_of(query_config(layers=1))
    reader = reader_of(model)
    assert reader.own is not None
    assert reader.own.model.config.num_hidden_layers == 1
    reader.begin(model.encoder)
    given = model.encoder.state_dict()
    assert all(torch.equal(tensor, given[name]) for name, tensor in reader.own.state_dict().items())


def test_what_of_an_encoder_of_its_own_learns() -> None:
    """Its embeddings never do, and of its layers those from `trainable_from` on."""
    for first in (0, 1):
        own = reader_of(model_of(query_config(trainable_from=first))).own
        assert own is not None
        learning = {name.split(".")[3] for name, p in own.named_parameters() if p.requires_grad}
        assert learning == {str(layer) for layer in range(first, own.model.config.num_hidden_layers)}


def test_the_models_encoder_is_not_saved_twice() -> None:
    names = model_of(query_config(encoder="model")).state_dict()
    assert not any(name.startswith("pair_score.reader.own") for name in names)
    own = model_of(query_config()).state_dict()
    assert any(name.startswith("pair_score.reader.own.model.embeddings") for name in own)


def test_before_it_has_learnt_it_is_the_coarse_scorer() -> None:
    document = toys.document(2, 120)
    segments = toys.cut(document, 32)
    asking = model_of(query_config())
    plain = toys.model(toys.config(pair_score=COARSE), 0)
    plain.load_state_dict({name: asking.state_dict()[name] for name in plain.state_dict()})
    config = query_config()

    def links(model: CorefModel) -> list[Link]:
        return [link for result in toys.read(model, config, segments) for link in result.links]

    def decisions(found: list[Link]) -> list[tuple[Span, int]]:
        return [(link.span, link.entity) for link in found]

    found, expected = links(asking), links(plain)
    assert decisions(found) == decisions(expected)
    assert [link.score for link in found] == pytest.approx([link.score for link in expected], abs=1e-4)
    spoken = links(model_of(query_config(), says=2.0))
    assert [link.score for link in spoken] != pytest.approx([link.score for link in expected], abs=0.1)


@pytest.mark.parametrize(
    ("scores", "margin", "asked"),
    [
        ([3.0, 2.5, -4.0], None, [0, 1, 2]),
        ([3.0, 2.5, -4.0], 1.0, [0, 1]),
        ([3.0, 1.5, -4.0], 1.0, []),  # no doubt
        ([0.5, -0.4, -4.0], 1.0, [0, 1]),  # a new one is near, too
        ([-0.9, -1.1], 1.0, [0]),
        ([-1.1, -2.0], 1.0, []),  # a new one, no doubt
    ],
)
def test_with_a_margin_it_asks_where_there_is_a_doubt(
    scores: list[float], margin: float | None, asked: list[int]
) -> None:
    scorer = model_of(query_config(margin=margin)).pair_score
    assert isinstance(scorer, QueryScorer)
    questions: list[Question] = []

    class Reader(torch.nn.Module):
        def forward(self, given: Sequence[Question]) -> list[float]:
            questions.extend(given)
            return [7.0] * len(given)

    scorer.reader = Reader()
    texts = [(TextContext((str(number),), 0, 1),) for number in range(len(scores))]
    size, nothing = scorer.bilinear.in_features, torch.zeros(len(scores), dtype=torch.long)
    entities = torch.rand(len(scores), size)
    span = torch.rand(1, size)
    pairs = Pairs(
        span, scorer.read_spans(span), entities, scorer.read_entities(entities), nothing, QUESTION.span, texts
    )
    tables = scorer.fold_features({})
    fine = CoarseToFineScorer.refine(scorer, pairs, tables).detach()
    pairs = pairs._replace(so_far=torch.tensor(scores) - fine)
    answers = scorer.refine(pairs, tables).detach() - fine
    assert [int(question.mentions[0].words[0]) for question in questions] == asked
    assert answers.round(decimals=4).tolist() == [7.0 if number in asked else 0.0 for number in range(len(scores))]


def test_a_margin_changes_how_much_is_read_not_how() -> None:
    """As wide as can be it asks about all; the narrower it is, the fewer."""
    segments = toys.cut(toys.document(2, 120), 32)
    counts, links = [], []
    for margin in (None, 1e6, 0.5, 1e-6):
        config = query_config(margin=margin)
        model = model_of(config, says=2.0)
        reader = reader_of(model)
        asked: list[int] = []
        reader.register_forward_hook(lambda _module, given, _answer, asked=asked: asked.append(len(given[0])))
        links.append([result.links for result in toys.read(model, config, segments)])
        counts.append(sum(asked))
    assert counts[0] == counts[1] > counts[2] > counts[3] == 0
    assert links[0] == links[1] != links[3]


@pytest.mark.parametrize("contexts", [1, 3])
def test_an_entity_remembers_as_many_mentions_as_are_read(contexts: int) -> None:
    config = query_config(contexts=contexts)
    model = model_of(config, says=1.0)
    state = model.new_state()
    toys.read(model, config, toys.cut(toys.document(3, 200), 32), state)
    lengths = {len(texts) for texts in state.memory.texts}
    assert max(lengths) == contexts
    loaded = model.load_state(state.to_bytes())
    assert loaded.memory.texts == state.memory.texts


def test_a_stream_goes_on_from_a_saved_state_with_the_same_answers() -> None:
    config = query_config()
    model = model_of(config, says=2.0)
    segments = toys.cut(toys.document(4, 160), 32)
    whole = [result.links for result in toys.read(model, config, segments)]
    state = model.new_state()
    first = [result.links for result in toys.read(model, config, segments[:3], state)]
    rest = toys.read(model, config, segments[3:], model.load_state(state.to_bytes()))
    assert first + [result.links for result in rest] == whole


def test_a_store_goes_on_with_what_its_entities_remember(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 300)
    config = query_config(margin=2.0).model_copy(update={"segments": SegmentOptions(max_pieces=32)})
    resolver = Resolver(Checkpoint(model_of(config, says=2.0), config, toys.tokenizer()), tmp_path)
    book = tmp_path / "book.txt"
    book.write_text(" ".join(toys.document(4, 300).words), encoding="utf-8")
    resolver.resolve_file(book, tmp_path / "whole.sqlite").close()
    asked = iter([False, False, True])
    with pytest.raises(StoppedError):
        resolver.resolve_file(book, tmp_path / "parts.sqlite", should_stop=lambda: next(asked))
    with Store.open(tmp_path / "parts.sqlite") as store:
        assert 0 < store.position.bytes_read < book.stat().st_size
    resolver.resolve_file(book, tmp_path / "parts.sqlite").close()
    assert rows(tmp_path / "parts.sqlite")["mentions"] == rows(tmp_path / "whole.sqlite")["mentions"]


def test_it_is_saved_and_loaded_like_any_other(tmp_path: Path) -> None:
    config = query_config(layers=1)
    model = model_of(config, says=2.0)
    checkpoint = Checkpoint(model, config, toys.tokenizer())
    save_checkpoint(tmp_path, checkpoint, "# A model of a test\n")
    again = load_checkpoint(tmp_path)
    document = toys.document(5, 100)
    answers = [Resolver(one, tmp_path).resolve(document=document).predicted_clusters for one in (checkpoint, again)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"context_pieces": 60}, "2 contexts of 60 pieces need passes of 189 pieces, .* positions for 128 only"),
        ({"layers": 5}, "pair_score.layers is 5, but this encoder has 2 layers only"),
        ({"encoder": "model", "layers": 1}, "the model's encoder is read in full"),
        ({"encoder": "model", "trainable_from": 1}, "the model's encoder has one of its own"),
        ({"margin": 0.0}, "pair_score.*margin.*greater than 0"),
    ],
)
def test_what_it_cannot_have_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(StreamcorefError, match=said):
        model_of(query_config(**changes))


def test_a_baseline_has_no_entities_to_ask_about() -> None:
    with pytest.raises(StreamcorefError, match="a baseline chooses its antecedents by"):
        build_model(toys.config(kind="baseline", pair_score=QUERY))


def test_without_a_tokenizer_it_says_what_is_missing() -> None:
    model = build_model(query_config())
    assert isinstance(model, IncrementalModel)
    with pytest.raises(StreamcorefError, match="needs the tokenizer"):
        reader_of(model)([QUESTION])


# A language model behind an API, in a file of one's own: nothing of the package is touched.
SCRIPT = '''
from typing import Literal

from streamcoref.model import QueryScorerOptions

ASKED = []


def prompt(question):
    """What would be sent to a language model."""
    def marked(text):
        words = list(text.words)
        return " ".join([*words[: text.start], "*" + " ".join(words[text.start : text.end]) + "*", *words[text.end :]])

    return f"{marked(question.span)} | {' / '.join(marked(text) for text in question.mentions)}"


def answer(questions):
    """Scripted: yes, if the latest mention has the words of the span."""
    said = []
    for question in questions:
        ASKED.append(prompt(question))
        mine, theirs = (t.words[t.start : t.end] for t in (question.span, question.mentions[-1]))
        said.append(50.0 if mine == theirs else -50.0)
    return said


class AskOptions(QueryScorerOptions):
    name: Literal["ask_of_a_test"] = "ask_of_a_test"

    def reader(self, around):
        return answer
'''


def test_any_callable_that_reads_text_can_answer(tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text(SCRIPT, encoding="utf-8")
    load_code(tmp_path / "ask.py")
    spans = {"ratio": 100.0, "max_width": 1}
    shortlist = QUERY | {"name": "ask_of_a_test", "shortlist": 50}
    config = toys.config(pair_score=shortlist, spans=spans, evict={"name": "none"})
    model = toys.model(config, 0)
    document = Document.from_sentences(
        "x", [["Anna", "met", "Carl"], ["Carl", "saw", "Anna"], ["Anna", "left", "Carl"]]
    )
    checkpoint = Checkpoint(model, config, toys.tokenizer())
    clusters = Resolver(checkpoint, tmp_path).resolve(document=document).predicted_clusters
    assert clusters == (((0, 1), (5, 6), (6, 7)), ((2, 3), (3, 4), (8, 9)))
    assert isinstance(model.pair_score, QueryScorer)
    asked: Sequence[str] = model.pair_score.reader.__globals__["ASKED"]  # type: ignore[union-attr]
    assert "*Anna* left Carl | *Anna* met Carl / Carl saw *Anna*" in asked
