from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

from arbora import ProjectiveTrees, SpanningTrees

# Timing differs between machines; what a property test finds must not depend on it.
settings.register_profile("arbora", deadline=None, max_examples=150, print_blob=True)
settings.load_profile("arbora")


@pytest.fixture(params=[SpanningTrees, ProjectiveTrees], ids=["spanning", "projective"])
def kind(request):
    return request.param


@pytest.fixture(params=["single", "multi"])
def root(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20071)
