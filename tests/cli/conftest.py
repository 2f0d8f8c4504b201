from __future__ import annotations

import pytest
from typer.testing import CliRunner

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


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Gold and two systems in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"gold": GOLD, "a": SYSTEM, "b": OTHER}.items():
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run():
    """Runs `arbora` inside this process: what it printed, what it said, how it ended."""

    def run_command(*arguments, **options):
        return CliRunner().invoke(app, arguments, prog_name="arbora", **options)

    return run_command
