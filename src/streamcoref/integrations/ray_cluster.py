"""A Ray cluster: how one is reached, and how a model travels to its machines."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from streamcoref._precisions import PrecisionName
from streamcoref.errors import StreamcorefError
from streamcoref.integrations.extras import import_extra
from streamcoref.model.hub_folders import MODEL_FILES
from streamcoref.model.parts import load_code, loaded_code

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver


def connect(address: str | None = None) -> Any:
    """The module `ray`, connected.

    `address` is `auto`, `HOST:PORT` or `local`, which begins a cluster of this machine's own; without one it is what
    `ray.init()` finds. Where the process is connected already, that stays. A cluster that begins here tells nobody.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import_extra("pyarrow", "ray")
    ray = import_extra("ray", "ray")
    if not ray.is_initialized():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Ray's tips for later versions of its own
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = str(error).strip().splitlines()[0]
            raise StreamcorefError(f"there is no Ray cluster at {address or 'the default address'}: {said}") from error
    return ray


def check_workers(workers: int | None) -> None:
    if workers is not None and workers < 1:
        raise StreamcorefError(f"workers is {workers}; give at least 1, or none for all CPUs of the cluster")


def cpus(ray: Any) -> int:
    """Of all machines that are there now."""
    return max(int(ray.cluster_resources().get("CPU", 1)), 1)


def device_of(gpus: float) -> str:
    return "cuda" if gpus else "cpu"


# Folders of code that was loaded in this process, which hands the files on to processes of its own; a worker has one.
_CODE: list[TemporaryDirectory[str]] = []


@dataclass(frozen=True, slots=True)
class ModelParcel:
    """A model as the bytes of its files, and the code of its parts: no machine needs to have its folder.

    It is put into the object store once, and each machine fetches it once for all its workers.
    """

    files: dict[str, bytes]
    code: Sequence[tuple[str, bytes]]
    fingerprint: str
    precision: PrecisionName

    @classmethod
    def of(cls, resolver: Resolver) -> ModelParcel:
        folder = resolver.folder
        if not folder.is_dir():
            raise StreamcorefError(f"this resolver cannot be sent elsewhere: its model is in no folder ({folder})")
        names = sorted({path for pattern in MODEL_FILES for path in folder.glob(pattern) if path.is_file()})
        code = [(path.name, path.read_bytes()) for path in loaded_code()]
        files = {path.name: path.read_bytes() for path in names}
        return cls(files, code, resolver.fingerprint, resolver.precision)

    def unpack(self, device: str = "cpu") -> Resolver:
        """The resolver, in a worker: with one thread, so that sums are made in the order in which all others make
        them."""
        from streamcoref.resolver import load

        if self.code:
            _CODE.append(TemporaryDirectory(prefix="streamcoref-code-"))
        for number, (file, content) in enumerate(self.code):
            path = Path(_CODE[-1].name) / str(number) / file
            path.parent.mkdir()
            path.write_bytes(content)
            load_code(path)
        with TemporaryDirectory(prefix="streamcoref-") as name:
            model = Path(name)
            for file, content in self.files.items():
                (model / file).write_bytes(content)
            resolver = load(model, device=device, threads=1, precision=self.precision)
        if resolver.fingerprint != self.fingerprint:
            raise StreamcorefError("the model's folder has changed since it was loaded; load it anew")
        return resolver


def parcel_in_store(ray: Any, resolver: Resolver) -> Callable[[], ModelParcel]:
    """The model in the object store, as something to call for it on any machine; it is there as long as this is."""
    parcel = ray.put(ModelParcel.of(resolver))
    return partial(_fetched, parcel)


def _fetched(parcel: Any) -> ModelParcel:
    found: ModelParcel = import_extra("ray", "ray").get(parcel)
    return found
