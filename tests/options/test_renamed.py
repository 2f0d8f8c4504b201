"""Old names of options work, with a warning that names the new ones."""

from __future__ import annotations

import warnings

import pytest

from arbora import ArgumentError, Parser
from arbora.options import RENAMED_OPTIONS, ParserOptions, current_names, public_options
from arbora.parsers import tune


def test_renamed_options_exist_and_old_names_do_not():
    known = public_options(ParserOptions)
    assert all(renamed.name in known for renamed in RENAMED_OPTIONS.values())
    assert not RENAMED_OPTIONS.keys() & known


def test_old_keyword_of_the_regulariser():
    with pytest.warns(
        DeprecationWarning, match=r"^l2 is deprecated .* use regularization\.$"
    ) as seen:
        parser = Parser(l2=3.0)
    assert seen[0].filename == __file__
    assert parser.options == Parser(regularization=3.0).options
    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        assert parser.__reduce__()[1][0] == {"regularization": 3.0}


def test_both_names_at_once():
    with pytest.raises(ArgumentError, match="give only regularization"):
        current_names({"l2": 1.0, "regularization": 1.0})


def test_old_name_in_a_grid():
    with (
        pytest.warns(DeprecationWarning, match="use regularization"),
        pytest.raises(ArgumentError, match="regularization must be between"),
    ):
        tune([], None, {"l2": [-1.0]})
