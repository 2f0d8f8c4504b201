"""Training: reproducibility, checkpoints, refitting and continued training."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, DataError, ModelError, Parser, Sentence
from arbora.data.treebank import read_treebank
from arbora.features import WordClusters
from arbora.models.model_file import to_bytes
from tests.small_parsers import SMALL, arc_scores, sentences
from tests.toys import toy_sentences, without_heads

LEARNERS = {
    "perceptron": {"learner": "perceptron"},
    "mira": {"learner": "mira"},
    "k-best mira": {"learner": "mira", "mira": "k-best", "trees": "projective"},
    "factored mira": {"learner": "mira", "mira": "factored"},
    "mbr mira": {"learner": "mira", "mira": "mbr"},
    "adagrad": {},
    "adagrad, projective": {"trees": "projective"},
    "sgd": {"optimizer": "sgd"},
    "lbfgs": {"optimizer": "lbfgs"},
    "cg": {"optimizer": "cg"},
    "eg": {"optimizer": "eg"},
    "maxmargin": {"learner": "maxmargin"},
    "joint": {"labels": "joint", "learner": "perceptron"},
    "joint maxmargin": {"labels": "joint", "learner": "maxmargin", "passes": 3},
    "clusters": {"clusters": 2, "cluster_bits": 9},
    "clusters beside": {"clusters": 2, "cluster_bits": 9, "cluster_features": "beside"},
    "not averaged": {"average": False, "batch_size": 3},
    "siblings": {"order": "sibling"},
    "grandsiblings by dual decomposition": {
        "order": "grandsibling", "learner": "perceptron", "training_inference": "dual",
        "max_iterations": 50,
    },
    "grandsiblings by likelihood": {
        "order": "grandsibling", "learner": "loglinear", "word_dropout": 1.0,
    },
    "exact grandparents": {"order": "grandparent", "trees": "projective", "inference": "exact"},
    "l2": {"learner": "l2", "optimizer": "sgd"},
    "risk": {"learner": "risk", "trees": "projective"},
    "l2 with joint labels at any rate": {"learner": "l2", "labels": "joint", "rate": "auto"},
    "exact siblings by l2": {
        "order": "sibling", "trees": "projective", "inference": "exact", "learner": "l2",
    },
    "exact siblings by max-margin": {
        "order": "sibling", "trees": "projective", "inference": "exact", "learner": "maxmargin",
    },
}  # fmt: skip


class Stop(Exception):  # noqa: N818  # not an error
    """An interruption."""


class Watcher:
    """Records the callbacks, and interrupts after a given pass."""

    def __init__(self, stop_after=None):
        self.stop_after, self.records, self.seen, self.begun = stop_after, [], 0, None

    def begin(self, total, passes):
        self.begun, self.seen = (total, passes), 0  # a pruner is learnt before

    def tick(self, count):
        self.seen += count

    def end_pass(self, record, is_best):
        self.records.append((record, is_best))
        if record.number == self.stop_after:
            raise Stop


def fit(train=None, dev=None, *, threads=2, observer=None, **options):
    how = {k: options.pop(k) for k in ("checkpoint", "resume", "start") if k in options}
    parser = Parser(threads=threads, **(SMALL | options))
    train = sentences("train", 40) if train is None else train
    dev = sentences("dev", 15) if dev is None else dev
    return parser.fit(train, dev or None, observer=observer, **how)


@pytest.mark.parametrize("name", LEARNERS)
def test_threads_and_seeds(name):
    one, two = (fit(threads=n, **LEARNERS[name]).model for n in (1, 2))
    assert to_bytes(one) == to_bytes(two)
    if name not in ("lbfgs", "cg"):  # which look at everything before each step
        other = fit(**(LEARNERS[name] | {"seed": 8})).model
        assert other.scorer.weights.tobytes() != two.scorer.weights.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_resuming(name, tmp_path):
    options = LEARNERS[name] | {"passes": 4, "patience": 10}
    whole = fit(**options)
    model = tmp_path / "model"
    with pytest.raises(Stop):
        fit(**options, checkpoint=model, observer=Watcher(stop_after=2))
    checkpoint = tmp_path / "model.checkpoint"
    assert checkpoint.exists()
    watcher = Watcher()
    resumed = fit(**options, checkpoint=model, resume=True, observer=watcher)
    assert [record.number for record, _ in watcher.records] == [3, 4]
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    figures = [(p.number, p.loss, p.uas, p.las, p.figures) for p in resumed.history.passes]
    assert figures == [(p.number, p.loss, p.uas, p.las, p.figures) for p in whole.history.passes]
    assert resumed.history.best == whole.history.best
    resumed.save(model)  # until then the checkpoint is all there is
    assert not checkpoint.exists()


@pytest.mark.parametrize("stop_after", [1, 3, 5])  # in the first phase, at its end, in the second
@pytest.mark.parametrize("dev", [None, ()], ids=["dev", "refitted"])
def test_resuming_in_phases(stop_after, dev, tmp_path):
    options = {"learner": "l2+risk", "passes": 3, "patience": 10, "dev": dev, "rate": "auto"}
    whole = fit(**options)
    assert [phase.before for phase in whole.history.phases] == [0, 3]
    assert len(whole.history.passes) == 6
    with pytest.raises(Stop):
        fit(**options, checkpoint=tmp_path / "m", observer=Watcher(stop_after=stop_after))
    resumed = fit(**options, checkpoint=tmp_path / "m", resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    assert resumed.history.phases == whole.history.phases


def test_a_phase_begins_with_the_best_of_the_one_before():
    history = fit(learner="l2+risk", passes=3, patience=1).history
    second = history.phases[1]
    scores = [record.las for record in history.passes]
    assert second.start == int(np.argmax(scores[: second.before])) + 1
    assert history.best == int(np.argmax(scores)) + 1  # of equals the first
    temperatures = [record.figures.get("temperature") for record in history.passes]
    assert temperatures[: second.before] == [None] * second.before
    assert (np.diff([0.1, *temperatures[second.before :]]) < 0).all()


def test_the_temperature_ends_where_it_should():
    options = {"learner": "risk", "passes": 2, "first_temperature": 0.5, "last_temperature": 0.25}
    figures = [record.figures["temperature"] for record in fit(**options).history.passes]
    assert 0.25 < figures[0] < 0.5
    assert figures[1] == 0.25


def test_other_passes_are_another_annealing(tmp_path):
    options = {"learner": "risk", "passes": 3, "checkpoint": tmp_path / "m"}
    with pytest.raises(Stop):
        fit(**options, observer=Watcher(stop_after=1))
    with pytest.raises(ModelError, match="other data or options"):
        fit(**(options | {"passes": 4}), resume=True)


def test_resuming_without_dev(tmp_path):
    few = sentences("train", 12)
    options = {"passes": 4, "dev": ()}
    with pytest.raises(Stop):
        fit(few, **options, checkpoint=tmp_path / "m", observer=Watcher(stop_after=2))
    resumed = fit(few, **options, checkpoint=tmp_path / "m", resume=True)
    assert to_bytes(resumed.model) == to_bytes(fit(few, **options).model)


def test_what_cannot_be_resumed(tmp_path):
    model, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    options = {"passes": 3, "checkpoint": model}
    with pytest.raises(ModelError, match="there is no checkpoint"):
        fit(**options, resume=True)
    with pytest.raises(Stop):
        fit(**options, observer=Watcher(stop_after=1))
    saved = checkpoint.read_bytes()
    other = {"resume": True, **options}
    for changes in (
        {"train": sentences("train", 41)}, {"dev": sentences("dev", 14)}, {"seed": 8},
        {"regularization": 0.5}, {"start": fit(passes=1)},
    ):  # fmt: skip
        with pytest.raises(ModelError, match="other data or options"):
            fit(**(other | changes))
    with pytest.raises(ModelError, match="other data or options"):
        Parser(**(SMALL | {"passes": 3})).fit(
            sentences("train", 40), sentences("dev", 15), checkpoint=model, resume=True,
            word_clusters=WordClusters([("the", "0", 1.0)]),
        )  # fmt: skip
    middle = len(saved) // 2
    altered = saved[:middle] + bytes([saved[middle] ^ 255]) + saved[middle + 1 :]
    for damaged in (b"", saved[:100], saved[:-5], b"x" * 200, altered):
        checkpoint.write_bytes(damaged)
        with pytest.raises(ModelError, match="incomplete or damaged"):
            fit(**other)
    checkpoint.write_bytes(saved)
    assert len(fit(**(other | {"passes": 4})).history.passes) == 4  # longer is fine
    with pytest.raises(ArgumentError, match="resume requires checkpoint"):
        fit(resume=True)


def test_the_best_pass_is_kept_and_patience_ends():
    watcher = Watcher()
    parser = fit(passes=30, patience=2, observer=watcher)
    history = parser.history
    scores = [p.las for p in history.passes]
    assert history.best == int(np.argmax(scores)) + 1
    assert len(scores) == min(30, history.best + 2)
    assert [is_best for _, is_best in watcher.records] == [
        las == max(scores[: i + 1]) and las not in scores[:i] for i, las in enumerate(scores)
    ]
    assert watcher.begun == (40, 30)
    assert watcher.seen == 40 * len(scores)
    shorter = fit(passes=history.best)
    assert shorter.model.scorer.weights.tobytes() == parser.model.scorer.weights.tobytes()
    # The score reported is that of the model that is kept.
    again = parser.evaluate(sentences("dev", 15))
    assert again.las == pytest.approx(max(scores))


def test_a_tenth_is_held_out_without_dev():
    watcher = Watcher()
    parser = fit(sentences("train", 40), (), observer=watcher, refit=False)
    assert watcher.begun[0] == 36
    train = list(sentences("train", 40))
    other = fit(train[:36], train[36:])
    assert parser.model.scorer.weights.tobytes() == other.model.scorer.weights.tobytes()
    assert [p.las for p in parser.history.passes] == [p.las for p in other.history.passes]


def test_what_was_held_out_is_learnt_in_the_end():
    """Retrains on everything for the best number of passes; the temperature is kept."""
    train = sentences("train", 40)
    first, parser = fit(train, (), refit=False), fit(train, ())
    watcher = Watcher()
    whole = fit(
        train, sentences("dev", 1), passes=first.history.best, patience=99, observer=watcher
    )
    assert watcher.begun[0] == 40
    if whole.history.best == first.history.best:
        assert parser.model.scorer.weights.tobytes() == whole.model.scorer.weights.tobytes()
    assert parser.model.temperature == first.model.temperature
    assert parser.model.card["refitted"]
    assert parser.history.to_dict()["best"] == first.history.best


def test_what_was_chosen_stays_when_everything_is_learnt(rng):
    """Only the held-out sentences have several roots; they do not determine the class."""
    train = toy_sentences(rng, [5] * 36) + toy_sentences(rng, [9] * 4, root="multi")
    assert max((s.heads == 0).sum() for s in train[36:]) > 1
    parser = fit(train, ())
    assert parser.model.root == parser.model.card["root"] == "single"


def test_resuming_while_everything_is_learnt(tmp_path):
    class Interrupted(Watcher):
        def begin(self, total, passes):
            super().begin(total, passes)
            self.stop_after = 1 if total == 40 else None

    train, model = sentences("train", 40), tmp_path / "model"
    with pytest.raises(Stop):
        fit(train, (), checkpoint=model, observer=Interrupted())
    resumed = fit(train, (), checkpoint=model, resume=True)
    assert to_bytes(resumed.model) == to_bytes(fit(train, ()).model)


def test_too_few_sentences_to_hold_any_out():
    """All passes are made, and the last is kept."""
    watcher = Watcher()
    parser = fit(sentences("train", 10), (), passes=6, patience=1, observer=watcher)
    assert watcher.begun[0] == 10
    assert len(parser.history.passes) == 6
    assert parser.history.best == 6
    assert all(p.uas is None and p.las is None for p in parser.history.passes)
    assert parser.model.card["dev"] is None
    assert (
        parser.model.scorer.weights.tobytes()
        != fit(sentences("train", 10), (), passes=1).model.scorer.weights.tobytes()
    )


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("root", ["single", "multi"])
def test_trees_of_any_class_can_be_learnt(name, root, rng):
    """Data with crossing arcs and several roots, for models of every class."""
    train = toy_sentences(rng, [1, 3, 8, 5, 2, 9] * 2, root="multi")
    exact = LEARNERS[name].get("inference") == "exact"  # which is projective
    for trees in ("projective",) if exact else ("projective", "nonprojective"):
        parser = fit(train, (), root=root, **(LEARNERS[name] | {"trees": trees}))
        assert parser.model.root == root
        for record in parser.history.passes:
            assert np.isfinite(record.loss)
        for parsed in parser.parse(train):
            assert root == "multi" or (parsed.heads == 0).sum() == 1


class TestGoingOn:
    """`start`: continued training on new sentences."""

    def test_it_begins_where_the_model_is(self):
        for name in ("perceptron", "sgd", "adagrad"):
            options = LEARNERS[name] | {"labels": "none", "passes": 1}
            first = fit(**options)
            more = fit(sentences("train", 60)[40:], start=first, **options)
            before, after = first.model.scorer.weights, more.model.scorer.weights
            changed = np.flatnonzero(before != after)
            assert len(changed) > 0
            kept = np.count_nonzero(after[np.flatnonzero(before)])
            assert kept > 0.9 * np.count_nonzero(before)  # some meet zero again
            assert more.model.labels[: len(first.model.labels)] == first.model.labels

    @pytest.mark.parametrize("name", ["adagrad", "lbfgs", "cg", "sgd", "perceptron", "mira"])
    def test_what_new_sentences_do_not_touch_stays(self, name):
        options = LEARNERS[name] | {"bits": 18, "labels": "none"}
        first = fit(**options)
        more = fit(sentences("train", 43)[40:], start=first, **options)
        test = sentences("train", 40)
        old, new = first.evaluate(test).uas, more.evaluate(test).uas
        assert new > old - 15.0, (old, new)

    @pytest.mark.parametrize("labels", ["staged", "joint"])
    def test_new_labels(self, labels):
        first = fit(labels=labels)
        known = set(first.model.labels)
        wider = first.model.with_labels(["unheard-of", "root", "odd"])
        assert wider.labels == (*first.model.labels, "unheard-of", "odd")
        for ours, theirs in zip(
            first.parse(sentences("test", 8)),
            Parser.from_model(wider).parse(sentences("test", 8)), strict=True,
        ):  # fmt: skip
            if labels == "staged":  # the trees do not know about labels
                assert ours.heads.tolist() == theirs.heads.tolist()
        new = Sentence.from_words(["Oh", "dear"], ["INTJ", "ADJ"], heads=[2, 0], labels=["odd"] * 2)
        more = fit([new] * 20, [new], start=first, labels=labels, passes=5)
        assert set(more.model.labels) == known | {"odd"}
        assert more.parse([new], allow_missing=True)[0].labels == ["odd", "odd"]

    def test_widened_weights_mean_the_same(self):
        model = fit(labels="joint").model
        wider = model.with_labels(["new"])
        block = read_treebank(sentences("test", 3))
        encoded = model.encoder.encode(block)
        before, after = (
            arc_scores(m, encoded, np.arange(3)).reshape(-1, len(m.labels)) for m in (model, wider)
        )
        np.testing.assert_array_equal(before, after[:, :-1])

    def test_what_does_not_fit(self):
        first = fit(passes=1)
        for changes in (
            {"bits": 15}, {"label_bits": 10}, {"labels": "joint"}, {"clusters": 2},
            {"features": "mcdonald2005"},
        ):  # fmt: skip
            name = next(iter(changes))
            with pytest.raises(ArgumentError, match=f"the model to continue from has {name}="):
                fit(start=first, **changes)
        for options in (LEARNERS["eg"], LEARNERS["maxmargin"]):
            with pytest.raises(ArgumentError, match="cannot continue from a model"):
                fit(start=first, **options)
        with pytest.raises(ArgumentError, match="word_clusters cannot be combined with start"):
            Parser(**SMALL).fit(
                sentences("train", 5), start=first, word_clusters=WordClusters([("a", "0", 1.0)])
            )
        with pytest.raises(ModelError, match="not trained"):
            fit(start=Parser())


class TestBadTreebanks:
    def test_nothing_to_learn_from(self, tmp_path):
        with pytest.raises(DataError, match="no word has a head"):
            fit([Sentence.from_words(["a", "b"])])
        with pytest.raises(DataError, match="no word has a head"):
            fit([])
        (tmp_path / "empty.conllu").write_bytes(b"")
        with pytest.raises(DataError, match="no word has a head"):
            fit(tmp_path / "empty.conllu")

    def test_a_dev_set_without_heads(self):
        with pytest.raises(DataError, match=r"the dev data.*no word has a head"):
            fit(dev=[Sentence.from_words(["a", "b"])])

    def test_a_held_out_tenth_without_heads(self):
        train = list(sentences("train", 20))
        for i in (18, 19):
            train[i] = without_heads(train[i], np.random.default_rng(0), 1.0)
        assert fit(train, ()).history.best == 2

    def test_no_labels_and_no_tags(self):
        bare = [Sentence.from_words(s.forms, heads=s.heads) for s in sentences("train", 30)]
        for labels in ("staged", "joint", "none"):
            parser = fit(bare, bare[:5], labels=labels)
            parsed = parser.parse(bare[:3])
            assert all(label == "_" for s in parsed for label in s.labels)
            tagged = parser.parse(sentences("train", 3))
            assert [s.heads.tolist() for s in parsed] == [s.heads.tolist() for s in tagged]

    def test_one_sentence_of_one_word(self):
        one = Sentence.from_words(["Yes"], heads=[0], labels=["root"])
        for options in LEARNERS.values():
            parser = fit([one], (), **options)
            assert parser.parse([one])[0].heads.tolist() == [0]

    def test_labels_that_dev_alone_has(self):
        dev = [
            Sentence.from_words(s.forms, s.upos, heads=s.heads, labels=["odd"] * len(s.forms))
            for s in sentences("dev", 4)
        ]
        assert fit(dev=dev).history.passes[0].las == 0.0


@pytest.mark.parametrize("word_clusters", [None, [("the", "01", 1.0), ("a", "01", 1.0)]])
def test_word_clusters_are_learnt_from(word_clusters, tmp_path):
    path = None
    if word_clusters:
        path = tmp_path / "clusters"
        path.write_text("".join(f"{c}\t{form}\n" for form, c, _ in word_clusters))
    parser = Parser(**SMALL).fit(sentences("train", 40), sentences("dev", 15), word_clusters=path)
    assert (parser.model.encoder.clusters is None) == (path is None)
    plain = fit()
    same = plain.model.scorer.weights.tobytes() == parser.model.scorer.weights.tobytes()
    assert same == (path is None)
