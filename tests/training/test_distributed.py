"""Two processes on a CPU: the same weights as one that averages the gradients of the same documents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from streamcoref.model.incremental import IncrementalModel
from streamcoref.training.data import epoch_order
from streamcoref.training.steps import IncrementalOptions, incremental_step
from tests.training import synthetic

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "--no-python"]
COMMAND = [sys.executable, "-c", "from streamcoref.cli import main; main()", "train"]
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"
EPOCHS, CLIP, RATE = 2, 5.0, 3e-3


def run(recipe: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": LOOPBACK, "OMP_NUM_THREADS": "1"}
    # The time is for processes that wait for each other for ever, not for a busy machine.
    result = subprocess.run(
        [*TORCHRUN, *COMMAND, str(recipe), *options],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert result.returncode == 0, result.stderr
    return result


@pytest.mark.slow
def test_two_processes_equal_one_that_averages(tmp_path: Path) -> None:
    # Three documents: the second step of an epoch has one for the first process and none for the second.
    # Without dropout (a frozen encoder has none) nothing is drawn at random.
    values = synthetic.recipe(tmp_path, documents=3, epochs=EPOCHS, warm_up=0, clip=CLIP)
    values["model"]["changes"]["encoder"]["trainable_from"] = 2
    values["run"]["cache"] = str(tmp_path / "cache")
    recipe = synthetic.write_recipe(tmp_path / "recipe.toml", values)
    result = run(recipe)

    alone = synthetic.new_run(values, folder=str(tmp_path / "alone"))
    model = alone.model
    assert isinstance(model, IncrementalModel)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=RATE, weight_decay=0.0, fused=True)
    model.train()
    for epoch in range(EPOCHS):
        order = epoch_order(alone.start.train, 1, epoch, together=2)
        for examples in (order[:2], order[2:]):
            optimizer.zero_grad(set_to_none=False)
            for example in examples:
                incremental_step(
                    model, example, IncrementalOptions(), model.encoder, np.random.default_rng(0), lambda: 0.0
                )
            for parameter in trainable:
                # What has no gradient yet, such as an update rule that was not used, has one of zero.
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                parameter.grad /= len(examples)
            torch.nn.utils.clip_grad_norm_(trainable, CLIP)
            optimizer.step()
    found = load_file(tmp_path / "run/last/model.safetensors")
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-3, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}")

    assert [(line["event"], line["step"]) for line in synthetic.log(tmp_path / "run")] == [
        *(("step", 1), ("step", 2), ("epoch", 2)),
        *(("step", 3), ("step", 4), ("epoch", 4)),
    ]
    assert result.stdout.count("done: ") == 1

    # A run that starts from another one's model logs so at once, which must not look like a run that was there before.
    again = [f"model.start_from={tmp_path / 'run/last'}", f"run.folder={tmp_path / 'again'}", "training.epochs=1"]
    options = [part for value in again for part in ("--set", value)]
    run(recipe, *options)
    assert (tmp_path / "again/last/model.safetensors").is_file()
