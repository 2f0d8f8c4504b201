"""Batches: the same answers as one by one, whatever the number of threads."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import threading
import time

import numpy as np
import pytest

from arbora import ArboraError, NoTreeError, ShapeError
from tests.helpers import random_scores

SIZES = [1, 7, 3, 12, 30, 2, 18, 5] * 6


def sentences(rng, n_labels=None):
    return [random_scores(rng, n, 2.0, 0.2, n_labels) for n in SIZES]


def answers_of(batch, values):
    """Every answer as bytes, to be compared exactly."""
    heads = [tree.heads for tree in batch.argmax()]
    found = [
        batch.log_partition, batch.marginals, heads, [tree.score for tree in batch.argmax()],
        [tree.heads for tree in batch.mbr()], batch.entropy(), batch.vjp(values),
        batch.variance(values), batch.expect(values), batch.log_prob(heads),
        [tree.heads for trees in batch.kbest(4) for tree in trees], batch.arc_margins(),
        [tree.heads for tree in batch.greedy("marginal")], batch.kl(batch),
    ]  # fmt: skip
    samples = [np.asarray(drawn) for drawn in batch.sample(6, seed=9)]
    return [np.concatenate([np.ravel(x) for x in answer]).tobytes() for answer in [*found, samples]]


def test_answers_do_not_depend_on_threads(kind, root, rng):
    scores = sentences(rng)
    values = [rng.normal(size=s.shape) for s in scores]
    one, two, eight = (answers_of(kind.batch(scores, root, threads=t), values) for t in (1, 2, 8))
    assert one == two == eight


def test_answers_are_those_of_single_sentences(kind, root, rng):
    scores = sentences(rng)
    batch = kind.batch(scores, root)
    assert len(batch) == len(scores)
    gradients = batch.vjp([np.cos(np.arange(s.size)).reshape(s.shape) for s in scores])
    for i, s in enumerate(scores):
        alone = kind(s, root)
        assert batch.log_partition[i] == alone.log_partition
        assert (batch.marginals[i] == alone.marginals).all()
        assert batch.argmax()[i] == alone.argmax()
        assert batch.mbr()[i] == alone.mbr()
        assert batch.entropy()[i] == alone.entropy()
        assert (batch.arc_margins()[i] == alone.arc_margins()).all()
        assert (gradients[i] == alone.vjp(np.cos(np.arange(s.size)).reshape(s.shape))).all()
        assert batch[i].log_partition == alone.log_partition
        assert (batch[i].sample(3, seed=2) == batch.sample(3, seed=2)[i]).all()


def test_labelled_batches(kind, root, rng):
    scores = sentences(rng, n_labels=3)
    batch = kind.batch(scores, root)
    assert batch.marginals[3].shape == scores[3].shape
    assert batch[3].argmax().labels is not None
    assert batch.sample(2, seed=0)[3].labels.shape == (2, SIZES[3])
    assert batch.log_prob([t.heads for t in batch.argmax()], [t.labels for t in batch.argmax()])


def test_equal_lengths_and_arrays(kind, root, rng):
    stacked = rng.normal(size=(5, 7, 7))
    batch = kind.batch(stacked, root)
    assert len(batch) == 5
    assert (batch.marginals[4] == kind(stacked[4], root).marginals).all()
    assert [trees.n_words for trees in batch] == [6] * 5


def test_errors_name_the_sentence(kind, root, rng):
    scores = [random_scores(rng, 4) for _ in range(3)]
    scores[1][:, 2] = -np.inf
    with pytest.raises(NoTreeError, match=r"^sentence 1: .* word 2 has no possible head"):
        kind.batch(scores, root)
    scores[2] = np.zeros((3, 4))
    batch = kind.batch(scores, root, errors="return")
    assert isinstance(batch.log_partition[1], NoTreeError)
    assert batch.log_partition[1].word == 2
    assert isinstance(batch.marginals[2], ShapeError)
    assert batch.log_partition[0] == kind(scores[0], root).log_partition
    assert isinstance(batch.argmax()[1], ArboraError)
    assert isinstance(batch.entropy()[2], ArboraError)
    with pytest.raises(NoTreeError, match="sentence 1"):
        batch[1]
    with pytest.raises(IndexError):
        batch[3]


def test_a_batch_of_failures_and_an_empty_batch(kind, root):
    nothing = kind.batch([], root)
    assert len(nothing) == 0
    assert nothing.log_partition == nothing.marginals == nothing.argmax() == nothing.entropy() == []
    failed = kind.batch([np.full((3, 3), -np.inf)], root, errors="return")
    assert isinstance(failed.log_partition[0], NoTreeError)
    assert isinstance(failed.kbest(3)[0], NoTreeError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        ({"errors": "ignore"}, "errors must be 'raise' or 'return'"),
        ({"lengths": [3]}, "lengths must be 2 whole numbers"),
        ({"lengths": [3, 9]}, "the length of sentence 1 is 9"),
    ],
)
def test_bad_arguments(kind, arguments, message):
    with pytest.raises(ArboraError, match=message):
        kind.batch(np.zeros((2, 5, 5)), **arguments)


def test_wrong_number_of_arguments(kind):
    batch = kind.batch(np.zeros((2, 5, 5)))
    with pytest.raises(ShapeError, match="there are 2 sentences, but 1 entries"):
        batch.vjp([np.zeros((5, 5))])
    with pytest.raises(ShapeError, match="sentence 1: d_marginals must have the shape"):
        batch.vjp([np.zeros((5, 5)), np.zeros((4, 4))])
    with pytest.raises(ShapeError, match="sentence 0: heads must have one number per word"):
        batch.log_prob([[1], [0, 1, 2, 3]])


def test_constraints_per_sentence(kind, root, rng):
    batch = kind.batch([random_scores(rng, 4) for _ in range(2)], root)
    first, second = batch.constrain(required=[[(3, 2)], []], forbidden=[[], [(0, 1)]])
    assert first.argmax().heads[1] == 3
    assert second.marginals[0, 1] == 0


def test_failures_stay_in_their_places(kind, root, rng):
    scores = [random_scores(rng, 4) for _ in range(3)]
    broken = [scores[0], np.full((5, 5), -np.inf), scores[2]]
    good, bad = kind.batch(scores, root), kind.batch(broken, root, errors="return")
    for answers in (bad.kl(good), good.kl(bad), bad.cross_entropy(good)):
        assert [isinstance(answer, NoTreeError) for answer in answers] == [False, True, False]
    careful = kind.batch(scores, root, errors="return")
    first, *others = careful.constrain(required=[[(1, 2), (2, 1)], [], []])
    assert isinstance(first, ArboraError)
    assert all(isinstance(other, kind) for other in others)
    assert isinstance(
        kind.batch(np.zeros((2, 3, 4)), root, errors="return").argmax()[1], ShapeError
    )


@pytest.mark.parametrize("scores", [5, None])
def test_not_a_list_of_scores(kind, scores):
    with pytest.raises(ArboraError, match="a batch needs a list of scores"):
        kind.batch(scores)


def test_arguments_of_any_kind(kind, rng):
    batch = kind.batch([random_scores(rng, 3) for _ in range(2)])
    assert batch.log_prob(heads for heads in ([0, 1, 2], [2, 0, 2]))
    assert batch.constrain(required=np.array([[[1, 3]], [[1, 2]]]))[1].argmax().heads[1] == 1
    assert len(batch[0:2]) == len(batch[:]) == 2
    assert kind.batch(np.zeros((0, 4, 4)), lengths=[]).argmax() == []
    with pytest.raises(ShapeError, match="d_marginals must have one entry per sentence"):
        batch.vjp(None)
    with pytest.raises(ArboraError, match="a batch is compared with a batch"):
        batch.kl([1, 2])


def _answers_in_a_child(batch, queue):
    queue.put(batch.log_partition)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # what is tested
def test_threads_survive_a_fork(kind, rng):
    batch = kind.batch([random_scores(rng, 40) for _ in range(20)], threads=2)
    expected = batch.log_partition
    again = kind.batch([t.scores for t in batch], threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_answers_in_a_child, args=(again, queue))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join()
    assert child.exitcode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # what is tested
def test_fork_while_other_threads_work(kind, rng):
    """No lock that a thread of the parent holds is waited for in the child."""
    scores = [random_scores(rng, 3 + i % 20) for i in range(30)]
    stop = threading.Event()

    def work():
        while not stop.is_set():
            assert kind.batch(scores, threads=2).marginals

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(60):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = 0 if kind.batch(scores, threads=2).entropy() else 1
                finally:
                    os._exit(code)
            assert _ends_within(child, seconds=60) == 0
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def _ends_within(child, seconds):
    """The exit status of a child process, or None if it hangs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_copies_and_pickles(kind, root, duplicate, rng):
    trees = kind(random_scores(rng, 5), root)
    expected = trees.marginals
    again, tree = duplicate(trees), duplicate(trees.argmax())
    assert (again.marginals == expected).all()
    assert again.root == root
    assert tree == trees.argmax()
    for array in (again.scores, again.marginals, tree.heads):
        assert not array.flags.writeable
    batch = duplicate(kind.batch([trees.scores] * 2, root))
    assert batch.log_partition == [trees.log_partition] * 2
