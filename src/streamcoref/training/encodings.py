"""Encodings on disk, for a frozen encoder: each document is encoded once, whatever the number of epochs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment


class EncodingCache:
    """One file a segment, named by the encoder's weights and the segment's pieces: if either changes, so does it."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self.encoder = encoder
        self.folder = folder
        weights = hashlib.sha256()
        for name, tensor in sorted(encoder.state_dict().items()):
            weights.update(name.encode())
            weights.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        self.weights = weights.digest()

    def __call__(self, segments: Sequence[Segment]) -> list[Tensor]:
        device = next(self.encoder.parameters()).device
        return [self._one(segment).to(device) for segment in segments]

    def _one(self, segment: Segment) -> Tensor:
        key = hashlib.sha256(self.weights + segment.piece_ids.tobytes()).hexdigest()
        path = self.folder / f"{key}.npy"
        if path.exists():
            stored: Tensor = torch.from_numpy(np.load(path))
            return stored
        # In full, whatever the precision of the run that happens to come first.
        with torch.no_grad(), torch.autocast(next(self.encoder.parameters()).device.type, enabled=False):
            vectors: Tensor = self.encoder([segment])[0].cpu()
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                np.save(file, vectors.numpy())
            part.replace(path)
        except OSError as error:
            raise StreamcorefError(f"cannot write to the cache of encodings {self.folder}: {error.strerror}") from error
        return vectors
