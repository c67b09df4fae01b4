"""The largest space that tensors take at once: the paper's measure of memory, whatever the allocator does."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# `torch.tensor([...])` makes its storage out of sight and hands it in here.
_LIFT = torch.ops.aten.lift_fresh.default


class TensorPeak:
    """`bytes` is the peak so far above what was there at the start."""

    def __init__(self) -> None:
        self.bytes = 0


@contextmanager
def peak_tensor_bytes(device: torch.device | str = "cpu") -> Iterator[TensorPeak]:
    """Measure the tensors made inside the block; those made before, such as a model's weights, do not count.

    On a GPU the allocator's own count of used bytes is asked. On the CPU every operation is watched, which makes
    them slower; what a single kernel allocates and frees inside itself is not seen there.
    """
    device = torch.device(device)
    peak = TensorPeak()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        try:
            yield peak
        finally:
            peak.bytes = torch.cuda.max_memory_allocated(device) - before
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # what other threads allocate would not be seen
    try:
        with _Watch(peak):
            yield peak
    finally:
        torch.set_num_threads(threads)


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts a storage from the operation that returns it until it is freed, however many tensors share it."""

    def __init__(self, peak: TensorPeak) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = peak
        self.live = 0
        # By the address of the storage, which is unique while it lives: its size, and what tells of its end.
        self.storages: dict[int, tuple[int, weakref.ref[torch.UntypedStorage]]] = {}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        options = dict(kwargs or {})
        if func is not torch.ops.prim.device.default:
            # Without autograd, compound operations arrive whole; taken apart, their intermediate tensors are seen.
            with self:
                parts = func.decompose(*args, **options)
            if parts is not NotImplemented:
                return parts
        # A view or an in-place operation returns storage it was given: known already, or older than the block.
        given = set() if func is _LIFT else {s._cdata for s in _storages((args, options))}
        result = func(*args, **options)
        for storage in _storages(result):
            if storage._cdata in self.storages or storage._cdata not in given:
                self._note(storage)
        return result

    def _note(self, storage: torch.UntypedStorage) -> None:
        address, size = storage._cdata, storage.nbytes()
        known, reference = self.storages.get(address, (0, None))  # a known storage may have been resized
        self.storages[address] = (size, reference or weakref.ref(storage, self._forget(address)))
        self.live += size - known
        self.peak.bytes = max(self.peak.bytes, self.live)

    def _forget(self, address: int) -> Callable[[object], None]:
        def forget(_: object) -> None:
            size, _ = self.storages.pop(address)
            self.live -= size

        return forget


def _storages(values: Any) -> list[torch.UntypedStorage]:
    return [value.untyped_storage() for value in tree_leaves(values) if isinstance(value, Tensor)]
