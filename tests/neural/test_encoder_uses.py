"""Training, files and commands with a pretrained encoder; folders and files that are refused."""

from __future__ import annotations

import importlib.util
import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import arbora
from arbora import Parser
from arbora.cli.app import app
from arbora.errors import ArgumentError, ModelError
from arbora.models.model_file import from_bytes, to_bytes
from tests.neural.encoders import KINDS, save_encoder
from tests.neural.test_training import SMALL
from tests.small_parsers import sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("bert"))


def trained(folder, **options):
    parser = Parser(**SMALL | options)
    return parser.fit(sentences("train", 24), sentences("dev", 8), encoder=folder)


def parsed(parser):
    return [bytes(one) for one in parser.parse(sentences("test", 6))]


@pytest.mark.parametrize("fine_tune", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_has_its_encoder_in_its_file(tmp_path, kind, fine_tune):
    folder = save_encoder(tmp_path, kind, head=True)
    parser = trained(folder, fine_tune=fine_tune, encoder_layers=2)
    shutil.rmtree(folder)
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), 2)
    assert parsed(again) == parsed(parser)
    assert to_bytes(again.model) == to_bytes(parser.model)
    found = again.explain(sentences("test", 1)[0], 2)
    assert "encoder" in {one.template for one in found.contributions}
    total = sum(one.value for one in found.contributions)
    assert total == pytest.approx(found.difference, abs=1e-4)


@pytest.mark.parametrize("fine_tune", [False, True])
def test_the_encoder_is_frozen_or_learnt(folder, fine_tune):
    parser = trained(folder, fine_tune=fine_tune)
    given = load_file(folder / "model.safetensors")
    _, arrays = parser.model.scorer.state()
    kept = [
        np.array_equal(values, given[name.removeprefix("encoder.")])
        for name, values in arrays.items()
        if name.startswith("encoder.")
    ]
    assert len(kept) > 40
    assert all(kept) != fine_tune


@pytest.mark.parametrize("fine_tune", [False, True])
def test_threads_and_interruptions_do_not_change_the_model(folder, tmp_path, fine_tune):
    options = {"passes": 2, "fine_tune": fine_tune, "dropout": 0.2}
    whole = trained(folder, **options)
    assert to_bytes(trained(folder, **options, threads=2).model) == to_bytes(whole.model)

    class Interrupts:
        def begin(self, *_): ...
        def tick(self, *_): ...
        def end_pass(self, record, _):
            if record.number == 1:
                raise KeyboardInterrupt

    path = tmp_path / "m.arbora"
    both = (sentences("train", 24), sentences("dev", 8))
    with pytest.raises(KeyboardInterrupt):
        Parser(**SMALL | options).fit(*both, encoder=folder, checkpoint=path, observer=Interrupts())
    resumed = Parser(**SMALL | options)
    resumed.fit(*both, encoder=folder, checkpoint=path, resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)


def test_training_goes_on_with_the_same_encoder(folder):
    first = trained(folder, fine_tune=True)
    more = Parser().fit(sentences("train", 12), sentences("dev", 8), start=first)
    assert more.options.scorer.fine_tune
    assert len(parsed(more)) == 6
    with pytest.raises(ArgumentError, match="encoder cannot be combined with start"):
        Parser().fit(sentences("train", 12), start=first, encoder=folder)


def test_linear_and_neural_scores_with_an_encoder(folder):
    parser = trained(folder, scorer="linear+neural", bits=14, label_bits=9)
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), 1)
    assert parsed(again) == parsed(parser)


def test_the_command_line_trains_pipelines_and_parses(folder, tmp_path):
    from typer.testing import CliRunner

    from tests.toys import TREEBANK

    model, out = str(tmp_path / "small.arbora"), str(tmp_path / "parsed.conllu")
    small = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    train = ["train", str(TREEBANK / "dev.conllu"), "--model", model, *small, "--no-refit"]
    run = CliRunner().invoke
    found = run(app, [*train, "--encoder", str(folder), "--fine-tune", "--quiet"])
    assert found.exit_code == 0, found.output
    found = run(app, ["inspect", model])
    assert found.exit_code == 0, found.output
    found = run(app, ["parse", "--model", model, str(TREEBANK / "test.conllu"), "--output", out])
    assert found.exit_code == 0, found.output
    assert sum(1 for _ in arbora.read_conllu(out)) > 0
    assert len(arbora.load(model, threads=1)("Cats see dogs.")) == 1
    found = run(app, [*train, "--encoder", str(tmp_path / "none")])
    assert found.exit_code == 2
    assert "no such folder" in found.output.replace("\n", " ")
    assert "Traceback" not in found.output


def changed_config(folder, **settings):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def changed_arrays(folder, change):
    path = folder / "model.safetensors"
    arrays = load_file(path)
    change(arrays)
    path.unlink()
    save_file(arrays, path, {"format": "pt"})


_WORDS = "embeddings.word_embeddings.weight"
BAD = {
    "no configuration": (lambda d: (d / "config.json").unlink(), "there is no config.json"),
    "no tokenizer": (lambda d: (d / "tokenizer.json").unlink(), "there is no tokenizer.json"),
    "no arrays": (lambda d: (d / "model.safetensors").unlink(), "there is no model.safetensors"),
    "a pickle": (
        lambda d: (d / "model.safetensors").rename(d / "pytorch_model.bin"),
        "are a pickle, which can run code",
    ),
    "a number": (lambda d: (d / "config.json").write_text("7"), "names no type of model"),
    "half": (lambda d: (d / "config.json").write_text('{"model'), "configuration is damaged"),
    "own code": (
        lambda d: changed_config(d, auto_map={"AutoModel": "code.Model"}), r"\(auto_map\)"
    ),
    "a decoder": (lambda d: changed_config(d, is_encoder_decoder=True), "has a decoder"),
    "unknown": (lambda d: changed_config(d, model_type="gpt2"), "'gpt2' is not a masked language"),
    "layers": (lambda d: changed_config(d, num_hidden_layers=10**9), "1,000,000,000 as num_hidden"),
    "sizes": (lambda d: changed_config(d, hidden_size=10), "do not fit its configuration"),
    "more": (lambda d: changed_config(d, num_hidden_layers=4), "has no 'encoder.layer.3"),
    "heads": (lambda d: changed_config(d, num_attention_heads=3), "do not fit its configuration"),
    "short": (lambda d: changed_config(d, max_position_embeddings=3), "do not fit its config"),
    "one less": (lambda d: changed_arrays(d, lambda a: a.pop(_WORDS)), f"has no '{_WORDS}'"),
    "cut": (
        lambda d: changed_arrays(d, lambda a: a.update({_WORDS: a[_WORDS][:-1].copy()})),
        "do not fit its configuration",
    ),
    "nan": (
        lambda d: changed_arrays(d, lambda a: a.update({_WORDS: a[_WORDS] * np.nan})),
        "not finite",
    ),
    "no file": (lambda d: (d / "model.safetensors").write_bytes(b"junk"), "arrays are damaged"),
    "bad tokenizer": (lambda d: (d / "tokenizer.json").write_text("{}"), "tokenizer is damaged"),
    "not text": (lambda d: (d / "tokenizer.json").write_bytes(b"\xff\xfe"), "can't decode"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_folders_give_one_sentence(folder, tmp_path, case):
    from arbora.neural.encoder_folder import read_encoder

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    spoil, told = BAD[case]
    spoil(copy)
    with pytest.raises(ArgumentError, match=told) as found:
        read_encoder(copy)
    assert str(found.value).startswith(str(copy))
    assert str(found.value).count("\n") == 0


def test_code_in_a_folder_is_not_run(folder, tmp_path):
    """Not even a file that the configuration does not name."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for name in ("modeling_bert.py", "code.py", "__init__.py"):
        (copy / name).write_text("raise SystemExit('this ran')")
    assert trained(copy).model.scorer.sizes.context == 8


def test_options_that_have_no_effect_are_refused(folder):
    with pytest.raises(ArgumentError, match="encoder_rate requires fine_tune"):
        Parser(**SMALL, encoder_rate=0.1)
    for options in ({"fine_tune": True}, {"encoder_layers": 2}):
        with pytest.raises(ArgumentError, match="requires encoder"):
            Parser(**SMALL, **options).fit(sentences("train", 24))
    with pytest.raises(ArgumentError, match="encoder requires scorer='neural'"):
        Parser().fit(sentences("train", 24), encoder=folder)


def test_without_transformers_there_is_one_sentence(folder, monkeypatch):
    parser = trained(folder)
    contents = to_bytes(parser.model)
    own = importlib.util.find_spec
    monkeypatch.setattr(
        "arbora.neural.extra.find_spec",
        lambda name: None if name == "transformers" else own(name),
    )
    again = Parser.from_model(from_bytes(contents), 1)  # the card and the rest can be read
    for run in (lambda: parsed(again), lambda: trained(folder)):
        with pytest.raises(ArgumentError, match=r'pip install "arbora\[encoder\]"'):
            run()


def test_altered_files_are_refused(folder):
    """By the checksum; and if that were right, by what the encoder needs."""
    contents = bytearray(to_bytes(trained(folder).model))
    place = contents.index(b'"hidden_size": 8')
    contents[place : place + 16] = b'"hidden_size": 9'
    with pytest.raises(ModelError, match="the checksum is wrong"):
        from_bytes(bytes(contents))
