"""Results of a parser, compared with those of its distributions."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import pytest

from arbora import ArgumentError, Parser, ProjectiveTrees, Sentence, SpanningTrees, read_conllu
from arbora.data import read_blocks
from arbora.data.treebank import read_treebank
from arbora.inference.tree_checks import in_class
from arbora.testing import EnumeratedTrees
from tests.small_parsers import SMALL, arc_scores, at_temperature, sentences, trained
from tests.toys import toy_sentences

MODELS = {
    "default": {},
    "joint": {"labels": "joint"},
    "unlabelled": {"labels": "none"},
    "projective": {"trees": "projective"},
    "joint perceptron": {"labels": "joint", "learner": "perceptron"},
    "mira": {"learner": "mira"},
    "multi": {"root": "multi", "learner": "perceptron"},
    "clusters": {"clusters": 3, "cluster_bits": 10},
    "projective clusters": {"clusters": 2, "cluster_bits": 10, "trees": "projective"},
    "clusters beside": {"clusters": 2, "cluster_bits": 9, "cluster_features": "beside"},
    "token clusters": {
        "clusters": 2, "cluster_bits": 9, "cluster_of": "token", "optimizer": "sgd",
    },
}  # fmt: skip


@pytest.fixture(params=MODELS)
def parser(request):
    return at_temperature(trained(**MODELS[request.param]), 1.0)


def alike(n):
    """A sentence of the same word n times."""
    return Sentence.from_words(["x"] * n, ["NOUN"] * n, ["NN"] * n, lemmas=["x"] * n)


def labels_of(parser, tree):
    return [parser.model.labels[i] for i in tree.labels]


QUESTIONS = {
    "map": lambda trees: trees.argmax(),
    "mbr": lambda trees: trees.mbr(),
    "greedy": lambda trees: trees.greedy(),
    "greedy-posterior": lambda trees: trees.greedy(by="marginal"),
}


@pytest.mark.parametrize("decode", QUESTIONS)
def test_decoders(parser, test_sentences, decode):
    for parsed, plain in zip(
        parser.parse(test_sentences, decode=decode), test_sentences, strict=True
    ):
        trees = parser.distribution(plain)
        assert type(trees) is (
            ProjectiveTrees if parser.options.trees == "projective" else SpanningTrees
        )
        assert trees.root == parser.model.root
        answer = QUESTIONS[decode](trees)
        assert parsed.heads.tolist() == answer.heads.tolist()
        assert parsed.forms == plain.forms
        if parser.options.labels == "joint":
            assert parsed.labels == labels_of(parser, answer)


def test_greedy_by_posterior_is_another_question(test_sentences):
    """Only decoding by score takes a good head that no good tree has (Smith & Smith 2007, 6)."""
    parser = at_temperature(trained(labels="none", arc_filter=False, passes=1), 1.0)
    twins = [alike(n) for n in range(2, 9)]
    answers = []
    for decode, by in (("greedy", "score"), ("greedy-posterior", "marginal")):
        found = parser.parse([*test_sentences, *twins], decode=decode)
        answers.append([parsed.heads.tolist() for parsed in found])
        for parsed, heads in zip([*test_sentences, *twins], answers[-1], strict=True):
            assert parser.distribution(parsed).greedy(by=by).heads.tolist() == heads
    assert answers[0] != answers[1]


def test_probabilities(parser, test_sentences):
    for parsed, plain in zip(parser.parse(test_sentences), test_sentences, strict=True):
        trees = parser.distribution(plain)
        marginals = trees.marginals
        if parser.options.labels == "joint":
            marginals = marginals.sum(axis=2)
        np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, atol=1e-9)
        words = np.arange(1, len(plain.forms) + 1)
        np.testing.assert_allclose(
            parsed.arc_probabilities, marginals[parsed.heads, words], atol=1e-9
        )
        assert ((parsed.label_probabilities > 0) & (parsed.label_probabilities <= 1)).all()
        labels = None
        if parser.options.labels == "joint":
            labels = np.array([parser.model.labels.index(name) for name in parsed.labels])
            expected = trees.log_prob(parsed.heads, labels)
        else:
            of_labels = np.log(parsed.label_probabilities).sum()
            expected = trees.log_prob(parsed.heads) + of_labels
        assert parsed.log_prob == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("decode", ["greedy", "greedy-posterior"])
def test_greedy_heads_that_are_no_tree_have_no_probability(test_sentences, decode):
    parser = at_temperature(trained(labels="none"), 1.0)
    # Words that pull each other make cycles where each takes its best head.
    twins = [alike(n) for n in range(2, 9)]
    found = set()
    for parsed in parser.parse([*test_sentences, *twins], decode=decode):
        trees = parser.distribution(parsed)
        is_tree = bool(
            in_class(parsed.heads[None, :].astype(np.int64), "nonprojective", trees.root)
        )
        expected = trees.log_prob(parsed.heads) if is_tree else -np.inf
        assert parsed.log_prob == pytest.approx(expected)
        found.add(is_tree)
    assert found == {True, False}


def test_kbest_lists(parser, test_sentences):
    few = test_sentences[:4]
    found = parser.parse(few, kbest=5)
    at = 0
    for plain in few:
        trees = parser.distribution(plain)
        expected = trees.kbest(5)
        for rank, tree in enumerate(expected, start=1):
            parsed = found[at]
            at += 1
            assert parsed.heads.tolist() == tree.heads.tolist()
            if tree.labels is not None:
                assert parsed.labels == labels_of(parser, tree)
            assert f"# arbora.rank = {rank}" in parsed.comments
        group = found[at - len(expected) : at]
        assert len({(p.heads.tobytes(), tuple(p.labels)) for p in group}) == len(group)
        if (
            parser.options.labels != "staged"
        ):  # a staged label's probability is not part of the ranking
            log_probs = [p.log_prob for p in group]
            assert log_probs == sorted(log_probs, reverse=True)
    assert at == len(found)


def test_samples_are_keyed_by_seed_and_sentence(parser, test_sentences):
    few = test_sentences[:3]

    def draws(seed, which=few, parser=parser):
        return [s.heads.tolist() for s in parser.parse(which, samples=4, seed=seed)]

    assert draws(1) == draws(1)
    assert draws(1)[:4] == draws(1, few[:1])
    undecided = at_temperature(parser, 1000.0)
    assert draws(1, few, undecided) != draws(2, few, undecided)
    same = draws(1, few[:1] * 2, undecided)
    assert same[:4] != same[4:]  # the place of a sentence is part of the key
    expected = parser.distribution(few[0]).sample(4, seed=1)
    heads = expected.heads if hasattr(expected, "heads") else expected
    assert draws(1)[:4] == np.asarray(heads).tolist()


def test_blocks_do_not_matter_to_samples(tmp_path, test_sentences, monkeypatch):
    path = tmp_path / "in.conllu"
    path.write_bytes(b"".join(bytes(s) for s in test_sentences))
    whole = [bytes(s) for s in trained().parse(path, samples=2)]
    small = partial(read_blocks, chunk_size=1000)
    monkeypatch.setattr("arbora.parsers.parser.read_blocks", small)
    assert [bytes(s) for s in trained().parse(path, samples=2)] == whole
    assert whole == [bytes(s) for s in trained().parse(test_sentences, samples=2)]


@pytest.mark.parametrize("name", ["all", "beside"])
@pytest.mark.parametrize("weights", ["learnt", "random"])
def test_hidden_clusters_by_enumeration(name, weights, rng):
    """map sums over the clusters of an arc, max-z maximises; probabilities always sum."""
    parser = at_temperature(trained(clusters=3, cluster_bits=10, cluster_features=name), 1.0)
    if weights == "random":  # clusters that differ much, and best trees with them
        drawn = rng.normal(scale=0.1, size=parser.model.scorer.size)
        parser = Parser.from_model(parser.model.with_parameters({"scorer.weights": drawn}), 1)
    short = [
        Sentence.from_words(s.forms[:4], s.upos[:4], s.xpos[:4], lemmas=s.lemmas[:4])
        for s in sentences("test", 6)
    ]
    block = read_treebank(short)
    encoded = parser.model.encoder.encode(block)
    answers = {how: parser.parse(short, decode=how) for how in ("map", "max-z")}
    for i, sentence in enumerate(short):
        side = len(sentence.forms) + 1
        table = arc_scores(parser.model, encoded, [i]).reshape(side, side, 3)
        with np.errstate(divide="ignore"):
            summed = np.log(np.exp(table).sum(axis=2))
        for how, arcs in (("map", summed), ("max-z", table.max(axis=2))):
            every = EnumeratedTrees(arcs, root=parser.model.root)
            best = every.heads[every.tree_scores.argmax()]
            assert answers[how][i].heads.tolist() == best.tolist()
            marginals = EnumeratedTrees(summed, root=parser.model.root).marginals
            np.testing.assert_allclose(
                answers[how][i].arc_probabilities, marginals[best, np.arange(1, side)], atol=1e-9
            )
    if weights == "random":
        one, other = ([s.heads.tolist() for s in found] for found in answers.values())
        assert one != other
    with pytest.raises(ArgumentError, match="requires a model with clusters"):
        trained().parse(short, decode="max-z")


def test_other_trees_than_those_learnt(test_sentences):
    parser = at_temperature(trained(), 1.0)
    for parsed, plain in zip(
        parser.parse(test_sentences, trees="projective", decode="map"), test_sentences, strict=True
    ):
        scores = parser.distribution(plain).scores
        expected = ProjectiveTrees(scores, root=parser.model.root).argmax()
        assert parsed.heads.tolist() == expected.heads.tolist()


def test_decode_trees_is_a_setting():
    parser = trained(decode_trees="projective")
    assert parser.options.trees == "nonprojective"
    assert parser.model.decode_trees == "projective"
    assert isinstance(parser.distribution(sentences("test", 1)[0]), ProjectiveTrees)
    assert trained(decode_trees="auto").model.decode_trees in ("projective", "nonprojective")


@pytest.mark.parametrize("better", ["nonprojective", "projective"])
def test_the_better_class_is_chosen_on_dev(better, rng):
    """Koo et al. (2007), section 6.2. The dev trees are the model's own best trees of a class."""
    options = SMALL | {"passes": 1, "labels": "none", "decode": "map"}
    train, dev = sentences("train", 40), toy_sentences(rng, [9] * 12)
    plain = Parser(**options).fit(train, dev)
    found = {trees: plain.parse(dev, trees=trees) for trees in ("nonprojective", "projective")}
    assert any(
        one.heads.tolist() != other.heads.tolist()
        for one, other in zip(*found.values(), strict=True)
    )
    parser = Parser(**options, decode_trees="auto").fit(train, found[better])
    assert parser.model.decode_trees == better
    assert parser.evaluate(found[better]).uas == 100.0


@pytest.mark.parametrize("learner", ["perceptron", "mira", "maxmargin", "loglinear"])
def test_the_temperature_is_fitted_and_used(test_sentences, learner):
    parser = trained(learner=learner, decode="map")
    assert parser.model.temperature != 1.0
    raw = at_temperature(parser, 1.0)
    parsed, plain = parser.parse(test_sentences), raw.parse(test_sentences)
    assert [s.heads.tolist() for s in parsed] == [s.heads.tolist() for s in plain]
    assert parsed[0].log_prob != plain[0].log_prob
    scaled = SpanningTrees(
        raw.distribution(test_sentences[0]).scores / parser.model.temperature,
        root=parser.model.root,
    )
    words = np.arange(1, len(test_sentences[0].forms) + 1)
    np.testing.assert_allclose(
        parsed[0].arc_probabilities, scaled.marginals[parsed[0].heads, words], atol=1e-9
    )

    def surprise(temperature):
        total = 0.0
        for sentence in sentences("dev", 20):
            trees = at_temperature(parser, temperature).distribution(sentence)
            words = np.arange(1, len(sentence.forms) + 1)
            total -= np.log(np.maximum(trees.marginals[sentence.heads, words], 1e-6)).sum()
        return total

    best = parser.model.temperature
    assert surprise(best) <= min(surprise(0.8 * best), surprise(1.25 * best)) + 1e-9


def test_annotation_in_the_input_is_not_looked_at(parser, test_sentences):
    bare, scrambled = [], []
    for s in test_sentences:
        columns = {"lemmas": s.lemmas, "feats": s.feats}
        bare.append(Sentence.from_words(s.forms, s.upos, s.xpos, **columns))
        n = len(s.forms)
        scrambled.append(
            Sentence.from_words(
                s.forms,
                s.upos,
                s.xpos,
                **columns,
                heads=[*range(2, n + 1), 0],
                labels=["zzz"] * n,
                misc=["Gloss=x"] * n,
            )
        )
    for one, other in zip(parser.parse(bare), parser.parse(scrambled), strict=True):
        assert one.heads.tolist() == other.heads.tolist()
        assert one.labels == other.labels
        assert one.arc_probabilities.tobytes() == other.arc_probabilities.tobytes()


def test_files_and_lists_give_the_same(parser, tmp_path, test_sentences):
    path = tmp_path / "in.conllu"
    path.write_bytes(b"".join(bytes(s) for s in test_sentences))
    from_file, from_list = list(parser.parse(path)), parser.parse(test_sentences)
    assert [bytes(s) for s in from_file] == [bytes(s) for s in from_list]
    assert isinstance(from_list, list)
    assert [s.log_prob for s in from_file] == [s.log_prob for s in from_list]
    assert parser.parse([]) == []
    assert list(parser.parse(io.BytesIO(b""))) == []
    with pytest.raises(ArgumentError, match="put the sentence into a list"):
        parser.parse(test_sentences[0])
    with pytest.raises(ArgumentError, match="there is no option k"):
        parser.parse(test_sentences, k=3)


def test_threads_give_the_same_bytes(parser, test_sentences):
    answers = []
    for threads in (1, 2):
        other = Parser.from_model(parser.model, threads)
        parsed = other.parse(test_sentences * 4)
        answers.append([(bytes(s), s.log_prob, s.arc_probabilities.tobytes()) for s in parsed])
    assert answers[0] == answers[1]


def test_pieces_of_any_size_give_the_same(parser, test_sentences, monkeypatch):
    whole = [bytes(s) for s in parser.parse(test_sentences)]
    monkeypatch.setattr("arbora.models.decoding._CELLS_AT_ONCE", 500)
    assert [bytes(s) for s in parser.parse(test_sentences)] == whole


def test_what_parsing_leaves_alone(tmp_path):
    text = (
        "# sent_id = 1\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n1\tin\tin\tADP\t_\t_\t_\t_\t_\tA=b\n"
        "2\tdem\tder\tDET\t_\t_\t_\t_\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\tHaus\tHaus\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
    )
    (tmp_path / "a.conllu").write_text(text)
    (parsed,) = trained().parse(read_conllu(tmp_path / "a.conllu"), allow_missing=True)
    old = [line for line in text.split("\n") if not line.startswith("2.1")]  # of the old tree
    new = bytes(parsed).decode().split("\n")
    for a, b in zip(old, new, strict=True):
        one, other = a.split("\t"), b.split("\t")
        assert one[:6] == other[:6]
        assert one[8:] == other[8:]


@pytest.mark.slow
def test_a_very_long_sentence():
    forms = [word for s in sentences("train") for word in s.forms][:800]
    forms = (forms * (800 // len(forms) + 1))[:800]
    parsed = trained().parse([Sentence.from_words(forms)], allow_missing=True)[0]
    assert len(parsed.heads) == 800
    assert (parsed.heads == 0).sum() >= 1
