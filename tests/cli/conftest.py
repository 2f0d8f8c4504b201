from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbora import Parser
from arbora.cli import app

GOLD = """\
# sent_id = 1
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsleeps\tsleep\tVERB\tVBZ\t_\t0\troot\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1\tWho\twho\tPRON\tWP\t_\t2\tnsubj:wh\t_\t_
2\tsang\tsing\tVERB\tVBD\t_\t0\troot\t_\t_
3\t?\t?\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""
SYSTEM = GOLD.replace("2\tnsubj:wh", "2\tnsubj").replace("2\tdet", "3\tdet")
OTHER = SYSTEM.replace("\t3\tpunct", "\t2\tpunct")


@pytest.fixture(autouse=True)
def any_width(monkeypatch):
    """Removes COLUMNS, which workers of pytest-xdist inherit from a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Gold and two systems in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"gold": GOLD, "a": SYSTEM, "b": OTHER}.items():
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run():
    """Runs `arbora` inside this process; returns standard output, standard error and status."""

    def run_command(*arguments, **options):
        return CliRunner().invoke(app, arguments, prog_name="arbora", **options)

    return run_command


TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
SMALL = {"bits": 16, "label_bits": 8, "passes": 3, "threads": 1}


@pytest.fixture(scope="session")
def parser():
    """A small log-linear parser of the repository's own treebank."""
    return Parser(**SMALL).fit(TREEBANK / "train.conllu", TREEBANK / "dev.conllu")


@pytest.fixture(scope="session")
def model(parser, tmp_path_factory):
    """Its file."""
    path = tmp_path_factory.mktemp("models") / "small.arbora"
    parser.save(path)
    return str(path)


@pytest.fixture(scope="session")
def perceptron(tmp_path_factory):
    """The file of a model that is trained without probabilities."""
    path = tmp_path_factory.mktemp("models") / "perceptron.arbora"
    parser = Parser(learner="perceptron", **SMALL)
    parser.fit(TREEBANK / "train.conllu", TREEBANK / "dev.conllu").save(path)
    return str(path)


def arbora_process(*arguments, **options):
    """Runs `arbora` in a process; returns standard output, standard error and status."""
    command = [sys.executable, "-m", "arbora", *arguments]
    options = {"capture_output": True, "text": True, "encoding": "utf-8", **options}
    return subprocess.run(command, check=False, timeout=60, **options)


def assert_one_sentence(stderr, *parts):
    assert stderr.startswith("arbora: ")
    assert stderr.endswith(".\n")
    assert stderr.count("\n") == 1
    for part in parts:
        assert part in stderr
