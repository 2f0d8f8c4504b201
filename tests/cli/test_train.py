"""`arbora train`, and the help of `arbora tune`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import arbora
from arbora.options import ParserOptions, public_options
from tests.cli.conftest import GOLD, TREEBANK, arbora_process, assert_one_sentence

TRAIN, DEV = str(TREEBANK / "train.conllu"), str(TREEBANK / "dev.conllu")
TINY = ["--bits", "14", "--label-bits", "7", "--passes", "2", "--threads", "1"]
SMALL = [*TINY, "--only", "parser"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


KNOWN = public_options(ParserOptions)


def long_options(text):
    """The options that a help text lists, including `--no-` options."""
    return set(re.findall(r"^\W*?(--[a-z][a-z-]*)", text, re.MULTILINE)) | set(
        re.findall(r"\s(--no-[a-z-]+)", text)
    )


def dashed(names):
    return {"--" + name.replace("_", "-") for name in names}


@pytest.mark.parametrize("command", ["train", "tune"])
def test_help_shows_what_people_need_and_the_way_to_the_rest(run, command):
    common = {name for name, option in KNOWN.items() if option.spec.common}
    assert 8 <= len(common) <= 12
    shown = long_options(run(command, "--help").stdout)
    assert dashed(common) <= shown
    assert not dashed(KNOWN.keys() - common) & shown
    assert "--help-all" in shown


@pytest.mark.parametrize("command", ["train", "tune"])
def test_all_options_have_help(run, command):
    done = run(command, "--help-all")
    assert done.exit_code == 0
    shown = long_options(done.stdout)
    assert dashed(KNOWN) <= shown
    switches = {f"no_{name}" for name, option in KNOWN.items() if option.kind.boolean}
    assert dashed(switches) <= shown
    assert not dashed(KNOWN.keys() - {"learner"}) <= long_options(run(command, "--help").stdout)


def test_help_names_every_choice_and_default(run):
    """The help contains all declared texts, independent of line breaks."""
    text = run("train", "--help-all", terminal_width=400).stdout
    told = re.sub(r"[│\s]+", " ", text)
    for name, option in KNOWN.items():
        for choice in option.tags or option.kind.choices:
            assert choice in told, name
        assert option.spec.default_text or option.default is not None, name
        assert re.sub(r"\s+", " ", option.spec.help.split(",")[0].removesuffix(".")) in told, name


@pytest.mark.parametrize(("label", "reason"), [
    ("", "line 3: column DEPREL is empty"), ("nsu\rbj", "line 3: a carriage return"),
    ("nsubj\r", "line 3: a carriage return"), (" nsubj", "line 3: DEPREL ' nsubj' has spaces"),
])  # fmt: skip
def test_a_label_that_could_not_be_written_is_never_learnt(run, folder, label, reason):
    """A model with such a label could not parse any sentence."""
    good = (TREEBANK / "dev.conllu").read_bytes()
    bad = GOLD.replace("\tnsubj\t", f"\t{label}\t")
    (folder / "bad.conllu").write_bytes(bad.encode() + good)
    result = run("train", "bad.conllu", "--model", "m.arbora", *SMALL)
    assert_one_sentence(result.stderr, reason)
    result = run("train", "bad.conllu", "--model", "m.arbora", "--skip-bad", *SMALL)
    assert result.exit_code == 0, result.output
    assert f"skipped: bad.conllu, {reason}" in result.stderr
    assert run("parse", "--model", "m.arbora", DEV, "-o", "parsed.conllu").exit_code == 0


@pytest.mark.parametrize(
    "keywords",
    [{}, {"learner": "perceptron"}, {"learner": "mira"}, {"learner": "maxmargin"},
     {"learner": "l2"}, {"learner": "risk"}, {"learner": "l2+risk"}, {"optimizer": "sgd"},
     {"optimizer": "lbfgs"}, {"optimizer": "cg"}, {"optimizer": "eg"}, {"order": "sibling"},
     {"order": "grandsibling", "inference": "bp"}, {"order": "sibling", "learner": "risk"}],
    ids=str,
)  # fmt: skip
def test_defaults_that_help_states_hold_everywhere(keywords):
    """Defaults that depend on other options are described, all others are exact."""
    own = ParserOptions.from_keywords(keywords).keywords()
    stated = {
        name: option.default for name, option in KNOWN.items() if not option.spec.default_text
    }
    told = [name for name in own if name in stated and name not in keywords]
    assert len(told) >= 12
    for name in told:
        assert own[name] == stated[name], name


def test_messages_speak_the_language_of_the_command_line():
    """Options have dashes at the command line, and are keywords in Python."""
    for arguments, parts in (
        (["--decode", "max-z"], ["--decode max-z", "--clusters"]),
        (["--learner", "mira", "--optimizer", "sgd"], ["--optimizer has no effect", "--learner"]),
        (["--rate", "fast"], ["--rate must be a number or auto"]),
        (["--label-bits", "99"], ["--label-bits must be between"]),
    ):
        done = arbora_process("train", TRAIN, "--model", "m.arbora", *arguments)
        assert done.returncode == 2
        assert_one_sentence(done.stderr, *parts)
    with pytest.raises(arbora.ArgumentError, match="label_bits must be between"):
        arbora.Parser(label_bits=99)


def test_train(run, folder):
    done = run("train", TRAIN, "--dev", DEV, "--model", "m.arbora", *SMALL)
    assert done.exit_code == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    for number, line in enumerate(lines, start=1):
        assert re.match(
            rf"pass {number}/2  loss \d\S*  UAS \d\d\.\d\d  LAS \d\d\.\d\d  \S+ sentences/s", line
        )
    parser = arbora.load("m.arbora")
    dev = parser.model.card["dev"]
    assert f"UAS {dev['uas']:.2f}, LAS {dev['las']:.2f} (rule conll2018)" in done.stdout
    assert re.search(r"best pass +\d of 2, by LAS\n", done.stdout)
    assert parser.evaluate(DEV).uas == pytest.approx(dev["uas"])
    for part in ("4,676 words in 400 sentences", "single (chosen", "lemma, upos, xpos, feats",
                 "m.arbora (", "arbora parse --model m.arbora"):  # fmt: skip
        assert part in done.stdout
    assert [path.name for path in folder.iterdir()] == ["m.arbora"]


def test_defaults_are_enough(run, folder):
    (folder / "own.conllu").write_text(GOLD * 12, encoding="utf-8")
    done = run("train", "own.conllu")
    assert done.exit_code == 0, done.stderr
    assert (folder / "own.arbora").exists()
    assert "on the held-out last tenth" in done.stdout


def test_the_licence_is_shown(run, folder):
    (folder / "own.conllu").write_text(GOLD, encoding="utf-8")
    few = ("--bits", "12", "--passes", "1", "--licence", "CC BY-SA [4.0]")
    assert run("train", "own.conllu", *few).exit_code == 0
    assert re.search(r"licence +CC BY-SA \[4.0\]\n", run("inspect", "own.arbora").stdout)


def test_a_handful_of_sentences(run, folder):
    (folder / "own.conllu").write_text(GOLD, encoding="utf-8")
    done = run("train", "own.conllu", "--bits", "12", "--passes", "3")
    assert done.exit_code == 0, done.stderr
    assert "UAS" not in done.stdout + done.stderr
    assert arbora.load("own.arbora").model.card["best_pass"] == 3


def test_json_and_quiet(run):
    done = run("train", TRAIN, "--dev", DEV, "--model", "m.arbora", *SMALL, "--json", "--quiet")
    answer = json.loads(done.stdout)
    assert done.stderr == ""
    assert answer["model"] == "m.arbora"
    assert answer["files"] == {"train": "train.conllu", "dev": "dev.conllu"}
    assert answer["dev"]["uas"] > 50
    assert [one["number"] for one in answer["history"]["passes"]] == [1, 2]
    done = run("train", TRAIN, "--dev", DEV, "--model", "m.arbora", *SMALL, "--quiet")
    assert (done.stdout, done.stderr) == ("", "")


def test_options_reach_the_parser(run):
    done = run(
        "train", TRAIN, "--dev", DEV, "--model", "m.arbora", *SMALL, "--learner", "mira",
        "--mira", "k-best", "--k", "2", "--largest-step", "0.1", "--no-average", "--trees",
        "projective", "--features", "mcdonald2005", "--no-arc-filter", "--labels", "none",
        "--root", "multi", "--quiet",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    chosen = {
        "learner": "mira", "mira": "k-best", "k": 2, "largest_step": 0.1, "average": False,
        "trees": "projective", "features": "mcdonald2005", "arc_filter": False, "labels": "none",
        "root": "multi",
    }  # fmt: skip
    own = arbora.load("m.arbora").options.keywords()
    assert {name: own[name] for name in chosen} == chosen


def test_learning_through_belief_propagation(run, folder):
    arguments = [
        "train", TRAIN, "--dev", DEV, "--model", "m.arbora", *SMALL, "--learner", "l2+risk",
        "--order", "grandsibling", "--inference", "bp", "--bp-iterations", "2", "--damping", "0.1",
        "--factors", "automata", "--first-temperature", "0.2", "--last-temperature", "0.01",
        "--rate", "auto", "--trees", "projective", "--projectivise", "--labels", "none",
    ]  # fmt: skip
    done = run(*arguments)
    assert done.exit_code == 0, done.stderr
    assert "l2+risk by adagrad" in done.stdout
    assert "2 BP iterations" in done.stdout
    chosen = {
        "learner": "l2+risk", "inference": "bp", "training_inference": "bp", "bp_iterations": 2,
        "damping": 0.1, "factors": "automata", "first_temperature": 0.2, "last_temperature": 0.01,
        "rate": "auto", "projectivise": True,
    }  # fmt: skip
    own = arbora.load("m.arbora").options.keywords()
    assert {name: own[name] for name in chosen} == chosen
    done = run("parse", "--model", "m.arbora", DEV, "--probabilities", "--output", "out.conllu")
    assert done.exit_code == 0, done.stderr
    assert "the probabilities are beliefs" in done.stderr
    assert "ArcProb=" in (folder / "out.conllu").read_text(encoding="utf-8")
    done = run("parse", "--model", "m.arbora", DEV, "--certificates", "--output", "out.conllu")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "certificates requires a model that searches")
    done = run("train", TRAIN, "--from", "m.arbora", "--model", "n.arbora", "--learner", "l2",
               "--passes", "1", "--quiet")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert arbora.load("n.arbora").options.keywords()["bp_iterations"] == 2


def test_rates_are_numbers_or_found(run):
    done = run("train", TRAIN, "--model", "m.arbora", "--rate", "fast")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "rate must be a number or auto, not 'fast'.")
    done = run("tune", TRAIN, "--dev", DEV, "--grid", "rate=0.1,auto", *TINY, "--json")
    assert done.exit_code == 0, done.stderr
    tried = [trial["options"]["rate"] for trial in json.loads(done.stdout)["trials"]]
    assert sorted(map(str, tried)) == ["0.1", "auto"]


def test_plot(run, folder):
    pytest.importorskip("matplotlib")
    arguments = ["train", TRAIN, "--dev", DEV, "--model", "m.arbora", *SMALL, "--quiet"]
    assert run(*arguments, "--plot", "training.png").exit_code == 0
    assert (folder / "training.png").read_bytes().startswith(b"\x89PNG")
    done = run(*arguments, "--plot", "training.doc")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "training.doc", ".png")


def test_going_on_from_a_model(run, model):
    done = run("train", DEV, "--from", model, "--model", "m.arbora", "--passes", "1", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert arbora.load("m.arbora").options.bits == arbora.load(model).options.bits
    done = run("train", DEV, "--from", model, "--model", "m.arbora", "--bits", "12")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "bits=16", "12")


def test_going_on_with_another_class_of_trees(run, model):
    """`decode_trees` of the old class of trees does not apply to the new one."""
    for trees in ("projective", "nonprojective"):
        arguments = ["--trees", trees, "--model", "m.arbora", "--passes", "1", "--quiet"]
        done = run("train", DEV, "--from", model, *arguments)
        assert done.exit_code == 0, done.stderr
        assert arbora.load("m.arbora").model.decode_trees == trees
        model = "m.arbora"


def test_the_model_must_be_writable(run):
    """The error comes before anything is read: TRAIN does not exist either."""
    for path in ("no/such/folder/m.arbora", "."):
        done = run("train", "nowhere.conllu", "--model", path)
        assert done.exit_code == 2
        assert_one_sentence(done.stderr, path, "cannot be written")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["no word has a head"]),
        (re.sub(r"\t\d\t(\w+|nsubj:wh)\t_\t_\n", "\t_\t_\t_\t_\n", GOLD), ["no word has a head"]),
        (GOLD.replace("\t3\tnsubj", "\t9\tnsubj"), ["own.conllu, line 3"]),
        (GOLD.replace("\t2\tdet", "\t1\tdet"), ["own.conllu, line 2"]),
    ],
    ids=["empty", "no heads", "head out of range", "own head"],
)
def test_bad_training_data(run, folder, text, parts):
    (folder / "own.conllu").write_text(text, encoding="utf-8")
    done = run("train", "own.conllu", "--bits", "12")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, *parts)
    assert not (folder / "own.arbora").exists()


@pytest.mark.parametrize("text", ["", "1\tGo\tgo\tVERB\tVB\t_\t_\t_\t_\t_\n\n"])
def test_bad_dev_data(run, folder, text):
    (folder / "dev.conllu").write_text(text, encoding="utf-8")
    done = run("train", TRAIN, "--dev", "dev.conllu", "--model", "m.arbora")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "dev.conllu", "no word has a head")


def test_a_missing_library(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = run("train", TRAIN, "--model", "m.arbora", "--plot", "training.png")
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, "arbora[plot]")


def test_bad_training_data_can_be_skipped(run, folder):
    bad = GOLD * 3 + GOLD.replace("\t3\tnsubj", "\t9\tnsubj")
    (folder / "own.conllu").write_text(bad, encoding="utf-8")
    done = run("train", "own.conllu", "--bits", "12", "--passes", "1", "--skip-bad")
    assert done.exit_code == 0
    assert done.stderr.startswith("arbora: skipped: own.conllu, line ")
    assert "7 sentences" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["--passes", "0"], ["--bits", "99"], ["--regularization", "-1"], ["--rate", "nan"],
     ["--learner", "perceptron", "--optimizer", "sgd"], ["--decode", "max-z"],
     ["--word-clusters", "nowhere.txt"], ["--edge-clusters", "nowhere.arbora"],
     ["--from", "nowhere.arbora"], ["--resume"],
     ["--order", "sibling", "--inference", "bp", "--bp-iterations", "0"],
     ["--learner", "risk", "--last-temperature", "0"], ["--damping", "0.5"],
     ["--learner", "l2", "--order", "sibling", "--inference", "dual"]],
    ids=" ".join,
)  # fmt: skip
def test_options_that_make_no_sense(run, arguments):
    done = run("train", TRAIN, "--model", "m.arbora", *arguments)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr)


@pytest.mark.parametrize("arguments", [["--learner", "x"], ["--passes", "x"], ["--nonsense"]])
def test_options_that_do_not_exist(run, arguments):
    done = run("train", TRAIN, *arguments)
    assert done.exit_code == 2
    assert "Usage" in done.stderr


def test_standard_input_needs_a_name(run, folder):
    done = run("train", "-", input=GOLD)
    assert_one_sentence(done.stderr, "--model")
    done = run("train", "-", "--model", "m.arbora", "--bits", "12", "--quiet", input=GOLD)
    assert done.exit_code == 0
    assert (folder / "m.arbora").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
def test_an_interrupt_and_its_resumption(run, folder):
    options = [TRAIN, "--dev", DEV, "--bits", "14", "--label-bits", "7", "--threads", "1",
               "--passes", "8", "--patience", "8", "--only", "parser"]  # fmt: skip
    command = [sys.executable, "-m", "arbora", "train", *options, "--model", "m.arbora"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while "pass 2" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        status = process.wait(timeout=30)
    if status == 0:
        pytest.skip("the training was over before the signal came")
    assert status == 130
    assert "Traceback" not in said
    assert "m.arbora.checkpoint has the last complete pass" in said
    assert "--resume" in said
    done = run("train", *options, "--model", "m.arbora", "--resume", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert not (folder / "m.arbora.checkpoint").exists()
    assert run("train", *options, "--model", "whole.arbora", "--quiet").exit_code == 0
    resumed, whole = arbora.load("m.arbora").model, arbora.load("whole.arbora").model
    assert (resumed.scorer.weights == whole.scorer.weights).all()
    assert resumed.card == whole.card
