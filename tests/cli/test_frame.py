"""The command line as a whole: help, completion, failures, pipes, progress."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module

import pytest

import arbora
from arbora.cli.app import app
from arbora.cli.progress import byte_progress, step_progress
from tests.cli.conftest import GOLD, arbora_process, assert_one_sentence

pytestmark = pytest.mark.usefixtures("files")

COMMANDS = [command.name for command in app.registered_commands]
REPORTS = [name for name in COMMANDS if name not in ("parse", "draw", "serve")]
# Files that each command reads, and what else it needs.
READS = {"evaluate": 2, "compare": 3, "calibrate": 2}
NEEDS = {
    "cluster": ["--output"],
    "parse": ["--model"],
    "select": ["--budget", "5", "--model"],
    "explain": ["--word", "1", "--model"],
    "convert": ["--to", "conllu"],
    "count": ["[]", "--model"],
    "grep": ["[]", "--model"],
}


def test_help_lists_commands(run):
    done = run("--help")
    assert done.exit_code == 0
    for name in COMMANDS:
        assert name in done.stdout
    assert run("-h").stdout == done.stdout
    assert "Usage" in run().output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(run, name):
    text = run(name, "--help").stdout
    assert "Examples" in text
    assert f"arbora {name}" in text


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_json(run, name):
    assert "--json" in run(name, "--help").stdout


def test_version(run):
    assert run("--version").stdout == f"arbora {arbora.__version__}\n"


@pytest.mark.parametrize("arguments", [["evalute"], ["stats", "--jso"], ["evaluate", "one"]])
def test_wrong_usage_is_told_by_typer(run, arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert "Usage" in done.stderr


def test_heavy_imports_wait():
    code = "import sys, arbora.cli; print({'numpy', 'scipy', 'rich'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_overview_imports_no_command():
    code = (
        "import sys\nfrom arbora.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([n for n in sys.modules if n in ('numpy', 'arbora.options', 'arbora.cli.train')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda command: command.name)
def test_the_overview_says_what_the_commands_say(command):
    text = getattr(import_module(f"arbora.cli.{command.name}"), command.name).__doc__
    assert command.help == " ".join(text.partition("\n\n")[0].split())


def test_completion():
    variables = {"_ARBORA_COMPLETE": "complete_bash", "COMP_WORDS": "arbora eva", "COMP_CWORD": "1"}
    done = arbora_process(env={**os.environ, **variables})
    assert done.stdout.split() == ["evaluate"]
    variables |= {"COMP_WORDS": "arbora evaluate --rule conll", "COMP_CWORD": "3"}
    done = arbora_process(env={**os.environ, **variables})
    assert done.stdout.split() == ["conllx", "conll2018", "conll2009"]


# Failures


def test_files_that_do_not_align(run, files):
    (files / "short.conllu").write_text(GOLD[: GOLD.index("1\tWho")], encoding="utf-8")
    done = run("evaluate", "gold.conllu", "short.conllu")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "short.conllu ends after 1 sentences", "line 7")
    (files / "other.conllu").write_text(GOLD.replace("sang", "sings"), encoding="utf-8")
    done = run("evaluate", "gold.conllu", "other.conllu")
    assert_one_sentence(done.stderr, "sentence 2, word 2 is “sang” in gold.conllu", "“sings”")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "models"])
def test_missing_files(run, name, model):
    more = [*NEEDS[name], model] if name in NEEDS else []
    done = run(name, *["nowhere.conllu"] * READS.get(name, 1), *more)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert_one_sentence(done.stderr, "nowhere.conllu")


def test_bytes_that_are_no_text(run, files):
    (files / "latin.conllu").write_bytes(GOLD.replace("cat", "Mädchen").encode("latin-1"))
    done = run("stats", "latin.conllu")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "latin.conllu, line 3")


@pytest.mark.parametrize(
    "arguments",
    [["stats", "gone.x"], ["inspect", "gone.x"], ["parse", "--model", "gone.x", "gold.conllu"],
     ["train", "gold.conllu", "--word-clusters", "gone.x", "--bits", "8"]],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_one_wording_for_files_that_are_not_there(run, arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stderr == "arbora: gone.x cannot be read: no such file or directory.\n"


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (arbora.ArgumentError("no such thing"), 2, "no such thing."),
        (
            FileNotFoundError(2, "No such file or directory", "x"),
            2,
            "x cannot be read or written: no such file or directory.",
        ),
        (
            OSError(28, "No space left on device"),
            2,
            "cannot be read or written: no space left on device.",
        ),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), 2, "not UTF-8"),
        (MemoryError(), 2, "not enough memory."),
        (KeyboardInterrupt(), 130, "interrupted."),
    ],
)
def test_failures_are_one_sentence(run, monkeypatch, error, status, sentence):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("arbora.evaluation.analyse", fail)
    done = run("evaluate", "gold.conllu", "a.conllu")
    assert done.exit_code == status
    assert_one_sentence(done.stderr, sentence)


def test_a_mistake_of_ours_is_not_hidden(run, monkeypatch):
    def fail(*_, **__):
        raise KeyError("ours")

    monkeypatch.setattr("arbora.evaluation.analyse", fail)
    assert isinstance(run("evaluate", "gold.conllu", "a.conllu").exception, KeyError)


# Real processes


def test_a_process_fails_calmly():
    done = arbora_process("evaluate", "gold.conllu", "nowhere.conllu")
    assert done.returncode == 2
    assert done.stdout == ""
    assert_one_sentence(done.stderr, "nowhere.conllu")


def test_a_pipe_gets_plain_text():
    done = arbora_process("evaluate", "gold.conllu", "a.conllu", "--by", "label")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""


def test_a_pipe_into_standard_input():
    done = arbora_process("evaluate", "gold.conllu", "-", "--json", input=GOLD)
    assert json.loads(done.stdout)["las_exact"] == 100


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk():
    with open("/dev/full", "w") as full:  # noqa: PTH123  # a device
        for extra in ([], ["--json"]):
            done = arbora_process(
                "stats", "gold.conllu", *extra, capture_output=False, stdout=full,
                stderr=subprocess.PIPE,
            )  # fmt: skip
            assert done.returncode == 2
            assert_one_sentence(done.stderr, "no space left on device")


@pytest.mark.skipif(os.name == "nt", reason="pipes end differently there")
@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_reader_that_leaves(extra):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = arbora_process(
            "stats", "gold.conllu", *extra, capture_output=False, stdout=pipe,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert done.returncode == 141  # as of a program that the closed pipe has ended
        assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
def test_an_interrupt():
    """A process that waits for standard input."""
    command = [sys.executable, "-m", "arbora", "stats", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write("# a comment\n" * 50_000)  # more than a pipe holds: it is reading
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert "Traceback" not in process.stderr.read()


# Progress


def test_progress_is_silent_off_a_terminal(capsys):
    with byte_progress("parsing", 100) as bar:
        bar.reached(50)
    with step_progress("training", 10, unit="sentences") as bar:
        bar.show(objective="1.5")
        bar.advance(3)
    assert capsys.readouterr() == ("", "")
    with step_progress("training", None) as bar:
        bar.write("pass 1")
    assert capsys.readouterr().err == "pass 1\n"


PROGRESS = """
from arbora.cli.progress import byte_progress, step_progress
with step_progress("training", 40, unit="sentences") as bar:
    bar.show(**{"pass": "1/2", "objective": "12.5"})
    bar.advance(20)
    bar.show(UAS="87.12")
    bar.advance(20)
    bar.write("pass 1 done")
with byte_progress("parsing", 4_000_000) as bar:
    bar.reached(4_000_000)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_progress_on_a_terminal():
    import pty

    reading, writing = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", PROGRESS], stderr=writing, env=environment)
    assert process.wait(timeout=30) == 0
    os.close(writing)
    seen = b""
    with contextlib.suppress(OSError):  # how a pseudo-terminal says that all was read
        while piece := os.read(reading, 65536):
            seen += piece
    os.close(reading)
    text = seen.decode("utf-8")
    for part in ("training", "objective", "12.5", "87.12", "pass 1 done", "sentences/s"):
        assert part in text
    assert "4.0/4.0 MB" in text
