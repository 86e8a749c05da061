"""A local Ray cluster, for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from learning.runs import cluster


@pytest.fixture(scope="module")
def machines() -> Iterator[Any]:
    """Machines of a cluster, all simulated on this machine; the first has two CPUs."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.SETTINGS.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
        yield found
        found.shutdown()


@pytest.fixture
def address(machines: Any) -> str:
    """The cluster's address."""
    return machines.address
