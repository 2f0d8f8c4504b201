"""Uses of neural models: explanations, word vectors, ensembles, the command line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora import Parser
from arbora.cli.app import app
from arbora.errors import ArgumentError, ModelError
from arbora.models.ensemble import ensemble_of
from arbora.models.model_file import from_bytes, to_bytes
from arbora.scoring import Batch
from tests.neural.test_training import SMALL, trained
from tests.small_parsers import sentences
from tests.small_parsers import trained as linear


@pytest.mark.parametrize(
    "options",
    [{}, {"order": "sibling", "inference": "bp"}, {"root": "multi", "labels": "joint"},
     {"scorer": "linear+neural", "bits": 14, "label_bits": 9}],
    ids=["first", "parts", "joint", "sum"],
)  # fmt: skip
def test_explanations_add_up(options):
    parser, sentence = trained(**options), sentences("test", 1)[0]
    found = parser.explain(sentence, 2)
    total = sum(one.value for one in found.contributions)
    assert total == pytest.approx(found.difference, abs=1e-4)
    columns = {one.template for one in found.contributions}
    assert {"form", "upos", "character"} <= columns
    assert any(one.atoms == (sentence.forms[0],) for one in found.contributions)


def test_attributions_are_slopes():
    """Scaling the vectors of a column changes the score by its contributions, to first order."""
    import torch

    from arbora.neural.attribution import attributions
    from arbora.neural.differentiation import tensors_of
    from arbora.neural.shards import make_shard
    from arbora.neural.torch_network import TorchNetwork
    from tests.neural.small import small_block, small_scorer

    block = small_block()
    scorer = small_scorer(block, labels=0)
    model = trained().model
    batch = Batch(model.encoder.encode(block), np.array([0]))
    scores, _ = scorer.scores(batch)
    d_arcs = np.random.default_rng(0).normal(size=len(scores.arcs))
    found = attributions(scorer, batch, scores.with_values(d_arcs))
    network = TorchNetwork(scorer.sizes, tensors_of(scorer.parameters()))
    shard = make_shard(scorer.numbered(batch.encoded), batch.sentences, np.arange(1))
    vectors = network.vectors(shard, shard.tokens)

    def total(column, factor):
        changed = {k: v * factor if k == column else v for k, v in vectors.items()}
        arcs = network.arcs(shard, network.states(shard, changed)).detach().numpy()
        return float(arcs[0].reshape(-1) @ d_arcs)

    for column in vectors:
        slope = (total(column, 1 + 1e-6) - total(column, 1 - 1e-6)) / 2e-6
        own = sum(one.value for one in found if one.column == column)
        assert own == pytest.approx(slope, rel=1e-5, abs=1e-8)
    assert torch.is_tensor(vectors["form"])


def test_word_vectors_are_read_kept_and_used(tmp_path):
    path = tmp_path / "vectors.txt"
    words = sorted({form.lower() for one in sentences("train", 24) for form in one.forms})
    rng = np.random.default_rng(0)
    lines = [" ".join([word, *(f"{x:.3f}" for x in rng.normal(size=5))]) for word in words[::2]]
    path.write_text(f"{len(lines)} 5\n" + "\n".join(lines) + "\n", encoding="utf-8")
    parser = Parser(**SMALL).fit(sentences("train", 24), sentences("dev", 8), vectors=path)
    scorer = parser.model.scorer
    assert scorer.vectors.shape == (1 + len(lines), 5)
    assert np.abs(scorer.parameters()["given.map"]).max() > 0
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), 1)
    some = sentences("test", 4)
    assert [bytes(s) for s in again.parse(some)] == [bytes(s) for s in parser.parse(some)]
    both = Parser(**SMALL | {"scorer": "linear+neural"}, bits=14, label_bits=9)
    both.fit(sentences("train", 24), sentences("dev", 8), vectors=path)
    assert both.model.scorer.experts[1].scorer.vectors.shape == scorer.vectors.shape
    with pytest.raises(ArgumentError, match="word vectors require scorer='neural'"):
        Parser().fit(sentences("train", 24), vectors=path)
    with pytest.raises(ArgumentError, match="vectors cannot be combined with start"):
        Parser().fit(sentences("train", 24), vectors=path, start=parser)


def test_an_ensemble_averages_scores_of_different_models(tmp_path):
    first, second = linear(), trained(seed=3)
    some = sentences("dev", 8)
    assert set(second.model.labels) <= set(first.model.labels)
    other = Parser(**SMALL).fit(sentences("train", 60), sentences("dev", 8))  # the same labels
    model = ensemble_of([first.model, other.model])
    encoded = model.encoder.encode(arbora.data.treebank.read_treebank(some))
    batch = Batch(encoded, np.arange(2))
    total = model.scorer.scores(batch)[0].arcs
    own = Batch(other.model.encoder.encode(encoded.block), np.arange(2))
    parts = [
        one.scorer.scores(which)[0].arcs / one.temperature
        for one, which in ((first.model, batch), (other.model, own))
    ]
    np.testing.assert_allclose(total, (parts[0] + parts[1]) / 2, rtol=1e-6)
    with pytest.raises(ModelError, match="no file of its own"):
        to_bytes(model)
    with pytest.raises(ArgumentError, match="model 2 scores other parts"):
        ensemble_of([first.model, trained(order="sibling", inference="bp").model])
    first.save(tmp_path / "a.arbora")
    other.save(tmp_path / "b.arbora")
    both = arbora.load([tmp_path / "a.arbora", tmp_path / "b.arbora"], threads=1)
    parsed = both.parse(some)
    alone = Parser.from_model(model, 1).parse(some)
    assert [bytes(s) for s in parsed] == [bytes(s) for s in alone]


def test_the_command_line_trains_and_parses(tmp_path):
    from typer.testing import CliRunner

    from tests.toys import TREEBANK

    model = str(tmp_path / "small.arbora")
    small = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    train = ["train", str(TREEBANK / "dev.conllu"), "--model", model, "--only", "parser", *small]
    found = CliRunner().invoke(app, [*train, "--quiet", "--no-refit"])
    assert found.exit_code == 0, found.output
    out = str(tmp_path / "parsed.conllu")
    parse = ["parse", "--model", model, "--model", model, str(TREEBANK / "test.conllu")]
    found = CliRunner().invoke(app, [*parse, "--output", out, "--quiet", "--threads", "1"])
    assert found.exit_code == 0, found.output
    assert sum(1 for _ in arbora.read_conllu(out)) > 0


def test_the_code_of_the_guide(capsys):
    text = (Path(__file__).parents[2] / "docs" / "neural.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```py\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL).groups()
    exec(compile(code, "neural.md", "exec"), {})
    assert capsys.readouterr().out == printed
