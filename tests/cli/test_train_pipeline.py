"""`arbora train`: the stages before the parser, several files, folders, and resumption."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora.fitting.checkpoint import path_beside
from arbora.models.model_file import to_bytes
from arbora.options import LemmatiserOptions, SegmenterOptions, StageOptions, TaggerOptions
from arbora.pipeline.stage_checkpoint import stage_checkpoint_path
from tests.cli.conftest import TREEBANK, assert_one_sentence

SMALL = ["--bits", "13", "--label-bits", "7", "--passes", "1", "--threads", "1"]
STAGES = StageOptions(
    SegmenterOptions(passes=3, bits=12), TaggerOptions(passes=2), LemmatiserOptions(passes=2),
    folds=2,
)  # fmt: skip


def cut(name, first, last):
    """Some sentences of the repository's treebank, as text."""
    text = (TREEBANK / f"{name}.conllu").read_text(encoding="utf-8")
    return "\n\n".join(text.split("\n\n")[first:last]) + "\n\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A small treebank in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").write_text(cut("train", 0, 50), encoding="utf-8")
    (tmp_path / "dev.conllu").write_text(cut("dev", 0, 20), encoding="utf-8")
    return tmp_path


def test_a_treebank_becomes_a_pipeline(run, folder):
    done = run("train", "train.conllu", "--dev", "dev.conllu", *SMALL, "--folds", "2")
    assert done.exit_code == 0, done.stderr
    runs = [line for line in done.stderr.splitlines() if not line.startswith("pass ")]
    assert runs == [
        "training the segmenter", "training the tagger", "training the lemmatiser",
        "tagging the training data by cross-validation", "training the parser",
    ]  # fmt: skip
    inspected = run("inspect", "train.arbora").stdout
    for text in (done.stdout, inspected):
        assert re.search(r"segmenter +words \d+\.\d\d, sentences \d+\.\d\d \(dev\)\n", text)
        assert re.search(r"tagger +UPOS \S+, XPOS \S+, FEATS \S+ \(dev\)\n", text)
        assert re.search(r"lemmatiser +lemmas \S+ \(dev\)\n", text)
        assert "predicted tags" in text
    assert "FILE|TEXT" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == [
        "dev.conllu", "train.arbora", "train.conllu",
    ]  # fmt: skip
    nlp = arbora.load("train.arbora")
    stages = nlp.model.card["stages"]
    assert stages["folds"] == 2
    assert stages["measured_on"] == "dev"
    dev = list(arbora.read_conllu("dev.conllu"))
    found = nlp.parse("dev.conllu", retag=True)
    pairs = [
        (a, b)
        for ours, theirs in zip(dev, found, strict=True)
        for a, b in zip(ours.upos, theirs.upos, strict=True)
    ]
    right = 100 * np.mean([a == b for a, b in pairs])
    assert stages["trained"]["tagger"]["upos"] == pytest.approx(right)
    scores = nlp.evaluate("dev.conllu", retag=True)
    assert nlp.model.card["dev"]["uas"] == pytest.approx(scores.uas)
    assert json.loads(run("inspect", "train.arbora", "--json").stdout)["stages"] == [
        "segmenter", "tagger", "lemmatiser",
    ]  # fmt: skip


def test_without_dev_the_folds_measure_the_stages(run):
    done = run("train", "train.conllu", *SMALL, "--folds", "2", "--json", "--quiet")
    assert done.exit_code == 0, done.stderr
    stages = json.loads(done.stdout)["stages"]
    assert stages["measured_on"] == "folds"
    assert stages["trained"]["segmenter"] == {}
    assert stages["trained"]["tagger"]["upos"] > 50


def test_the_parser_alone(run):
    done = run("train", "train.conllu", "--dev", "dev.conllu", *SMALL, "--only", "parser")
    assert done.exit_code == 0, done.stderr
    assert "tagger" not in done.stdout + done.stderr
    assert not arbora.load("train.arbora").model.stages
    done = run("train", "train.conllu", *SMALL, "--only", "parser", "--folds", "3")
    assert_one_sentence(done.stderr, "--folds has no effect with --only parser")
    done = run("train", "train.conllu", *SMALL, "--folds", "1")
    assert_one_sentence(done.stderr, "folds must be 0 or at least 2")


def test_stages_need_their_annotation(run, folder):
    """What cannot be trained is named with its reason."""
    lines = (folder / "train.conllu").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    for row in rows:
        row[1:] = row[1:] and [row[1], "_", "_", "_", "_", *row[6:]]
    bare = "\n".join("\t".join(row) for row in rows) + "\n"
    (folder / "bare.conllu").write_text(bare, encoding="utf-8")
    done = run("train", "bare.conllu", *SMALL)
    assert done.exit_code == 0, done.stderr
    assert re.search(r"tagger +none: no word has UPOS\n", done.stdout)
    assert re.search(r"lemmatiser +none: no word has a lemma\n", done.stdout)
    assert list(arbora.load("bare.arbora").model.stages) == ["segmenter"]
    assert run("convert", "train.conllu", "train.conll", "--to", "conllx").exit_code == 0
    done = run("train", "train.conll", "--format", "conllx", *SMALL, "--folds", "0")
    assert done.exit_code == 0, done.stderr
    assert "none: CoNLL-X does not say where the spaces are" in done.stdout
    assert set(arbora.load("train.arbora").model.stages) == {"lemmatiser", "tagger"}


def test_a_folder_has_splits(run, folder):
    (folder / "UD_Village").mkdir()
    for split in ("train", "dev"):
        shutil.move(f"{split}.conllu", folder / "UD_Village" / f"en_village-ud-{split}.conllu")
    done = run("train", "UD_Village", *SMALL, "--only", "parser", "--json", "--quiet")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["model"] == "UD_Village.arbora"
    assert answer["files"] == {
        "train": "en_village-ud-train.conllu", "dev": "en_village-ud-dev.conllu",
    }  # fmt: skip
    (folder / "UD_Village" / "en_village-ud-train.conllu").unlink()
    done = run("train", "UD_Village", *SMALL)
    assert_one_sentence(done.stderr, "UD_Village has no train file")


def test_a_dev_file_without_its_option(run):
    done = run("train", "train.conllu", "dev.conllu", *SMALL, "--only", "parser")
    assert done.exit_code == 0, done.stderr
    assert "note: dev.conllu is trained on as well" in done.stderr.splitlines()[0]
    assert "--dev dev.conllu" in done.stderr.splitlines()[0]
    assert "70 sentences" in done.stdout


def test_several_files_are_sources(run, folder):
    (folder / "news-train.conllu").write_text(cut("train", 50, 90), encoding="utf-8")
    (folder / "news-dev.conllu").write_text(cut("dev", 20, 40), encoding="utf-8")
    files = ["train.conllu", "news-train.conllu"]
    devs = ["--dev", "dev.conllu", "--dev", "news-dev.conllu"]
    own = folder.name
    done = run("train", *files, *devs, *SMALL, "--only", "parser", "--model", "both.arbora")
    assert done.exit_code == 0, done.stderr
    names = sorted(["news", own])
    assert re.search(rf"sources +{', '.join(names)}\n", done.stdout)
    assert re.search(rf"sources +{', '.join(names)}\n", run("inspect", "both.arbora").stdout)
    parser = arbora.load("both.arbora")
    plain, news, other = (
        np.concatenate([s.arc_probabilities for s in parser.parse("news-dev.conllu", **source)])
        for source in ({}, {"source": "news"}, {"source": own})
    )
    assert (plain != news).any()
    assert (news != other).any()
    done = run("parse", "--model", "both.arbora", "--source", "web", "news-dev.conllu")
    assert_one_sentence(done.stderr, "the model has no source 'web'", "news")
    parsed = run("parse", "--model", "both.arbora", "--source", "news", "news-dev.conllu")
    assert parsed.exit_code == 0
    assert "arbora.source" not in parsed.stdout
    assert run("train", *files, *SMALL, "--only", "parser", "--no-sources").exit_code == 0
    done = run("parse", "--model", "train.arbora", "--source", "news", "news-dev.conllu")
    assert_one_sentence(done.stderr, "was not trained with sources")


@pytest.mark.parametrize("command", ["train", "stats", "parse"])
def test_a_model_is_not_a_treebank(run, folder, model, command):
    extra = ["--model", model] if command == "parse" else []
    done = run(command, model, *extra)
    assert_one_sentence(done.stderr, "small.arbora is a model, not a treebank", "--model")
    packed = folder / "packed.arbora"
    packed.write_bytes(gzip.compress(Path(model).read_bytes()))
    done = run(command, "packed.arbora", *extra)
    assert_one_sentence(done.stderr, "packed.arbora is a model, not a treebank")


class StopError(Exception):
    """An interruption."""


class Stopper:
    """Interrupts the parser's training after a number of passes, or at its beginning."""

    def __init__(self, passes):
        self.passes = passes

    def begin(self, *_):
        if not self.passes:
            raise StopError

    def tick(self, sentences):
        pass

    def end_pass(self, record, is_best):  # noqa: ARG002  # as the protocol has it
        if record.number == self.passes:
            raise StopError


def fit(**keywords):
    pipeline = arbora.Pipeline(threads=1, bits=13, label_bits=7, passes=3)
    return pipeline.fit("train.conllu", "dev.conllu", stages=STAGES, **keywords)


def test_resuming_a_pipeline(folder):
    """The stages are not trained again, and the result is that of an uninterrupted run."""
    whole = to_bytes(fit().model)
    path = folder / "m.arbora"
    with pytest.raises(StopError):
        fit(checkpoint=path, observer=Stopper(0))
    assert stage_checkpoint_path(path).exists()
    assert not path_beside(path).exists()
    with pytest.raises(StopError):
        fit(checkpoint=path, resume=True, observer=Stopper(2), on_stage=pytest.fail)
    assert path_beside(path).exists()
    resumed = fit(checkpoint=path, resume=True, on_stage=pytest.fail)
    assert to_bytes(resumed.model) == whole
    resumed.save(path)
    assert not stage_checkpoint_path(path).exists()
    assert not path_beside(path).exists()
    with pytest.raises(arbora.ModelError, match="there is no checkpoint"):
        fit(checkpoint=path, resume=True)


def test_checkpoints_of_other_data_are_refused(folder):
    path = folder / "m.arbora"
    with pytest.raises(StopError):
        fit(checkpoint=path, observer=Stopper(0))
    good = stage_checkpoint_path(path).read_bytes()
    stage_checkpoint_path(path).write_bytes(good[:-9] + b"x" + good[-8:])
    with pytest.raises(arbora.ModelError, match="damaged"):
        fit(checkpoint=path, resume=True)
    stage_checkpoint_path(path).write_bytes(good)
    (folder / "dev.conllu").write_text(cut("dev", 5, 20), encoding="utf-8")
    with pytest.raises(arbora.ModelError, match="other data or options"):
        fit(checkpoint=path, resume=True)


def test_going_on_keeps_the_stages(run):
    nlp = fit()
    nlp.save("first.arbora")
    done = run("train", "dev.conllu", "--from", "first.arbora", "--passes", "1", "--quiet",
               "--model", "second.arbora")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    again = arbora.load("second.arbora")
    for name, stage in nlp.model.stages.items():
        other = again.model.stages[name]
        assert other.settings == stage.settings
        assert all((other.tensors[key] == stage.tensors[key]).all() for key in stage.tensors)
    assert again.model.card["stages"] == nlp.model.card["stages"]
    text = "The gulls sleep on the wall."
    assert [s.upos for s in again(text)] == [s.upos for s in nlp(text)]
    gold = arbora.Pipeline(threads=1, passes=1)
    gold.fit("dev.conllu", start=nlp, stages=StageOptions(folds=0))
    assert gold.model.card["stages"]["folds"] == 0
    assert (gold.model.scorer.weights != again.model.scorer.weights).any()
