"""`arbora parse`: what it writes, and what it does not change."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora import ArgumentError, Sentence, TooLargeError
from arbora.cli.parse import _LONGEST_SENTENCE
from arbora.options import ParseOptions
from tests.cli.conftest import GOLD, TREEBANK, arbora_process, assert_one_sentence

TEST = str(TREEBANK / "test.conllu")

# Everything that a line holds besides HEAD, DEPREL and enhanced dependencies must come through.
ODD = """\
# newpar
# text = don't go
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=Yes
1\tdo\tdo\tAUX\tVB\tMood=Imp\t_\t_\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t_\t_\t3:advmod\tX=1
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\tCopyOf=0
3\tgo\tgo\tVERB\tVB\t_\t_\t_\t0:root\tSpaceAfter=No

"""
PLAIN = """\
1\tShe\tshe\tPRON\tPRP\t_\t_\t_\t_\t_
2\tsleeps\tsleep\tVERB\tVBZ\t_\t_\t_\t_\t_
3\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_

"""
CONLLX = "".join(
    "\t".join([*line.split("\t")[:8], "_", "_"]) + "\n" if line else "\n"
    for line in PLAIN.replace("PRON", "PN").replace("VERB", "VB").rstrip("\n").split("\n")
)


def rows(text):
    return [line.split("\t") for line in text.splitlines() if re.match(r"\d+\t", line)]


def without_trees(text):
    """The lines of words without HEAD, DEPREL and DEPS, no empty nodes; other lines unchanged."""
    lines = []
    for line in text.split("\n"):
        fields = line.split("\t")
        if re.match(r"\d+\.\d+\t", line):
            continue
        if re.match(r"\ufeff?\d+\t", line):
            fields[6:9] = ["", "", ""]
        lines.append("\t".join(fields))
    return "\n".join(lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_parse_is_what_python_says(run, model, parser):
    done = run("parse", "--model", model, TEST, "--quiet")
    assert done.exit_code == 0
    assert done.stderr == ""
    parsed = parser.parse(list(arbora.read_conllu(TEST)), probabilities=False)
    assert done.stdout == "".join(bytes(sentence).decode() for sentence in parsed)
    scores = arbora.evaluate(TEST, parsed)
    assert scores.uas > 80


def test_heads_and_labels_of_the_input_are_not_looked_at(run, model, folder):
    text = (TREEBANK / "test.conllu").read_text(encoding="utf-8")
    scrambled = []
    for line in text.split("\n"):
        fields = line.split("\t")
        if re.match(r"\d+\t", line):
            fields[6:10] = ["0", "nonsense", "0:nonsense", "Junk=1"]
        scrambled.append("\t".join(fields))
    (folder / "scrambled.conllu").write_text("\n".join(scrambled), encoding="utf-8")
    plain = run("parse", "--model", model, TEST).stdout
    other = run("parse", "--model", model, "scrambled.conllu").stdout
    assert [row[:8] for row in rows(plain)] == [row[:8] for row in rows(other)]
    assert {tuple(row[8:]) for row in rows(other)} == {("_", "Junk=1")}


@pytest.mark.parametrize(
    "text",
    [
        ODD,
        (ODD + PLAIN).replace("\n", "\r\n"),
        "\ufeff" + ODD,
        (PLAIN + ODD).rstrip("\n"),
        "\n\n" + PLAIN + "\n\n" + ODD + "# the end\n",
    ],
    ids=["multiword and empty nodes", "CRLF", "byte-order mark", "no final newline", "blank lines"],
)
def test_everything_else_stays(run, model, folder, text):
    (folder / "in.conllu").write_bytes(text.encode())
    done = run("parse", "--model", model, "in.conllu", "--output", "out.conllu")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    parsed = (folder / "out.conllu").read_bytes().decode()
    assert without_trees(parsed) == without_trees(text)
    assert all(row[6].isdigit() and row[7] != "_" and row[8] == "_" for row in rows(parsed))
    assert "\n2.1\t" not in parsed
    assert {path.name for path in folder.iterdir()} == {"in.conllu", "out.conllu"}


def test_files_one_after_the_other(run, model, folder):
    (folder / "a.conllu").write_text(PLAIN.rstrip("\n"), encoding="utf-8")
    (folder / "b.conllu").write_bytes(("\ufeff" + ODD).encode())
    together = run("parse", "--model", model, "a.conllu", "b.conllu").stdout
    a = run("parse", "--model", model, "a.conllu").stdout
    b = run("parse", "--model", model, "b.conllu").stdout
    assert together == a + "\n\n" + b.removeprefix("\ufeff")
    assert len(list(arbora.read_conllu(str(folder / "a.conllu")))) == 1


def test_standard_input_and_output(run, model):
    by_name = run("parse", "--model", model, TEST).stdout
    text = (TREEBANK / "test.conllu").read_text(encoding="utf-8")
    assert run("parse", "--model", model, "-", "--output", "-", input=text).stdout == by_name
    assert run("parse", "--model", model, input=text).stdout == by_name
    assert run("parse", "--model", model, "-", "-", input=text).exit_code == 2


def test_model_from_the_environment(run, model, monkeypatch):
    monkeypatch.setenv("ARBORA_MODEL", model)
    assert run("parse", TEST).exit_code == 0


def test_without_a_model(run, monkeypatch, tmp_path):
    monkeypatch.delenv("ARBORA_MODEL", raising=False)
    monkeypatch.delenv("ARBORA_MODELS", raising=False)
    monkeypatch.setattr("arbora.pipeline.installed._BUNDLED", tmp_path)
    done = run("parse", TEST)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "arbora train", "--model", "ARBORA_MODEL")


def test_probabilities(run, model, parser):
    done = run("parse", "--model", model, TEST, "--probabilities", "-q")
    assert done.stderr == ""
    first = next(iter(arbora.read_conllu(TEST)))
    expected = parser.parse([first])[0]
    written = [row[9] for row in rows(done.stdout)][: len(expected.arc_probabilities)]
    for misc, arc, label in zip(
        written, expected.arc_probabilities, expected.label_probabilities, strict=True
    ):
        values = dict(item.split("=") for item in misc.split("|"))
        assert float(values["ArcProb"]) == pytest.approx(arc, abs=1e-4)
        assert float(values["LabelProb"]) == pytest.approx(label, abs=1e-4)
    log_prob = float(re.search(r"# arbora.log_prob = (\S+)", done.stdout).group(1))
    assert log_prob == pytest.approx(expected.log_prob, abs=1e-5)


def test_probabilities_of_a_perceptron(run, perceptron):
    done = run("parse", "--model", perceptron, TEST, "--probabilities", "-q")
    assert_one_sentence(done.stderr, "perceptron", "temperature", "calibrated on dev")
    assert done.stdout.count("ArcProb=") == 915
    assert run("parse", "--model", perceptron, TEST, "-q").stderr == ""


def test_the_speed_is_reported(run, model):
    """On standard error, at the end, unless there is nothing to report."""
    done = run("parse", "--model", model, TEST)
    assert re.fullmatch(r"arbora: 915 words in \d+\.\d s(, [\d,]+ words/s)?\.\n", done.stderr)
    copies = run("parse", "--model", model, TEST, "--kbest", "2")
    assert copies.stderr.startswith("arbora: 915 words in ")
    assert "arbora:" not in done.stdout


def test_probabilities_of_conllx(run, model):
    done = run(
        "parse", "--model", model, "-", "--probabilities", "--format", "conllx", input=CONLLX
    )
    assert done.exit_code == 0, done.stderr
    numbers = re.search(r"# arbora.arc_probabilities = (.*)", done.stdout).group(1).split()
    assert len(numbers) == 3
    assert {tuple(row[8:]) for row in rows(done.stdout)} == {("_", "_")}


def test_kbest(run, model, parser):
    text = run("parse", "--model", model, TEST, "--kbest", "4", "--decode", "map").stdout
    assert re.findall(r"# arbora.rank = (\d)", text) == ["1", "2", "3", "4"] * 77
    probabilities = [float(x) for x in re.findall(r"# arbora.log_prob = (\S+)", text)]
    assert len(probabilities) == 4 * 77
    assert max(probabilities) <= 0
    heads = [tuple(s.heads.tolist()) for s in arbora.read_conllu(io.BytesIO(text.encode()))]
    best = [tuple(s.heads.tolist()) for s in parser.parse(TEST, decode="map")]
    for at in range(77):
        assert len(set(heads[4 * at : 4 * at + 4])) == 4
        assert heads[4 * at] == best[at]


def test_keep_heads(run, model, folder):
    gold = list(arbora.read_conllu(TEST))
    partial = [s.with_tree(np.where(np.arange(len(s)) < 2, s.heads, -1)) for s in gold]
    arbora.write_conllu(folder / "partial.conllu", partial)
    done = run("parse", "--model", model, "partial.conllu", "--keep-heads")
    found = list(arbora.read_conllu(io.BytesIO(done.stdout.encode())))
    assert all((a.heads[:2] == b.heads[:2]).all() for a, b in zip(found, gold, strict=True))
    assert all((s.heads >= 0).all() for s in found)
    cycle = arbora.Sentence.from_words(["a", "b"], heads=[2, -1]).with_tree([2, -1])
    text = bytes(cycle).replace(b"2\tb\t_\t_\t_\t_\t_", b"2\tb\t_\t_\t_\t_\t1")
    (folder / "cycle.conllu").write_bytes(text)
    failed = run("parse", "--model", model, "cycle.conllu", "--keep-heads", "--allow-missing")
    assert failed.exit_code == 2
    assert "sentence 1" in failed.stderr


def test_least_certain(run, model, parser):
    done = run("parse", "--model", model, TEST, "--least-certain", "7")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) == 8
    chances = [float(line[4]) for line in lines[1:]]
    every = sorted(p for s in parser.parse(TEST) for p in s.arc_probabilities.tolist())
    assert chances == pytest.approx(every[:7], abs=1e-4)
    answer = json.loads(
        run("parse", "--model", model, TEST, "--least-certain", "7", "--json").stdout
    )
    assert [arc["probability"] for arc in answer["arcs"]] == pytest.approx(every[:7], abs=1e-12)
    for wrong in (["--kbest", "2"], ["--samples", "2"]):
        failed = run("parse", "--model", model, TEST, "--least-certain", "7", *wrong)
        assert failed.exit_code == 2
    assert run("parse", "--model", model, TEST, "--json").exit_code == 2


def test_samples(run, model):
    arguments = ["parse", "--model", model, "-", "--samples", "3"]
    text = run(*arguments, input=PLAIN + ODD).stdout
    assert re.findall(r"# arbora.rank = (\d)", text) == ["1", "2", "3"] * 2
    assert run(*arguments, "--seed", "0", "--threads", "2", input=PLAIN + ODD).stdout == text
    many = [*arguments[:-1], "40"]
    assert run(*many, "--seed", "7", input=ODD).stdout != run(*many, input=ODD).stdout


@pytest.mark.parametrize("decode", ["map", "mbr", "greedy", "greedy-posterior"])
@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
def test_decoders(run, model, decode, trees):
    done = run("parse", "--model", model, TEST, "--decode", decode, "--trees", trees)
    assert done.exit_code == 0
    assert len(rows(done.stdout)) == 915


def test_what_the_model_cannot_do(run, model, folder):
    done = run("parse", "--model", model, TEST, "--decode", "max-z", "-o", "out.conllu")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "max-z", "requires a model with clusters")
    done = run("parse", "--model", model, TEST, "--kbest", "2", "--samples", "2")
    assert_one_sentence(done.stderr, "not both")
    assert not (folder / "out.conllu").exists()


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "# nothing\n"])
def test_nothing_to_parse(run, model, text):
    done = run("parse", "--model", model, "-", input=text)
    assert done.exit_code == 0
    assert done.stderr == ""


# Bad input


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (GOLD.replace("cat", "Mädchen").encode("latin-1"), ["line 3"]),
        (b"1\tone\n\n", ["line 1"]),
        (b"\x00\x01\x02" * 100, ["line 1"]),
    ],
    ids=["latin-1", "columns", "binary"],
)
def test_bad_files(run, model, folder, data, parts):
    (folder / "bad.conllu").write_bytes(data)
    (folder / "out.conllu").write_text("old", encoding="utf-8")
    done = run("parse", "--model", model, "bad.conllu", "--output", "out.conllu")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "bad.conllu", *parts)
    assert (folder / "out.conllu").read_text(encoding="utf-8") == "old"


def test_skip_bad(run, model):
    bad = PLAIN + "1\tone\n\n" + ODD
    done = run("parse", "--model", model, "-", "--skip-bad", input=bad)
    assert done.exit_code == 0
    assert done.stderr.startswith("arbora: skipped: standard input, line 5")
    assert len(rows(done.stdout)) == 6


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda _: b"", "empty or cut short"),
        (lambda data: data[: len(data) // 2], "cut short"),
        (lambda data: data[:-50] + bytes([data[-50] ^ 1]) + data[-49:], "altered"),
        (lambda _: b"PK\x03\x04 something else entirely", "not an Arbora model"),
    ],
    ids=["empty", "truncated", "altered", "foreign"],
)
def test_bad_models(run, model, folder, change, part):
    (folder / "bad.arbora").write_bytes(change(Path(model).read_bytes()))
    for command in (["parse", TEST, "--model"], ["inspect"]):
        done = run(*command, "bad.arbora")
        assert done.exit_code == 2
        assert_one_sentence(done.stderr, "bad.arbora", part)


def test_a_missing_model(run):
    done = run("parse", "--model", "nowhere.arbora", TEST)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "nowhere.arbora")


def test_unwritable_output(run, model):
    for path in ("no/such/folder/out.conllu", "."):
        done = run("parse", "--model", model, TEST, "--output", path)
        assert done.exit_code == 2
        assert_one_sentence(done.stderr, path, "cannot be written")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk(model):
    done = arbora_process("parse", "--model", model, TEST, "--output", "/dev/full")
    assert done.returncode == 2
    assert_one_sentence(done.stderr, "/dev/full")
    with open("/dev/full", "w") as full:  # noqa: PTH123  # a device
        done = arbora_process(
            "parse", "--model", model, TEST, capture_output=False, stdout=full, stderr=-1
        )
    assert done.returncode == 2
    assert_one_sentence(done.stderr, "no space left on device")


@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_no_half_written_file(model, folder, name):
    number = getattr(signal, name)
    (folder / "out.conllu").write_text("old", encoding="utf-8")
    command = [sys.executable, "-m", "arbora", "parse", "--model", model, "-o", "out.conllu"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 30
        while len(list(folder.iterdir())) < 2:  # it waits for standard input with its file open
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(timeout=30) == 128 + number
        assert b"Traceback" not in process.stderr.read()
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("out.conllu", "old")]


@pytest.mark.parametrize(
    "arguments",
    [["--decode", "best"], ["--kbest", "0"], ["--threads", "x"], ["--nonsense"]],
)
def test_bad_options(run, model, arguments):
    done = run("parse", "--model", model, TEST, *arguments)
    assert done.exit_code == 2
    assert "Usage" in done.stderr


def long_text(n_words):
    rows = (f"{i}\tw\t_\tNOUN\t_\t_\t{i - 1}\tdep\t_\t_\n" for i in range(1, n_words + 1))
    return "".join(rows) + "\n"


def test_very_long_sentences_are_refused_with_their_line(run, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.conllu").write_text(long_text(3) + "# x\n" + long_text(2001) + long_text(2))
    answer = run("parse", "--allow-missing", "--model", model, "long.conllu")
    assert answer.exit_code == 2
    assert answer.stderr == (
        "arbora: long.conllu, line 6: the sentence has 2001 words and the limit is 2000: split it, "
        "or raise the limit (--max-words, max_words).\n"
    )
    skipped = run("parse", "--allow-missing", "--model", model, "--skip-bad", "long.conllu")
    assert skipped.exit_code == 0
    assert skipped.stdout.count("\n\n") == 2
    assert "line 6: the sentence has 2001 words" in skipped.stderr
    raised = run(
        "parse",
        "--allow-missing",
        "--model",
        model,
        "--decode",
        "map",
        "--max-words",
        "2001",
        "long.conllu",
    )
    assert raised.exit_code == 0
    assert raised.stdout.count("\n\n") == 3
    assert (
        run(
            "parse", "--allow-missing", "--model", model, "--max-words", "2", "long.conllu"
        ).exit_code
        == 2
    )


def test_the_limit_is_the_parsers_own(parser):
    assert ParseOptions().max_words == _LONGEST_SENTENCE
    sentence = Sentence.from_words(["w"] * 11)
    with pytest.raises(TooLargeError, match="sentence 2: the sentence has 11 words and the limit"):
        parser.parse([Sentence.from_words(["w"]), sentence], max_words=10)
    with pytest.raises(ArgumentError, match="max_words must be between 1 and 1e"):
        parser.parse([sentence], max_words=0)
    assert len(parser.parse([sentence], max_words=11, allow_missing=True)) == 1
