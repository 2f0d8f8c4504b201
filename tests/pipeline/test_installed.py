"""Models found by name, and the command that lists them."""

from __future__ import annotations

import json
import os

import pytest

import arbora
from arbora import ArboraError
from arbora.pipeline import installed
from arbora.pipeline.installed import find_model, installed_models
from tests.cli.conftest import arbora_process


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("installed")
    options = {"threads": 1, "passes": 1, "bits": 12, "label_bits": 8, "refit": False}
    parser = arbora.Parser(**options).fit("examples/treebank/train.conllu", licence="CC0")
    parser.save(path / "village.arbora")
    return path


@pytest.fixture
def only_folder(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("ARBORA_MODELS", str(folder))
    monkeypatch.setattr(installed, "_BUNDLED", tmp_path / "nothing")
    return folder


def test_a_name_is_looked_up_in_the_folders(only_folder):
    assert installed_models() == {"village": only_folder / "village.arbora"}
    assert find_model("village") == only_folder / "village.arbora"
    assert len(arbora.load("village").model.labels) > 5


@pytest.mark.usefixtures("only_folder")
def test_files_come_before_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "village").write_bytes(b"")
    assert find_model("village") == "village"


@pytest.mark.usefixtures("only_folder")
@pytest.mark.parametrize("path", ["some/village", "village.arbora", "./village"])
def test_paths_are_not_names(path):
    assert find_model(path) == path


def test_the_users_folders_come_before_the_package(folder, monkeypatch, tmp_path):
    (tmp_path / "village.arbora").write_bytes(b"other")
    (tmp_path / "town.arbora").write_bytes(b"town")
    monkeypatch.setattr(installed, "_BUNDLED", tmp_path)
    monkeypatch.setenv("ARBORA_MODELS", str(folder))
    assert installed_models() == {
        "village": folder / "village.arbora", "town": tmp_path / "town.arbora",
    }  # fmt: skip


@pytest.mark.usefixtures("only_folder")
def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(ArboraError, match=r"town is neither a file nor .* \(village\)\."):
        find_model("town")
    with pytest.raises(ArboraError, match="village"):
        arbora.load()


def test_without_any_model_the_remedy_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(installed, "_BUNDLED", tmp_path)
    monkeypatch.delenv("ARBORA_MODELS", raising=False)
    with pytest.raises(ArboraError, match="arbora train"):
        arbora.load()


def test_the_command_lists_models_and_takes_names(folder):
    environment = {**os.environ, "ARBORA_MODELS": str(folder)}
    told = json.loads(arbora_process("models", "--json", env=environment).stdout)["models"]
    found = {one["name"]: one for one in told}["village"]
    assert found["licence"] == "CC0"
    assert found["data"] == "train.conllu"
    assert found["stages"] == ["parser"]
    assert "village" in arbora_process("models", env=environment).stdout
    assert "CC0" in arbora_process("inspect", "village", env=environment).stdout
    test = "examples/treebank/test.conllu"
    parsed = arbora_process("parse", "--model", "village", test, env=environment)
    assert parsed.returncode == 0
    assert parsed.stdout.startswith("#")


def test_a_damaged_model_does_not_hide_the_others(folder, tmp_path):
    (tmp_path / "bad.arbora").write_text("no model\n", encoding="utf-8")
    environment = {**os.environ, "ARBORA_MODELS": f"{tmp_path}{os.pathsep}{folder}"}
    for options in ([], ["--json"]):
        told = arbora_process("models", *options, env=environment)
        assert told.returncode == 2
        assert "village" in told.stdout
        assert "bad.arbora: this is not an Arbora model." in told.stderr


def test_a_folder_is_parsed_with_an_option(tmp_path):
    told = arbora_process("parse", str(tmp_path))
    assert told.returncode == 2
    assert "--output-dir" in told.stderr
