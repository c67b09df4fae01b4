"""Makes data/checkpoint.bin, in the layout of the authors' incremental model.

Run from the root of the repository: python -m tests.convert.make_authors_checkpoint. A real optimizer object is pickled
into it, as some versions of their code did, so that torch's safe loader refuses it.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import torch
from torch import Tensor

from tests.convert.fixture_values import ALPHA, LAYERS, SPAN, baseline_variables, values

DATA = Path(__file__).parent / "data"

NETWORKS = {
    "mention_scores": "span_scorer.spanFFNN",
    "width_scores": "span_scorer.widthFFNN",
    "coref_layer/slow_antecedent_scores": "pair_scorer.slow_antecedent_scores",
}
TABLES = {
    "genre_embeddings": "genre_embedder.genre_emb",
    "span_width_embeddings": "span_scorer.span_width_embeddings",
    "span_width_prior_embeddings": "span_scorer.span_width_prior_embeddings",
    "coref_layer/same_speaker_emb": "pair_scorer.same_speaker_emb",
    "coref_layer/antecedent_distance_emb": "pair_scorer.antecedent_distance_emb",
    "coref_layer/segment_distance/segment_distance_embeddings": "pair_scorer.segment_distance_emb",
}


def state_dict(threshold: float = 0.0) -> dict[str, Tensor]:
    """The baseline's values under the names and in the shapes of the authors' `state_dict`."""
    given = {name: torch.from_numpy(array) for name, array in baseline_variables().items()}
    state = OrderedDict({"threshold": torch.tensor([threshold])})
    state |= {"encoder.model." + name: tensor for name, tensor in bert_state(given).items()}
    state |= {theirs: given[tf] for tf, theirs in TABLES.items()}
    attention = "span_scorer.attnProjection.output_layer"
    state[f"{attention}.weight"] = given["mention_word_attn/output_weights"].t()
    state[f"{attention}.bias"] = given["mention_word_attn/output_bias"]
    for scope, name in NETWORKS.items():
        state[f"{name}.layers.0.weight"] = given[f"{scope}/hidden_weights_0"].t()
        state[f"{name}.layers.0.bias"] = given[f"{scope}/hidden_bias_0"]
        state[f"{name}.projection.weight"] = given[f"{scope}/output_weights"].squeeze()  # one side only
        state[f"{name}.projection.bias"] = given[f"{scope}/output_bias"].squeeze()  # and none at all
    shapes = {"layers.0.weight": (ALPHA, 2 * SPAN), "layers.0.bias": (ALPHA,)}
    shapes |= {"projection.weight": (1, ALPHA), "projection.bias": (1,)}
    state |= {f"mlp.{name}": torch.from_numpy(values(f"mlp.{name}", shape)) for name, shape in shapes.items()}
    return state


def bert_state(given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The encoder under Hugging Face's names, with what their `state_dict` has besides weights."""
    state = {"embeddings.position_ids": torch.arange(48)[None]}
    for name in ("word", "position", "token_type"):
        state[f"embeddings.{name}_embeddings.weight"] = given[f"bert/embeddings/{name}_embeddings"]
    scopes = {"embeddings.": "bert/embeddings/", "pooler.": "bert/pooler/"}
    scopes |= {f"encoder.layer.{n}.": f"bert/encoder/layer_{n}/" for n in range(LAYERS)}
    for prefix, scope in scopes.items():
        for tf, tensor in given.items():
            rest = tf.removeprefix(scope)
            if tf.startswith(scope) and not rest.endswith("_embeddings"):
                name = prefix + rest.replace("/", ".").replace("gamma", "weight").replace("beta", "bias")
                state[name.replace("kernel", "weight")] = tensor.t() if rest.endswith("kernel") else tensor
    return state


def optimizer(state: dict[str, Tensor]) -> torch.optim.Optimizer:
    """Adam after a step, with a state of its own."""
    parameters = [torch.nn.Parameter(tensor.clone()) for name, tensor in state.items() if name.startswith("mlp.")]
    adam = torch.optim.Adam(parameters, lr=2e-4)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    adam.step()
    return adam


def save(path: Path, threshold: float = 0.0, as_objects: bool = True, legacy: bool = False) -> None:
    state = state_dict(threshold)
    adam = optimizer(state)
    saved = {"optimizer": adam if as_objects else adam.state_dict(), "encoder_optimizer": None, "model": state}
    torch.save(saved, path, _use_new_zipfile_serialization=not legacy)


if __name__ == "__main__":
    save(DATA / "checkpoint.bin")
