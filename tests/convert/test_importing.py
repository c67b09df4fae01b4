"""Imports of every kind of source: values bit for bit, nothing unaccounted for, every mistake a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from streamcoref.convert import Imported, import_checkpoint
from streamcoref.convert.name_map import read_map
from streamcoref.convert.settings import encoder_architecture
from streamcoref.convert.sources import CheckpointSource, encoder_config_of
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.model.config import build_model, preset
from streamcoref.model.encoder import Encoder, pretrained_encoder
from streamcoref.model.incremental import IncrementalModel
from tests.convert import fixture_values, make_authors_checkpoint
from tests.convert.bundle_writer import write_bundle
from tests.model.toy_answers import answer

DATA = Path(__file__).parent / "data"
TINY = DATA / "spanbert_tiny"
AUTHORS = DATA / "checkpoint.bin"


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def same(tensor: torch.Tensor, array: Any) -> None:
    np.testing.assert_array_equal(tensor.numpy(), np.asarray(array), strict=True)


def complaint(*arguments: Any, **options: Any) -> str:
    with pytest.raises(StreamcorefError) as caught:
        import_checkpoint(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An encoder's configuration and vocabulary without its weights."""
    folder = tmp_path / "bare"
    folder.mkdir()
    shutil.copy(TINY / "bert_config.json", folder / "config.json")
    shutil.copy(TINY / "vocab.txt", folder)
    return folder


@pytest.fixture
def encoder(bare: Path) -> Path:
    """The fixture's encoder in the first layout of SpanBERT: old names, a prefix, pretraining heads, no model_type."""
    given = {name: torch.from_numpy(array) for name, array in fixture_values.baseline_variables().items()}
    state = make_authors_checkpoint.bert_state(given)
    state = {f"bert.{name}": tensor.contiguous() for name, tensor in state.items()}
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in state.items()
    }
    old["cls.predictions.bias"] = torch.zeros(3)
    torch.save(old, bare / "pytorch_model.bin")
    return bare


def tf_folder(folder: Path, **changes: Any) -> Path:
    """The fixture's variables, some changed, added or (None) left out, as a checkpoint of our own making."""
    folder.mkdir(parents=True)
    arrays = fixture_values.baseline_variables() | {k: v for k, v in changes.items() if v is not None}
    write_bundle(folder / "model.max.ckpt", {k: v for k, v in arrays.items() if changes.get(k, v) is not None})
    for name in ("bert_config.json", "vocab.txt"):
        shutil.copy(TINY / name, folder)
    return folder


# The baseline's TensorFlow checkpoint


def test_the_baseline_bit_for_bit(tmp_path: Path) -> None:
    done = import_checkpoint(TINY, tmp_path / "out")
    theirs, ours = fixture_values.baseline_variables(), weights(tmp_path / "out")
    assert done.kind == "baseline"
    same(ours["pair_score.features.tables.genre.weight"], theirs["genre_embeddings"])
    same(ours["spans.vectors.width.weight"], theirs["span_width_embeddings"])
    same(ours["spans.scorer.width_prior.weight"], theirs["span_width_prior_embeddings"])
    same(ours["spans.vectors.attention.weight"], theirs["mention_word_attn/output_weights"].T)
    same(ours["spans.vectors.attention.bias"], theirs["mention_word_attn/output_bias"])
    for scope, name in (
        ("mention_scores", "spans.scorer.span"),
        ("width_scores", "spans.scorer.width"),
        ("coref_layer/slow_antecedent_scores", "pair_score.net"),
    ):
        same(ours[f"{name}.hidden.weight"], theirs[f"{scope}/hidden_weights_0"].T)
        same(ours[f"{name}.hidden.bias"], theirs[f"{scope}/hidden_bias_0"])
        same(ours[f"{name}.output.weight"], theirs[f"{scope}/output_weights"].T)
        same(ours[f"{name}.output.bias"], theirs[f"{scope}/output_bias"])
    tables = "pair_score.features.tables"
    same(ours[f"{tables}.speaker.weight"], theirs["coref_layer/same_speaker_emb"])
    same(ours[f"{tables}.distance.weight"], theirs["coref_layer/antecedent_distance_emb"])
    segment = "coref_layer/segment_distance/segment_distance_embeddings"
    same(ours[f"{tables}.segment.weight"], theirs[segment])
    same(ours["pair_score.bilinear.weight"], theirs["src_projection/output_weights"].T)
    same(ours["pair_score.bilinear.bias"], theirs["src_projection/output_bias"])
    same(ours["pair_score.prior_features.tables.distance.weight"], theirs["antecedent_distance_emb"])
    same(ours["pair_score.prior.weight"], theirs["output_weights"].T)
    same(ours["pair_score.prior.bias"], theirs["output_bias"])
    same(ours["gate.weight"], theirs["coref_layer/f/output_weights"].T)
    same(ours["gate.bias"], theirs["coref_layer/f/output_bias"])
    check_encoder(ours, "encoder.model.")


def check_encoder(ours: dict[str, torch.Tensor], prefix: str) -> None:
    given = {name: torch.from_numpy(array) for name, array in fixture_values.baseline_variables().items()}
    theirs = make_authors_checkpoint.bert_state(given)
    checked = 0
    for name, tensor in ours.items():
        if name.startswith(prefix) and (prefix or not name.startswith("spans.")):
            same(tensor, theirs[name.removeprefix(prefix)])
            checked += 1
    assert checked == len(theirs) - 3  # all but the pooler's two and the numbers of positions


def test_the_incremental_model_of_a_baseline(tmp_path: Path) -> None:
    done = import_checkpoint(TINY, tmp_path / "out", "incremental")
    import_checkpoint(TINY, tmp_path / "baseline", "baseline")
    ours, baseline = weights(tmp_path / "out"), weights(tmp_path / "baseline")
    shared = ours.keys() & baseline.keys()
    assert all(torch.equal(ours[name], baseline[name]) for name in shared)
    new = ours.keys() - baseline.keys()
    assert {name.split(".")[0] for name in new} == {"update", "new_entity_score"}
    assert {name.split(".")[0] for name in baseline.keys() - shared} == {"pair_score", "gate"}
    assert ours["new_entity_score"].tolist() == [0.0]
    assert ours["update.net.hidden.weight"].std() > 0.01  # not left empty
    assert done.new["Update"].tensors == 4
    assert done.dropped["only a baseline has it"].tensors == 7
    model = load_checkpoint(tmp_path / "out").model
    assert isinstance(model, IncrementalModel)
    assert model.encoder.frozen


def test_new_weights_are_the_same_each_time(tmp_path: Path) -> None:
    import_checkpoint(TINY, tmp_path / "a", "incremental")
    torch.manual_seed(5)
    drawn = torch.rand(1)
    torch.manual_seed(5)
    import_checkpoint(TINY, tmp_path / "b", "incremental")
    assert torch.equal(torch.rand(1), drawn)  # and nobody else's random numbers change
    a, b = weights(tmp_path / "a"), weights(tmp_path / "b")
    assert all(torch.equal(a[name], b[name]) for name in a)


def count(done: Imported) -> int:
    parts = (*done.taken.values(), *done.dropped.values())
    return sum(part.tensors for part in parts)


@pytest.mark.parametrize("kind", ["baseline", "incremental", "encoder"])
def test_every_variable_is_accounted_for(tmp_path: Path, kind: Any) -> None:
    """The fixture has 64 weights and 2 of the pooler, twice that in slots, two powers and a step."""
    assert count(import_checkpoint(TINY, tmp_path / "out", kind)) == 3 * 66 + 3


def test_sizes_and_settings(tmp_path: Path) -> None:
    import_checkpoint(TINY, tmp_path / "out")
    config = load_checkpoint(tmp_path / "out").config
    assert config.spans.max_width == fixture_values.WIDTHS
    assert config.spans.scorer.hidden == config.pair_score.hidden == fixture_values.FFNN
    assert config.spans.width_size == config.pair_score.feature_size == fixture_values.FEATURE
    assert config.genres == fixture_values.GENRES
    assert config.encoder.name is None
    assert config.encoder.architecture["num_attention_heads"] == fixture_values.HEADS
    assert config.segments.max_pieces == fixture_values.POSITIONS  # no more than there are
    assert config.higher_order == preset("baseline-spanbert-base").higher_order
    assert not config.spans.word_boundaries


@pytest.mark.parametrize(("name", "pieces"), [("bert_base", 128), ("bert_large", 384), ("spanbert_large", 512)])
def test_published_folders_have_their_segments(tmp_path: Path, name: str, pieces: int) -> None:
    positions = fixture_values.values("bert/embeddings/position_embeddings", (600, fixture_values.HIDDEN))
    folder = tf_folder(tmp_path / name, **{"bert/embeddings/position_embeddings": positions})
    config = json.loads((folder / "bert_config.json").read_text(encoding="utf-8")) | {"max_position_embeddings": 600}
    (folder / "bert_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert import_checkpoint(folder, tmp_path / "out").max_pieces == pieces
    assert import_checkpoint(folder, tmp_path / "other", max_pieces=100).max_pieces == 100


def test_ways_to_name_a_checkpoint(tmp_path: Path) -> None:
    for number, name in enumerate(("model.max.ckpt", "model.max.ckpt.index", "model.max.ckpt.data-00000-of-00001")):
        assert import_checkpoint(TINY / name, tmp_path / str(number)).kind == "baseline"


def test_one_of_several_checkpoints_is_to_be_named(tmp_path: Path) -> None:
    folder = tf_folder(tmp_path / "in")
    for path in list(folder.glob("model.max.ckpt.*")):
        for step in ("model-1000", "model-2000"):
            shutil.copy(path, folder / path.name.replace("model.max.ckpt", step))
    assert import_checkpoint(folder, tmp_path / "best").kind == "baseline"
    for path in list(folder.glob("model.max.ckpt.*")):
        path.unlink()
    assert "name one of model-1000, model-2000" in complaint(folder, tmp_path / "out")
    assert import_checkpoint(folder / "model-2000", tmp_path / "out").kind == "baseline"


def test_unknown_variables_are_listed(tmp_path: Path) -> None:
    extra = {"span_width/start_width_embeddings": np.zeros((2, 2), np.float32), "x": np.zeros(1, np.float32)}
    message = complaint(tf_folder(tmp_path / "in", **extra), tmp_path / "out")
    assert message.endswith("nothing says to drop: span_width/start_width_embeddings, x")
    assert not (tmp_path / "out").exists()


def test_missing_variables_are_listed_by_their_names(tmp_path: Path) -> None:
    gone = {"coref_layer/f/output_bias": None, "bert/encoder/layer_1/output/dense/kernel": None}
    message = complaint(tf_folder(tmp_path / "in", **gone), tmp_path / "out")
    assert message.endswith("misses bert/encoder/layer_1/output/dense/kernel, coref_layer/f/output_bias")
    message = complaint(tf_folder(tmp_path / "in2", **{"coref_layer/f/output_bias": None}), tmp_path / "out")
    assert message.endswith("misses coref_layer/f/output_bias")
    message = complaint(tf_folder(tmp_path / "in3", genre_embeddings=None), tmp_path / "out")
    assert message.endswith("misses genre_embeddings")


def test_wrong_shapes_are_both_named(tmp_path: Path) -> None:
    wrong = {"mention_scores/hidden_weights_0": np.zeros((27, 12), np.float32)}
    message = complaint(tf_folder(tmp_path / "in", **wrong), tmp_path / "out")
    assert message.endswith("mention_scores/hidden_weights_0 has shape [27, 12], but the baseline model needs [28, 12]")


def test_genres_are_checked(tmp_path: Path) -> None:
    message = complaint(tf_folder(tmp_path / "in", genre_embeddings=np.zeros((5, 4), np.float32)), tmp_path / "out")
    assert "has 5 genres, but the preset baseline-spanbert-base has 7: bc, bn, mz, nw, pt, tc, wb" in message


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("hidden_size", 16, "says hidden_size 16, but the tensors"),
        ("num_hidden_layers", 3, "says num_hidden_layers 3, but"),
        ("vocab_size", 99, "word_embeddings has shape [32, 8], but the baseline model needs [99, 8]"),
        ("intermediate_size", 4, "has shape [16], but the baseline model needs [4]"),
    ],
)
def test_the_config_of_another_encoder(tmp_path: Path, key: str, value: int, said: str) -> None:
    folder = tf_folder(tmp_path / "in")
    config = json.loads((folder / "bert_config.json").read_text(encoding="utf-8")) | {key: value}
    (folder / "bert_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert said in complaint(folder, tmp_path / "out")


def test_more_segment_distances_than_ours(tmp_path: Path) -> None:
    """The published bert_base has 11. A baseline tells them all apart; an incremental model uses only the first."""
    table = "coref_layer/segment_distance/segment_distance_embeddings"
    values = fixture_values.values(table, (11, fixture_values.FEATURE))
    folder = tf_folder(tmp_path / "in", **{table: values})
    import_checkpoint(folder, tmp_path / "out", "incremental")
    same(weights(tmp_path / "out")["pair_score.features.tables.segment.weight"], values[:3])
    import_checkpoint(folder, tmp_path / "baseline")
    same(weights(tmp_path / "baseline")["pair_score.features.tables.segment.weight"], values)
    features = load_checkpoint(tmp_path / "baseline").config.model_dump()["pair_score"]["features"]
    assert {"name": "segment", "buckets": 11} in features


def test_a_bad_checksum_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tf_folder(tmp_path / "in")
    shard = folder / "model.max.ckpt.data-00000-of-00001"
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    assert "checksum" in complaint(folder, tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


# The authors' files


def test_the_authors_checkpoint_bit_for_bit(tmp_path: Path, bare: Path) -> None:
    done = import_checkpoint(AUTHORS, tmp_path / "out", encoder=bare)
    theirs, ours = make_authors_checkpoint.state_dict(), weights(tmp_path / "out")
    assert done.kind == "incremental"
    assert not done.new
    assert "optimizer as an object, not read" in done.dropped
    networks = {
        "span_scorer.spanFFNN": "spans.scorer.span",
        "span_scorer.widthFFNN": "spans.scorer.width",
        "pair_scorer.slow_antecedent_scores": "pair_score.net",
        "mlp": "update.net",
    }
    for name, mine in networks.items():
        same(ours[f"{mine}.hidden.weight"], theirs[f"{name}.layers.0.weight"])
        same(ours[f"{mine}.hidden.bias"], theirs[f"{name}.layers.0.bias"])
        same(ours[f"{mine}.output.weight"], theirs[f"{name}.projection.weight"].reshape(1, -1))
        same(ours[f"{mine}.output.bias"], theirs[f"{name}.projection.bias"].reshape(1))
    tables = {
        "genre_embedder.genre_emb": "pair_score.features.tables.genre.weight",
        "span_scorer.span_width_embeddings": "spans.vectors.width.weight",
        "span_scorer.span_width_prior_embeddings": "spans.scorer.width_prior.weight",
        "span_scorer.attnProjection.output_layer.weight": "spans.vectors.attention.weight",
        "span_scorer.attnProjection.output_layer.bias": "spans.vectors.attention.bias",
        "pair_scorer.same_speaker_emb": "pair_score.features.tables.speaker.weight",
        "pair_scorer.antecedent_distance_emb": "pair_score.features.tables.distance.weight",
        "pair_scorer.segment_distance_emb": "pair_score.features.tables.segment.weight",
        "threshold": "new_entity_score",
    }
    for name, mine in tables.items():
        same(ours[mine], theirs[name])
    check_encoder(ours, "encoder.model.")
    assert load_checkpoint(tmp_path / "out").config.evict.measure == "start"


@pytest.mark.parametrize("legacy", [False, True])
def test_optimizers_as_dictionaries(tmp_path: Path, bare: Path, legacy: bool) -> None:
    make_authors_checkpoint.save(tmp_path / "checkpoint.bin", 0.5, as_objects=False, legacy=legacy)
    done = import_checkpoint(tmp_path / "checkpoint.bin", tmp_path / "out", encoder=bare)
    assert done.dropped["optimizer state"].tensors == 12  # a step and two moments of four tensors
    assert weights(tmp_path / "out")["new_entity_score"].tolist() == [0.5]


def test_a_folder_with_a_checkpoint(tmp_path: Path, bare: Path) -> None:
    shutil.copy(AUTHORS, tmp_path / "checkpoint.bin")
    (tmp_path / "config.json").write_text(
        '{"genres": ["bc"]}', encoding="utf-8"
    )  # the authors' settings, not an encoder's
    assert import_checkpoint(tmp_path, tmp_path / "out", encoder=bare).kind == "incremental"


TRAINERS_CONFIG = {  # as their trainer writes it: https://nlp.jhu.edu/incremental-coref, branch emnlp2020
    "model_type": "incremental",
    "encoder_type": "bert",
    "bert_ckpt_dir": "/somewhere/spanbert_large",
    "max_span_width": 30,
    "top_span_ratio": 0.4,
    "genres": ["bc", "bn", "mz", "nw", "pt", "tc", "wb"],
}


def test_the_config_that_their_trainer_wrote_is_no_encoders(tmp_path: Path, bare: Path) -> None:
    folder = tmp_path / "spb_on_512"
    folder.mkdir()
    shutil.copy(AUTHORS, folder / "checkpoint.bin")
    shutil.copy(bare / "config.json", folder / "bert_config.json")  # this encoder is of no published size
    shutil.copy(bare / "vocab.txt", folder)
    (folder / "config.json").write_text(json.dumps(TRAINERS_CONFIG), encoding="utf-8")
    assert import_checkpoint(folder, tmp_path / "out").kind == "incremental"
    assert import_checkpoint(folder / "checkpoint.bin", tmp_path / "again").kind == "incremental"
    (folder / "bert_config.json").unlink()
    assert "the encoder is 8 wide, which no published one is" in complaint(folder, tmp_path / "third")


def test_a_published_size_beside_their_trainers_config_needs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(TRAINERS_CONFIG), encoding="utf-8")
    assert encoder_config_of(tmp_path) is None
    source = CheckpointSource(tmp_path / "checkpoint.bin", "incremental_torch", {}, tmp_path)
    assert encoder_architecture(source, read_map("incremental_torch"), 1024, tmp_path)["num_attention_heads"] == 16


def test_what_else_is_in_a_checkpoint_is_an_error(tmp_path: Path, bare: Path) -> None:
    state = make_authors_checkpoint.state_dict()
    torch.save({"model": state, "epoch": 3}, tmp_path / "c.bin")
    assert "what is not known: epoch" in complaint(tmp_path / "c.bin", tmp_path / "out", encoder=bare)
    torch.save({"model": state | {"stray": torch.zeros(1)}}, tmp_path / "c.bin")
    assert complaint(tmp_path / "c.bin", tmp_path / "out", encoder=bare).endswith("nothing says to drop: stray")
    torch.save({"model": state | {"span_scorer.note": "text"}}, tmp_path / "c.bin")
    assert "span_scorer.note is no tensor but a str" in complaint(tmp_path / "c.bin", tmp_path / "out", encoder=bare)


def test_another_update_rule_is_refused(tmp_path: Path, bare: Path) -> None:
    """The authors' `mlp` update makes a whole vector."""
    state = make_authors_checkpoint.state_dict() | {"mlp.projection.weight": torch.zeros(28, 10)}
    torch.save({"model": state}, tmp_path / "c.bin")
    message = complaint(tmp_path / "c.bin", tmp_path / "out", encoder=bare)
    assert message.endswith("mlp.projection.weight has shape [28, 10], but the incremental model needs [1, 10]")


def test_layers_that_were_not_trained_come_from_the_encoder(tmp_path: Path, encoder: Path) -> None:
    """The authors' later code saves only what it trained."""
    state = make_authors_checkpoint.state_dict()
    partial = {k: v for k, v in state.items() if not k.startswith("encoder.") or ".layer.1." in k}
    partial["encoder.model.encoder.layer.1.output.dense.bias"] = torch.ones(fixture_values.HIDDEN)
    torch.save({"model": partial}, tmp_path / "c.bin")
    (encoder / "pytorch_model.bin").rename(tmp_path / "away.bin")
    message = complaint(tmp_path / "c.bin", tmp_path / "out", encoder=encoder)
    assert f"21 tensors of the encoder are not in it, and {encoder} has no encoder either" in message
    (tmp_path / "away.bin").rename(encoder / "pytorch_model.bin")
    done = import_checkpoint(tmp_path / "c.bin", tmp_path / "out", encoder=encoder)
    ours = weights(tmp_path / "out")
    same(ours["encoder.model.encoder.layer.1.output.dense.bias"], np.ones(fixture_values.HIDDEN, np.float32))
    first = "encoder.model.encoder.layer.0.output.dense.bias"
    same(ours[first], state[first])
    assert done.dropped["the checkpoint has its own"].tensors == 16


def scorer_vars(path: Path) -> None:
    """As the authors' script makes it: squeezed."""
    names = fixture_values.scorer_shapes()
    given = fixture_values.baseline_variables()
    torch.save({name: torch.from_numpy(given[name].squeeze()) for name in names}, path)


def test_scorer_variables_need_an_encoder(tmp_path: Path, encoder: Path) -> None:
    scorer_vars(tmp_path / "torch_scorer_vars.bin")
    message = complaint(tmp_path / "torch_scorer_vars.bin", tmp_path / "out")
    assert message.endswith("; give the folder of one as encoder")
    done = import_checkpoint(tmp_path / "torch_scorer_vars.bin", tmp_path / "out", encoder=encoder)
    import_checkpoint(TINY, tmp_path / "other", "incremental")
    ours, other = weights(tmp_path / "out"), weights(tmp_path / "other")
    assert ours.keys() == other.keys()
    assert all(torch.equal(ours[name], other[name]) for name in ours)
    assert done.dropped["pretraining heads"].tensors == 1


def test_scorer_variables_beside_their_encoder(tmp_path: Path, encoder: Path) -> None:
    """As the authors' instructions lay it out."""
    scorer_vars(encoder / "torch_scorer_vars.bin")
    assert import_checkpoint(encoder / "torch_scorer_vars.bin", tmp_path / "out").kind == "incremental"
    assert "makes incremental, not baseline" in complaint(
        encoder / "torch_scorer_vars.bin", tmp_path / "out2", "baseline"
    )


# Encoders


def test_an_encoder_of_the_first_layout(tmp_path: Path, encoder: Path) -> None:
    done = import_checkpoint(encoder, tmp_path / "out")
    assert done.kind == "encoder"
    check_encoder(weights(tmp_path / "out"), "")
    assert done.dropped["pretraining heads"].tensors == 1
    loaded = Encoder(pretrained_encoder(str(tmp_path / "out")))  # as `encoder.name` loads it
    check_encoder(loaded.model.state_dict(), "")


def test_weights_under_model_behind_decoder(tmp_path: Path, encoder: Path) -> None:
    """As SpanBERT was pretrained."""
    state = torch.load(encoder / "pytorch_model.bin", weights_only=True)
    torch.save({"model": {f"decoder.{name}": tensor for name, tensor in state.items()}}, encoder / "pytorch_model.bin")
    import_checkpoint(encoder, tmp_path / "out")
    check_encoder(weights(tmp_path / "out"), "")


def test_an_untrained_model_around_an_encoder(tmp_path: Path, encoder: Path) -> None:
    done = import_checkpoint(encoder, tmp_path / "out", preset="small")
    assert (done.kind, done.preset) == ("incremental", "small")
    ours = weights(tmp_path / "out")
    check_encoder(ours, "encoder.model.")
    assert all(torch.isfinite(tensor).all() for tensor in ours.values())
    checkpoint = load_checkpoint(tmp_path / "out")
    assert checkpoint.config.pair_score == preset("small").pair_score
    assert checkpoint.config.encoder.layers == fixture_values.LAYERS + 1  # fewer than the preset's, and all there are
    document = Document.from_sentences("d", [["Anna", "saw", "the", "captain", "."], ["She", "left", "."]])
    assert answer(checkpoint, document).predicted_clusters is not None
    assert import_checkpoint(encoder, tmp_path / "baseline", "baseline").preset == "baseline-spanbert-base"
    assert "makes a model of kind incremental, not baseline" in complaint(
        encoder, tmp_path / "x", "baseline", preset="small"
    )
    assert 'give kind="incremental"' in complaint(encoder, tmp_path / "x", "encoder", preset="small")


def test_an_encoder_of_another_family_from_safetensors(tmp_path: Path) -> None:
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=40,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=50,
    )
    model = RobertaModel(config).eval()
    source = tmp_path / "roberta"
    source.mkdir()
    config.save_pretrained(source)
    state = {f"roberta.{name}": tensor.to(torch.bfloat16) for name, tensor in model.state_dict().items()}
    save_file(state | {"lm_head.bias": torch.zeros(40)}, source / "model.safetensors")
    import_checkpoint(source, tmp_path / "out", "incremental", tokenizer=TINY / "vocab.txt")
    ours = weights(tmp_path / "out")
    for name, tensor in model.state_dict().items():
        if not name.startswith("pooler."):
            assert torch.equal(ours[f"encoder.model.{name}"], tensor.to(torch.bfloat16).float())
    assert load_checkpoint(tmp_path / "out").config.segments.max_pieces == 48  # two positions are not pieces'


def test_an_encoder_with_what_no_encoder_has(tmp_path: Path, encoder: Path) -> None:
    state = torch.load(encoder / "pytorch_model.bin", weights_only=True)
    torch.save(state | {"bert.extra": torch.zeros(1)}, encoder / "pytorch_model.bin")
    assert complaint(encoder, tmp_path / "out").endswith("nothing says to drop: bert.extra")


def test_a_file_of_an_encoder_alone(tmp_path: Path, encoder: Path) -> None:
    assert f"give its folder, {encoder}" in complaint(encoder / "pytorch_model.bin", tmp_path / "out")
    (encoder / "config.json").unlink()
    assert "no config.json of an encoder" in complaint(encoder, tmp_path / "out")


# Tokenizers


def test_the_tokenizer_keeps_capitals_if_the_vocabulary_has_any(tmp_path: Path) -> None:
    import_checkpoint(TINY, tmp_path / "out")
    pieces = load_checkpoint(tmp_path / "out").tokenizer
    known = fixture_values.VOCABULARY.index
    assert pieces(["Anna", "unseen", "anna"]) == [[known("Anna")], [known("un"), known("##seen")], [known("[UNK]")]]
    lower = tmp_path / "lower.txt"
    lower.write_text("\n".join(piece.lower() if piece[0] != "[" else piece for piece in fixture_values.VOCABULARY))
    import_checkpoint(TINY, tmp_path / "low", tokenizer=lower)
    assert load_checkpoint(tmp_path / "low").tokenizer(["ANNA"]) == [[known("Anna")]]


def test_a_tokenizer_elsewhere(tmp_path: Path, bare: Path) -> None:
    import_checkpoint(TINY, tmp_path / "first")
    (bare / "vocab.txt").unlink()
    message = complaint(AUTHORS, tmp_path / "out", encoder=bare)
    assert "give the folder of the right one as tokenizer" in message
    import_checkpoint(AUTHORS, tmp_path / "out", encoder=bare, tokenizer=tmp_path / "first")  # a tokenizer.json
    assert load_checkpoint(tmp_path / "out").tokenizer(["Anna"]) == [[fixture_values.VOCABULARY.index("Anna")]]
    assert "there is no tokenizer here" in complaint(AUTHORS, tmp_path / "x", encoder=bare, tokenizer=bare)


def test_the_tokenizer_of_another_model(tmp_path: Path) -> None:
    longer = tmp_path / "vocab.txt"
    longer.write_text("\n".join([*fixture_values.VOCABULARY, "more"]), encoding="utf-8")
    message = complaint(TINY, tmp_path / "out", tokenizer=longer)
    assert "the tokenizer has 33 pieces, but the encoder has vectors for 32" in message
    longer.write_text("no pieces", encoding="utf-8")
    assert "it has no [PAD], [UNK]" in complaint(TINY, tmp_path / "out", tokenizer=longer)


# Where it is written, and what is refused


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    import_checkpoint(TINY, tmp_path / "out")
    before = weights(tmp_path / "out")
    assert complaint(TINY, tmp_path / "out", "incremental").endswith("give force=True to write into it")
    assert weights(tmp_path / "out").keys() == before.keys()
    import_checkpoint(TINY, tmp_path / "out", "incremental", force=True)
    assert isinstance(load_checkpoint(tmp_path / "out").model, IncrementalModel)
    (tmp_path / "file").touch()
    assert "this is a file" in complaint(TINY, tmp_path / "file", force=True)


def test_the_source_is_never_written_to(tmp_path: Path) -> None:
    folder = tf_folder(tmp_path / "in")
    assert "where it is read from" in complaint(folder, folder, force=True)


def test_sources_that_are_none(tmp_path: Path) -> None:
    assert complaint(tmp_path / "nowhere", tmp_path / "out").endswith("there is no such file or folder")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no checkpoint is recognised here" in complaint(empty, tmp_path / "out")
    torch.save({"weight": torch.ones(2)}, tmp_path / "other.bin")
    assert "neither the authors' checkpoint.bin nor" in complaint(tmp_path / "other.bin", tmp_path / "out")
    torch.save(torch.ones(2), tmp_path / "tensor.bin")
    assert "neither the authors' checkpoint.bin nor" in complaint(tmp_path / "tensor.bin", tmp_path / "out")


def test_options_that_do_not_apply(tmp_path: Path, encoder: Path) -> None:
    assert "leave out preset, which is for encoders" in complaint(TINY, tmp_path / "out", preset="small")
    assert "is an encoder itself" in complaint(encoder, tmp_path / "out", encoder=TINY)
    assert "unknown preset" in complaint(encoder, tmp_path / "out", preset="huge")


def test_published_sizes_need_no_config(tmp_path: Path) -> None:
    """The width tells which published encoder it is; everything else is checked by the shapes."""
    message = complaint(AUTHORS, tmp_path / "out", tokenizer=TINY / "vocab.txt")
    assert "the encoder is 8 wide, which no published one is" in message


def test_the_imported_folder_is_a_checkpoint_like_any_other(tmp_path: Path) -> None:
    """All it needs is in it, and it says where it came from."""
    import_checkpoint(TINY, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"model.safetensors", "config.json", "README.md", "tokenizer.json"} <= names
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Joshi et al. (2019)" in card
    assert "Nothing in it is untrained" in card
    checkpoint = load_checkpoint(tmp_path / "out")
    assert build_model(checkpoint.config).state_dict().keys() == weights(tmp_path / "out").keys()
