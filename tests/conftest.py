from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from arbora import ProjectiveTrees, SpanningTrees

# Timing differs between machines; what a property test finds must not depend on it.
settings.register_profile("arbora", deadline=None, max_examples=150, print_blob=True)
settings.load_profile("arbora")

# A shell hands SIGINT down as ignored to what it starts in the background; programs that tests
# start and interrupt would ignore it too, and never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Workers begin with what takes long, so that none of it is left for one of them in the end.

    Slow tests come first, then those outside of folders: documentation and examples train parsers.
    """
    here = Path(__file__).parent
    if hasattr(config, "workerinput"):
        items.sort(
            key=lambda item: (item.get_closest_marker("slow") is None, item.path.parent != here)
        )


@pytest.fixture(params=[SpanningTrees, ProjectiveTrees], ids=["spanning", "projective"])
def kind(request):
    return request.param


@pytest.fixture(params=["single", "multi"])
def root(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20071)
