"""The tool that makes the bundled models."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora.models.model_file import read_model
from arbora.options import LemmatiserOptions, SegmenterOptions, StageOptions, TaggerOptions

ROOT = Path(__file__).parents[2]
STAGES = StageOptions(
    SegmenterOptions(passes=5, bits=12), TaggerOptions(passes=1, bits=12),
    LemmatiserOptions(passes=1, bits=12), folds=2,
)  # fmt: skip


def load_tool(monkeypatch):
    spec = importlib.util.spec_from_file_location("make_models", ROOT / "tools" / "make_models.py")
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_models", tool)
    spec.loader.exec_module(tool)
    return tool


def test_the_same_command_gives_the_same_bytes(monkeypatch, tmp_path):
    tool = load_tool(monkeypatch)
    options = {"bits": 12, "label_bits": 8, "passes": 1, "refit": False}
    village = tool.Treebank("treebank", "the village", "CC0", {"village": options}, STAGES)
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        tool.make(village, ROOT / "examples" / "treebank", folder, None, work=tmp_path / "work")
    assert not list((tmp_path / "work").iterdir())
    first, second = (folder / "village.arbora" for folder in folders)
    assert first.read_bytes() == second.read_bytes()
    model = read_model(first)
    assert model.card["licence"] == "CC0"
    assert model.card["data"] == "the village"
    assert set(model.stages) == {"segmenter", "tagger", "lemmatiser"}
    assert len(arbora.load(first, threads=1)("The gulls sleep.")[0]) >= 3
    more = replace(STAGES, tagger=TaggerOptions(passes=2, bits=12))
    tool.make(
        replace(village, stages=more), ROOT / "examples" / "treebank", folders[0],
        keep_parsers=True, work=tmp_path / "work",
    )  # fmt: skip
    renewed = read_model(first)
    assert np.array_equal(renewed.scorer.weights, model.scorer.weights)
    assert renewed.stages["tagger"].tensors.keys() == model.stages["tagger"].tensors.keys()
    assert renewed.card["stages"]["folds"] == model.card["stages"]["folds"] == 2
    assert renewed.card["stages"]["mixed"]


def test_an_interrupted_run_continues(monkeypatch, tmp_path):
    tool = load_tool(monkeypatch)
    options = {"bits": 12, "label_bits": 8, "passes": 1, "refit": False}
    village = tool.Treebank("treebank", "the village", "CC0", {"village": options}, STAGES)
    given = (ROOT / "examples" / "treebank", tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(tool, "quantise", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tool.make(village, *given, work=tmp_path / "work")
    monkeypatch.setattr(tool, "train_stages", lambda *_, **__: pytest.fail("trained again"))
    tool.make(village, *given, work=tmp_path / "work")
    assert read_model(tmp_path / "village.arbora").card["data"] == "the village"


def test_settings_of_the_bundled_models_are_valid(monkeypatch):
    tool = load_tool(monkeypatch)
    assert set(tool.ENGLISH.parsers) == {"en", "en-accurate"}
    for options in tool.ENGLISH.parsers.values():
        arbora.Parser(**options)
