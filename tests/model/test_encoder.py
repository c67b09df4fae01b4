"""The encoder, over the architectures people use, with tiny random weights."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.config import build_model
from streamcoref.model.encoder import Encoder, architecture_of, layers_above, pretrained_encoder, random_encoder
from tests.model import toys

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
    "vocab_size": 100,
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "bert": SIZES,
    "roberta": SIZES,
    "mpnet": SIZES,
    "electra": {**SIZES, "embedding_size": 16},
    "distilbert": {
        "dim": 32,
        "n_layers": 3,
        "n_heads": 2,
        "hidden_dim": 64,
        "max_position_embeddings": 40,
        "vocab_size": 100,
    },
    "deberta-v2": {
        **SIZES,
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 8,
        "position_biased_input": False,
    },
    "modernbert": {
        **SIZES,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "cls_token_id": 1,
        "sep_token_id": 2,
        "local_attention": 8,
        "global_attn_every_n_layers": 2,
    },
}
# DeBERTa-v2 and MPNet have no sdpa attention in transformers.
WITHOUT_SDPA = {"deberta-v2", "mpnet"}


def make(name: str, seed: int = 0, attention_dropout: float | None = None, **changes: Any) -> Any:
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        if name == "deberta-v2":  # on its first import
            warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        return random_encoder({"model_type": name, **ARCHITECTURES[name], **changes}, attention_dropout).eval()


def vectors(encoder: Encoder, lengths: list[int]) -> list[torch.Tensor]:
    with torch.inference_mode():
        return encoder(toys.segments(lengths))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_padded_batch_equals_one_at_a_time(name: str) -> None:
    encoder = Encoder(make(name))
    segments = toys.segments([3, 31, 12, 31, 20])
    with torch.inference_mode():
        together = encoder(segments)
        alone = [encoder([segment])[0] for segment in segments]
    for a, b in zip(together, alone, strict=True):
        assert a.shape == b.shape
        torch.testing.assert_close(a, b, atol=1e-5, rtol=0)
    # the vectors depend on the context, or the padding could not have hurt
    changed = toys.segments([31], seed=1)[0]
    changed.piece_ids[1] = segments[1].piece_ids[1]
    with torch.inference_mode():
        assert not torch.allclose(encoder([changed])[0][1], alone[1][1], atol=1e-3)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_attention_is_sdpa_where_there_is_one(name: str) -> None:
    expected = "eager" if name in WITHOUT_SDPA else "sdpa"
    assert make(name).config._attn_implementation == expected


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("bert", 40),
        ("roberta", 38),
        ("mpnet", 38),
        ("electra", 40),
        ("distilbert", 40),
        ("deberta-v2", None),
        ("modernbert", None),
    ],
)
def test_positions(name: str, limit: int | None) -> None:
    encoder = Encoder(make(name))
    assert encoder.max_pieces == limit
    if limit is None:
        assert len(vectors(encoder, [90])[0]) == 90
        return
    assert len(vectors(encoder, [limit])[0]) == limit
    with pytest.raises(StreamcorefError, match=rf"has {limit + 1} pieces.*positions for {limit} only.*{limit} or less"):
        vectors(encoder, [5, limit + 1])


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_mean_of_several_layers(name: str) -> None:
    model = make(name)
    segment = toys.segments([12])[0]
    with torch.inference_mode():
        every = model(input_ids=torch.from_numpy(segment.piece_ids)[None], output_hidden_states=True).hidden_states
        all_four = Encoder(model, layers=4)([segment])[0]
        last_two = Encoder(model, layers=2)([segment])[0]
    assert len(every) == 4  # the embeddings and three layers
    torch.testing.assert_close(all_four, (sum(every) / 4)[0])
    torch.testing.assert_close(last_two, ((every[2] + every[3]) / 2)[0])
    with pytest.raises(StreamcorefError, match=r"encoder.layers is 5, but this encoder has 3 layers"):
        Encoder(model, layers=5)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_learnt_mix_begins_as_the_mean_and_weighs_layer_by_layer(name: str) -> None:
    model = make(name)
    segment = toys.segments([12])[0]
    encoder = Encoder(model, layers=3, mix=True)
    with torch.inference_mode():
        every = model(input_ids=torch.from_numpy(segment.piece_ids)[None], output_hidden_states=True).hidden_states
        torch.testing.assert_close(encoder([segment])[0], Encoder(model, layers=3)([segment])[0])
    assert encoder.mix is not None
    with torch.no_grad():
        encoder.mix.copy_(torch.tensor([0.0, 1.0, 2.0]).mul(torch.log(torch.tensor(2.0))))  # shares 1, 2 and 4
    mixed = encoder([segment])[0]
    torch.testing.assert_close(mixed, ((every[1] + 2 * every[2] + 4 * every[3]) / 7)[0])
    mixed.square().sum().backward()
    assert encoder.mix.grad is not None
    assert encoder.mix.grad.abs().min() > 0


def test_a_mix_belongs_to_what_is_frozen_and_needs_layers() -> None:
    frozen = Encoder(make("bert"), trainable_from=3, layers=2, mix=True)
    assert not frozen(toys.segments([9]))[0].requires_grad
    assert not any(parameter.requires_grad for parameter in frozen.parameters())
    with pytest.raises(StreamcorefError, match=r"encoder.mix is a mix of several layers"):
        Encoder(make("bert"), mix=True)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_only_the_first_layers_are_kept(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = make(name)
    whole.save_pretrained(tmp_path)
    capfd.readouterr()
    cut = pretrained_encoder(str(tmp_path), keep_layers=2).eval()
    assert capfd.readouterr() == ("", "")  # the layers that are left out are nothing to talk about
    given = whole.state_dict()
    assert cut.state_dict().keys() < given.keys()
    assert all(torch.equal(tensor, given[key]) for key, tensor in cut.state_dict().items())
    again = random_encoder(architecture_of(cut), keep_layers=2)  # as a checkpoint's config has both
    assert again.state_dict().keys() == cut.state_dict().keys()
    shorter = random_encoder(architecture_of(whole), keep_layers=2)
    assert shorter.state_dict().keys() == cut.state_dict().keys()
    segment = toys.segments([12])[0]
    with torch.inference_mode():
        ids = torch.from_numpy(segment.piece_ids)[None]
        below = whole(input_ids=ids, output_hidden_states=True).hidden_states[2]
        found = cut(input_ids=ids, output_hidden_states=True).hidden_states[2]
    if name != "modernbert":  # which has a norm behind its last layer
        torch.testing.assert_close(found, below)
    with pytest.raises(StreamcorefError, match=r"encoder.keep_layers is 4, but this encoder has 3 layers only"):
        pretrained_encoder(str(tmp_path), keep_layers=4)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_how_many_layers_lie_above_a_parameter(name: str) -> None:
    model = make(name)
    above = layers_above(model)
    for key, parameter in model.named_parameters():
        steps = key.replace("transformer.layer", "layer").replace("layers", "layer").split(".")
        if steps[0].startswith("embeddings"):
            assert above[parameter] == 3
        elif "layer" in steps:
            assert above[parameter] == 2 - int(steps[steps.index("layer") + 1])
        else:
            assert parameter not in above


def test_deberta_with_absolute_positions_has_a_limit() -> None:
    assert Encoder(make("deberta-v2", position_biased_input=True)).max_pieces == 40


def test_a_config_with_longer_segments_than_positions_is_refused() -> None:
    with pytest.raises(StreamcorefError, match=r"segments.max_pieces is 200.*128 pieces only"):
        build_model(toys.config(segments={"max_pieces": 200}))


def layers_trained(model: Any, count: int = 3) -> list[set[bool]]:
    """For each layer, whether its parameters are trained."""
    trained: list[set[bool]] = [set() for _ in range(count)]
    for name, parameter in model.named_parameters():
        steps = name.replace("transformer.layer", "layer").replace("layers", "layer").split(".")
        if "layer" in steps:
            trained[int(steps[steps.index("layer") + 1])].add(parameter.requires_grad)
    return trained


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("first", [0, 1, 2, 3, 7])
def test_trainable_from_freezes_exactly_the_layers_below(name: str, first: int) -> None:
    encoder = Encoder(make(name), trainable_from=first)
    assert layers_trained(encoder.model) == [{layer >= first} for layer in range(3)]
    embeddings = [p for n, p in encoder.model.named_parameters() if n.startswith("embeddings.")]
    assert embeddings
    assert not any(p.requires_grad for p in embeddings)
    assert encoder.frozen == (first >= 3)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_without_trainable_from_everything_is_trained(name: str) -> None:
    encoder = Encoder(make(name))
    assert not encoder.frozen
    assert all(parameter.requires_grad for parameter in encoder.parameters())


def test_gradients_reach_only_the_layers_that_train() -> None:
    encoder = Encoder(make("bert"), trainable_from=2)
    encoder(toys.segments([9]))[0].sum().backward()
    with_gradient = {n for n, p in encoder.named_parameters() if p.grad is not None}
    assert with_gradient
    assert all(".layer.2." in name for name in with_gradient)
    frozen = Encoder(make("bert"), trainable_from=3)
    assert not frozen(toys.segments([9]))[0].requires_grad


def test_a_frozen_encoder_keeps_its_dropout_off_while_the_model_trains() -> None:
    config = toys.config(encoder={"trainable_from": 2})
    model = build_model(config).train()
    assert model.spans.training
    assert not any(module.training for module in model.encoder.modules())
    segments = toys.segments([12])
    torch.testing.assert_close(model.encoder(segments)[0], model.encoder(segments)[0], atol=0, rtol=0)

    half = build_model(toys.config(encoder={"trainable_from": 1})).train()
    assert all(module.training for module in half.encoder.modules())
    assert not torch.equal(half.encoder(segments)[0], half.encoder(segments)[0])


@pytest.mark.parametrize("pretrained", [False, True])
def test_attention_dropout_can_be_set(pretrained: bool, tmp_path: Path) -> None:
    make("bert", hidden_dropout_prob=0.0).save_pretrained(tmp_path)
    architecture = {"model_type": "bert", **SIZES, "hidden_dropout_prob": 0.0}

    def two_passes(dropout: float | None) -> tuple[torch.Tensor, torch.Tensor]:
        model = pretrained_encoder(str(tmp_path), dropout) if pretrained else random_encoder(architecture, dropout)
        encoder = Encoder(model).train()
        return vectors(encoder, [9])[0], vectors(encoder, [9])[0]

    assert torch.equal(*two_passes(0.0))
    assert not torch.equal(*two_passes(0.5))
    assert not torch.equal(*two_passes(None))  # BERT's own is 0.1


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_attention_dropout_stays_with_the_architecture(name: str) -> None:
    model = make(name, attention_dropout=0.25)
    again = random_encoder(architecture_of(model))
    assert 0.25 in (getattr(again.config, n, None) for n in ("attention_probs_dropout_prob", "attention_dropout"))


def test_an_encoder_without_attention_dropout_says_so() -> None:
    with pytest.raises(StreamcorefError, match="a xlnet encoder has no such setting"):
        random_encoder({"model_type": "xlnet"}, 0.0)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_saved_encoder_gives_the_same_vectors(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    encoder = Encoder(make(name))
    encoder.model.save_pretrained(tmp_path / "encoder")
    capfd.readouterr()
    loaded = Encoder(pretrained_encoder(str(tmp_path / "encoder")).eval())
    assert capfd.readouterr() == ("", "")  # no progress bars, no chatter
    for a, b in zip(vectors(encoder, [30, 7]), vectors(loaded, [30, 7]), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=0)
    assert loaded.model.config._attn_implementation == encoder.model.config._attn_implementation


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_architecture_builds_the_same_encoder_again(name: str, tmp_path: Path) -> None:
    encoder = make(name)
    encoder.save_pretrained(tmp_path / "encoder")
    architecture = architecture_of(pretrained_encoder(str(tmp_path / "encoder")))
    assert str(tmp_path) not in repr(architecture)
    again = random_encoder(architecture)
    again.load_state_dict(encoder.state_dict())
    for a, b in zip(vectors(Encoder(encoder), [30, 7]), vectors(Encoder(again.eval()), [30, 7]), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=0)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match=r"cannot load the encoder .*nowhere"):
        pretrained_encoder(str(tmp_path / "nowhere"))


def test_a_folder_without_an_encoder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StreamcorefError, match="cannot load the encoder"):
        pretrained_encoder(str(tmp_path))


@pytest.mark.parametrize(
    "architecture",
    [
        {},
        {"hidden_size": 8},
        {"model_type": "no-such-model"},
    ],
)
def test_an_unknown_architecture_is_an_error(architecture: dict[str, Any]) -> None:
    with pytest.raises(StreamcorefError, match="model_type"):
        random_encoder(architecture)
