"""A real cluster of Ray's on one machine: a node for each machine, with processes and an object store of its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before Ray is imported, which reads it once

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: pip install 'streamcoref[ray]'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'streamcoref[ray]'")

STORE = 80 << 20  # bytes of a node's object store
# A busy machine is slow, which is no fault: workers are neither put behind everybody else nor given up.
SETTINGS = {"worker_niceness": 0, "worker_register_timeout_seconds": 900}
TRIES = 10  # to start a node: Ray gives it thirty seconds


class Machines:
    """A head, to which the driver is connected, and others that come and go."""

    def __init__(self, cpus: int) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": cpus, "object_store_memory": STORE, "include_dashboard": False, "_system_config": SETTINGS}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self.cluster.address

    def add(self, cpus: int = 1) -> Any:
        for left in reversed(range(TRIES)):
            try:
                return self.cluster.add_node(num_cpus=cpus, object_store_memory=STORE)
            except Exception as error:
                if "timed out" not in str(error) or not left:
                    raise
        raise AssertionError

    def kill(self, node: Any) -> None:
        """At once, with all of its processes, as when the power fails: by themselves workers live on for a while."""
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        workers = raylet.children(recursive=True)
        self.cluster.remove_node(node, allow_graceful=False)
        for process in workers:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(workers)


@contextmanager
def machines(cpus: int = 1) -> Iterator[Machines]:
    """A cluster to which this process is connected until the end."""
    made = Machines(cpus)
    try:
        ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made
    finally:
        ray.shutdown()
        made.cluster.shutdown()
