"""Control characters from files are escaped on the terminal; messages do not mix with the bar."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys

import pytest

import arbora
from arbora.cli.terminal import plain, visible
from tests.cli.conftest import GOLD, TREEBANK, arbora_process, assert_one_sentence

EVIL = "\x1b]0;owned\x07[/b][red]\x9b2J\x7f"  # a new title, broken markup, a cleared screen
SHOWN = r"\x1b]0;owned\x07[/b][red]\x9b2J\x7f"

on_terminals = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A treebank and a model whose labels and words contain control sequences."""
    monkeypatch.chdir(tmp_path)
    text = GOLD.replace("\tnsubj\t", f"\t{EVIL}\t").replace("\tcat\t", f"\t{EVIL}\t", 1)
    (tmp_path / "evil.conllu").write_text(text, encoding="utf-8")
    (tmp_path / "other.conllu").write_text(text.replace("\tThe\t", f"\tThe{EVIL}\t"), "utf-8")
    small = arbora.Parser(bits=10, label_bits=5, passes=1, threads=1, labels="joint")
    small.fit("evil.conllu", licence=f"for {EVIL}").save("evil.arbora")
    return tmp_path


def assert_harmless(text):
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_what_is_shown():
    assert visible(EVIL) == SHOWN
    assert visible("schöne Wörter, 海") == "schöne Wörter, 海"
    assert plain("[b]\\") == "\\[b]\\\\"


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "evil.conllu", "evil.conllu", "--by", "label"),
        ("inspect", "evil.arbora"),
        ("explain", "evil.conllu", "--model", "evil.arbora", "--word", "2", "--head", "3"),
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.usefixtures("evil")
def test_reports(run, arguments):
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert SHOWN in done.stdout
    assert_harmless(done.stdout + done.stderr)
    json_text = run(*arguments, "--json").stdout
    assert_harmless(json_text)
    assert any(EVIL in text for text in _strings(json.loads(json_text)))


def _strings(value):
    if isinstance(value, dict):
        return {*value, *(text for one in value.values() for text in _strings(one))}
    if isinstance(value, list):
        return {text for one in value for text in _strings(one)}
    return {value} if isinstance(value, str) else set()


def test_messages(evil, run):
    done = run("evaluate", "evil.conllu", "other.conllu")
    assert_one_sentence(done.stderr, SHOWN)
    assert_harmless(done.stderr)
    bad = GOLD.replace("\t3\tnsubj", f"\t{EVIL}\tnsubj")
    (evil / "bad.conllu").write_text(bad, encoding="utf-8")
    done = run("stats", "bad.conllu", "--skip-bad")
    assert f"skipped: bad.conllu, line 3: the head '{SHOWN}' of word 2" in done.stderr
    assert_harmless(done.stderr)


@on_terminals
def test_names_of_files(evil, run):
    name = f"{EVIL.replace('/', '')}.conllu"
    (evil / "evil.conllu").rename(evil / name)
    for arguments in (
        ("stats", name),
        ("train", name, "--bits", "10", "--label-bits", "5", "--passes", "1"),
    ):
        done = run(*arguments)
        assert done.exit_code == 0, done.output
        assert_harmless(done.stdout + done.stderr)
        assert "owned" in done.stdout
    assert_harmless(run("stats", "--", f"{name}.gz").stderr)


@on_terminals
@pytest.mark.usefixtures("evil")
def test_a_label_on_a_real_terminal():
    status, text = on_a_terminal("evaluate", "evil.conllu", "evil.conllu", "--by", "label")
    assert status == 0
    assert SHOWN in text
    assert "\x1b]0;" not in text
    assert "\x9b" not in text


def test_warnings_about_files_are_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = "1\tskib\tskib \tN\tNC\t_\t0\tROOT\t0\tROOT\n\n"
    (tmp_path / "odd.conll").write_text(line * 3, encoding="utf-8")
    done = arbora_process("stats", "odd.conll")
    assert done.returncode == 0
    assert_one_sentence(done.stderr, "arbora: warning: odd.conll, line 1: LEMMA 'skib ' has spaces")


@on_terminals
def test_an_interrupt_is_told_below_the_bar(tmp_path, monkeypatch):
    """Inside the bar, the message would be wrapped and overwritten."""
    monkeypatch.chdir(tmp_path)
    train = str(TREEBANK / "train.conllu")
    status, text = on_a_terminal(
        "train", train, "--bits", "14", "--label-bits", "7", "--threads", "1", "--passes", "999",
        "--patience", "999", "--only", "parser", "--model", "m.arbora", interrupt_at="pass   2/999",
    )  # fmt: skip
    assert status == 130
    message = (
        "arbora: interrupted; m.arbora.checkpoint has the last complete pass: repeat the command "
        "with --resume to continue.\r\n"
    )
    before, told, after = text.partition(message)
    assert told
    assert after == ""
    assert before.rindex("\x1b[?25h") > before.rindex("training")  # the cursor is back
    assert "Traceback" not in text


def on_a_terminal(*arguments, interrupt_at=None):
    """The exit status and the terminal output of a command, interrupted after a given text."""
    import pty

    reading, writing = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        [sys.executable, "-m", "arbora", *arguments], stdout=writing, stderr=writing,
        env=environment,
    ) as process:  # fmt: skip
        os.close(writing)
        seen = b""
        with contextlib.suppress(OSError):  # how a pseudo-terminal says that all was read
            while piece := os.read(reading, 65536):
                seen += piece
                if interrupt_at is not None and interrupt_at.encode() in seen:
                    process.send_signal(signal.SIGINT)
                    interrupt_at = None
        os.close(reading)
        return process.wait(timeout=60), seen.decode("utf-8")
