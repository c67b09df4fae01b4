"""The encoder in ONNX Runtime and in OpenVINO, in floats and in 8-bit integers, for `int8.py --runtimes`.

Needs `pip install onnx onnxruntime` for the one, and `pip install openvino nncf` besides for the other.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import local
from typing import Any

import torch
from torch import Tensor, nn

from streamcoref.model.encoder import Encoder

ONNX = ("onnx", "onnxruntime")
OPENVINO = ("onnx", "openvino", "nncf")
GROUP = 384  # numbers of a row that share a scale in OpenVINO: of most layers here a row, as in ours
FLOATS, ONNX_INT8, OPENVINO_INT8 = "floats.onnx", "int8.onnx", "int8.xml"


def missing(packages: tuple[str, ...]) -> str:
    return ", ".join(name for name in packages if find_spec(name) is None)


class OnnxRuntime:
    """A session, which threads may share, each being served by itself."""

    def __init__(self, path: Path, threads: int) -> None:
        runtime: Any = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = runtime.InferenceSession(str(path), options)

    def encode(self, ids: Tensor, _mask: None = None) -> Tensor:
        return torch.from_numpy(self.session.run(None, {"ids": ids.numpy()})[0])


class OpenVino:
    """A compiled model, of which each thread has a request, and the runtime so many streams."""

    def __init__(self, path: Path, threads: int, streams: int, group: int) -> None:
        core: Any = import_module("openvino").Core()
        options = {
            "INFERENCE_NUM_THREADS": threads * streams,
            "NUM_STREAMS": streams,
            "INFERENCE_PRECISION_HINT": "f32",  # else bfloat16, where the CPU has it
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": group,  # of a row's numbers that share a scale; 0: weights only
        }
        self.model = core.compile_model(str(path), "CPU", options)
        self.own = local()

    def encode(self, ids: Tensor, _mask: None = None) -> Tensor:
        if not hasattr(self.own, "request"):
            self.own.request = self.model.create_infer_request()
        return torch.from_numpy(self.own.request.infer({0: ids.numpy()})[0].copy())


class _Alone(nn.Module):
    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor) -> Tensor:
        return self.encoder.encode(ids, None)


def export(encoder: Encoder, folder: Path) -> None:
    """What the packages that are there need."""
    if missing(("onnx",)):
        return
    given, answer = {1: "pieces"}, {1: "pieces"}
    with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Alone(encoder).eval(),
            (torch.ones(1, 64, dtype=torch.long),),
            str(folder / FLOATS),
            dynamo=False,
            opset_version=17,
            input_names=["ids"],
            output_names=["vectors"],
            dynamic_axes={"ids": given, "vectors": answer},
        )
    if not missing(ONNX):
        quantization: Any = import_module("onnxruntime.quantization")
        quantization.quantize_dynamic(
            folder / FLOATS,
            folder / ONNX_INT8,
            per_channel=True,
            weight_type=quantization.QuantType.QInt8,
            op_types_to_quantize=["MatMul"],  # embeddings stay floats, as ours
        )
    if not missing(OPENVINO):
        openvino, nncf = import_module("openvino"), import_module("nncf")
        floats = openvino.Core().read_model(str(folder / FLOATS))
        table = nncf.IgnoredScope(types=["Gather"], validate=False)
        compressed = nncf.compress_weights(floats, mode=nncf.CompressWeightsMode.INT8_SYM, ignored_scope=table)
        openvino.save_model(compressed, str(folder / OPENVINO_INT8), compress_to_fp16=False)


def runtimes(folder: Path, threads: int, streams: int) -> Iterator[tuple[str, OnnxRuntime | OpenVino]]:
    """All that was exported: so many threads for each of so many streams."""
    if (folder / ONNX_INT8).exists():
        yield "onnx_float32", OnnxRuntime(folder / FLOATS, threads)
        yield "onnx_int8", OnnxRuntime(folder / ONNX_INT8, threads)
    if (folder / OPENVINO_INT8).exists():
        yield "openvino_float32", OpenVino(folder / FLOATS, threads, streams, 0)
        yield "openvino_int8", OpenVino(folder / OPENVINO_INT8, threads, streams, GROUP)
