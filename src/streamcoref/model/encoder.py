"""The encoder: piece vectors of segments, each segment on its own, by any Hugging Face encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn

from streamcoref._precisions import FLOAT32, PrecisionName
from streamcoref.checked import Options
from streamcoref.errors import StreamcorefError
from streamcoref.model.architecture import CODE, MOST_PARAMETERS, at_most, check_architecture
from streamcoref.model.folder_files import read_table, why
from streamcoref.model.hub_folders import MODEL_FILES, PICKLED_FILES, fetched, folder_of
from streamcoref.model.int8_linear import use_int8_layers
from streamcoref.model.linear import use_wide_products
from streamcoref.model.segments import Segment


class EncoderOptions(Options):
    """`name` is where a new model's encoder comes from; `architecture`, in a checkpoint, how to build it again."""

    name: str | None = None
    architecture: dict[str, Any] | None = None
    keep_layers: PositiveInt | None = None  # only so many of its first layers; None: all that it has
    trainable_from: int | None = Field(default=None, ge=0)
    layers: PositiveInt = 1  # a piece's vector is the mean of this many last layers
    mix: bool = False  # or their mean by weights that are learnt, and begin as equal
    attention_dropout: float | None = Field(default=None, ge=0, lt=1)  # None: as the encoder has it


class Encoder(nn.Module):
    """Vectors of each segment's pieces: the mean of the encoder's last `layers` layers, its embeddings being the first.

    The last layer alone is the paper's choice. An encoder that was trained to embed whole sentences has little left of
    the single word there; the layers below still have it. With `mix` how much of each is learnt: a softmax over a
    number a layer, which are all 0 at first, so that it begins as the plain mean.
    `trainable_from` freezes the embeddings and every layer below that number; the number of layers (or more)
    freezes the whole encoder, 0 only the embeddings, None nothing.
    """

    precision: PrecisionName = FLOAT32  # of its linear layers

    def __init__(self, model: Any, trainable_from: int | None = None, layers: int = 1, mix: bool = False) -> None:
        super().__init__()
        if layers > len(_layers(model)) + 1:
            raise StreamcorefError(
                f"encoder.layers is {layers}, but this encoder has {len(_layers(model))} layers and its embeddings"
            )
        if mix and layers == 1:
            raise StreamcorefError("encoder.mix is a mix of several layers, but encoder.layers is 1")
        use_wide_products(model)
        self.model = model
        self.layers = layers
        self.hidden_size: int = model.config.hidden_size
        self.pad_id: int = model.config.pad_token_id or 0
        self.max_pieces = _max_pieces(model)
        self.frozen = trainable_from is not None and trainable_from >= len(_layers(model))
        if trainable_from is not None:
            _freeze_below(model, trainable_from)
        self.mix = nn.Parameter(torch.zeros(layers), requires_grad=not self.frozen) if mix else None

    def forward(self, segments: Sequence[Segment]) -> list[Tensor]:
        """One [n, hidden] tensor a segment. Several segments share one padded batch with the same result."""
        lengths = [len(segment) for segment in segments]
        longest = max(lengths)
        if self.max_pieces is not None and longest > self.max_pieces:
            raise StreamcorefError(
                f"a segment has {longest} pieces, but this encoder has positions for {self.max_pieces} only; "
                f"set segments.max_pieces to {self.max_pieces} or less"
            )
        device = next(self.model.parameters()).device
        ids = torch.full((len(segments), longest), self.pad_id)
        for row, segment in zip(ids, segments, strict=True):
            row[: len(segment)] = torch.from_numpy(segment.piece_ids)
        mask = None
        if min(lengths) < longest:  # no mask where none is needed: attention then takes its fastest path
            mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).long().to(device)
        vectors = self.encode(ids.to(device), mask)
        return [vectors[row, :length] for row, length in enumerate(lengths)]

    def encode(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Pieces [n, length], with a mask where lengths differ, to vectors [n, length, hidden]."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            return self._encode(ids, mask)

    def _encode(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        if self.layers == 1:
            last: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
            return last
        every = self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        mixed = torch.stack(every[-self.layers :])  # [layers, n, length, hidden]
        if self.mix is None:
            return mixed.mean(0)
        shares = torch.softmax(self.mix, 0).to(mixed.dtype)
        return (shares[:, None, None, None] * mixed).sum(0)

    def use_int8(self) -> None:
        """Linear layers in 8-bit integers from now on: it reads with them, but cannot learn."""
        if self.precision != "int8":
            use_int8_layers(self.model)
            self.precision = "int8"

    def train(self, mode: bool = True) -> Encoder:
        """A frozen encoder keeps its dropout off while the rest trains."""
        super().train(mode and not self.frozen)
        return self


def layers_above(model: Any) -> dict[nn.Parameter, int]:
    """How many layers lie above each parameter of the embeddings and of the layers; of others, such as a last norm, 0.

    So of the last layer's 0, of the first one's all but one, of the embeddings' all.
    """
    layers = list(_layers(model))
    parts = [*((len(layers), part) for part in _embeddings(model)), *zip(range(len(layers))[::-1], layers, strict=True)]
    return {parameter: above for above, part in parts for parameter in part.parameters()}


def pretrained_encoder(name: str, attention_dropout: float | None = None, keep_layers: int | None = None) -> Any:
    """The encoder of a hub name or a local folder, with its weights; only its first `keep_layers` layers if given."""
    from transformers import AutoConfig, AutoModel

    try:
        with _quiet_transformers():
            folder = _encoder_folder(name)
            _check_config(read_table(folder / "config.json"))
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
            _check_config(config.to_dict())
            _set_attention_dropout(config, attention_dropout)
            _keep_layers(config, keep_layers)
            _check_weights(folder, config)
            return _with_best_attention(
                lambda attention: AutoModel.from_pretrained(
                    folder, config=config, attn_implementation=attention, trust_remote_code=False
                )
            )
    except Exception as error:  # a stranger's files can make it fail in any way
        raise StreamcorefError(f"cannot load the encoder {name!r}: {why(error)}") from error


def _encoder_folder(name: str) -> Path:
    folder = folder_of(name, MODEL_FILES)
    if not Path(name).is_dir() and not any(folder.glob("*.safetensors")):
        fetched(name, PICKLED_FILES)
    return folder


def _check_config(values: dict[str, Any]) -> None:
    """Raise if an encoder's own config has strange sizes, or names code deep inside, where nobody asks us.

    Code of its own for a type that transformers knows is left alone: it is not needed.
    """
    check_architecture({name: value for name, value in values.items() if name not in CODE})


def _check_weights(folder: Path, config: Any) -> None:
    """Raise if a config needs far more numbers than a folder has: they would be made up, at any cost."""
    from transformers import AutoModel

    weights = [path for ending in ("*.safetensors", "*.bin") for path in folder.glob(ending) if path.is_file()]
    held = sum(path.stat().st_size for path in weights)
    with torch.device("meta"), at_most(MOST_PARAMETERS, "the encoder of its config.json"):
        model = AutoModel.from_config(deepcopy(config), trust_remote_code=False)
    needed = sum(parameter.numel() for parameter in model.parameters())
    if weights and needed > held:  # a number has at least a byte
        raise StreamcorefError(f"its config.json needs {needed} numbers, but its weights have {held} bytes only")


def random_encoder(
    architecture: dict[str, Any], attention_dropout: float | None = None, keep_layers: int | None = None
) -> Any:
    """An encoder of the given Hugging Face configuration with random weights, as a checkpoint fills it."""
    from transformers import AutoConfig, AutoModel

    check_architecture(architecture)
    if "model_type" not in architecture:
        raise StreamcorefError("the encoder's configuration names no model_type")
    options = dict(architecture)
    try:
        config = AutoConfig.for_model(options.pop("model_type"), **options)
        _set_attention_dropout(config, attention_dropout)
        _keep_layers(config, keep_layers)
        with at_most(MOST_PARAMETERS, "the encoder"):
            return _with_best_attention(
                lambda attention: AutoModel.from_config(config, attn_implementation=attention, trust_remote_code=False)
            )
    except StreamcorefError:
        raise
    except Exception as error:  # a stranger's values can make it fail in any way
        said = why(error).split(" Should contain one of")[0]
        raise StreamcorefError(f"the encoder's configuration fits no known model_type: {said}") from error


def architecture_of(model: Any) -> dict[str, Any]:
    """What `random_encoder` needs to build the same encoder again; no path of the machine it came from."""
    architecture: dict[str, Any] = model.config.to_diff_dict()
    architecture["model_type"] = model.config.model_type
    for key in ("_name_or_path", "transformers_version", "dtype", *CODE):
        architecture.pop(key, None)
    return architecture


def _set_attention_dropout(config: Any, value: float | None) -> None:
    """While training, sdpa takes its fast path only without dropout: a third less time a step on a CPU."""
    if value is None:
        return
    name = next((n for n in ("attention_probs_dropout_prob", "attention_dropout") if hasattr(config, n)), None)
    if name is None:
        raise StreamcorefError(f"encoder.attention_dropout: a {config.model_type} encoder has no such setting")
    setattr(config, name, value)


def _keep_layers(config: Any, count: int | None) -> None:
    """Cut an encoder to its first layers: the weights of the others are then left where they are."""
    if count is None:
        return
    if count > config.num_hidden_layers:
        raise StreamcorefError(
            f"encoder.keep_layers is {count}, but this encoder has {config.num_hidden_layers} layers only"
        )
    config.num_hidden_layers = count
    if isinstance(getattr(config, "layer_types", None), list):  # a kind of attention for each
        config.layer_types = config.layer_types[:count]


def _with_best_attention(make: Callable[[str], Any]) -> Any:
    """sdpa where the architecture has it (the same numbers, up to twice as fast), else eager."""
    try:
        model = make("sdpa")
    except ValueError as error:
        if "scaled_dot_product_attention" not in str(error):
            raise
        model = make("eager")
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # only for sentence vectors; unused weights would also confuse distributed training
    return model


def _max_pieces(model: nn.Module) -> int | None:
    """How many positions the encoder has. RoBERTa and its kin start counting after the padding index."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    return None  # relative positions: any length


def _layers(model: Any) -> nn.ModuleList:
    count = getattr(model.config, "num_hidden_layers", None)
    for part in model.modules():
        if isinstance(part, nn.ModuleList) and len(part) == count:
            return part
    raise StreamcorefError(f"a {model.config.model_type} model has no list of layers: it is no encoder of text")


def _freeze_below(model: nn.Module, layer: int) -> None:
    layers = list(_layers(model))
    if layer >= len(layers):
        model.requires_grad_(False)  # what lies above the layers too, such as a last norm
        return
    for frozen in [*_embeddings(model), *layers[:layer]]:
        frozen.requires_grad_(False)


def _embeddings(model: nn.Module) -> list[nn.Module]:
    return [module for name, module in model.named_children() if name.startswith("embed")]


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """No progress bars and no chatter about unused heads: a library inside a service keeps quiet."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
