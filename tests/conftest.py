from __future__ import annotations

import signal

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


@pytest.fixture(params=[SpanningTrees, ProjectiveTrees], ids=["spanning", "projective"])
def kind(request):
    return request.param


@pytest.fixture(params=["single", "multi"])
def root(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20071)
