from __future__ import annotations

import pytest

from tests.small_parsers import sentences


@pytest.fixture
def test_sentences():
    return list(sentences("test", 12))
