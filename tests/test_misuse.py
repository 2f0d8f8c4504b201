"""Whatever is handed in, what comes out is an answer or an `ArboraError` that says what is wrong.

Calls of the public surface with good arguments, one or two of which are nonsense. A bounded number
of them runs with the other tests; `python -m tests.test_misuse 60000` runs as many as one likes.
"""

from __future__ import annotations

import copy
import io
import os
import random
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from arbora.inference import factors, hypergraph, packed, packed_second_order

CALLS = 6000
LIMITED = (packed, packed_second_order, hypergraph)  # what asks how much memory there is
HUGE = 2**31 - 1  # of counts that take no time: refused, or more than there is

ROWS = "1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\truns\trun\tVERB\t_\t_\t0\troot\t_\t_\n\n"

# Of this many iterations, or so large a number, a call would be right to take for ever.
PATIENT = {"iterations", "max_iterations", "time_limit", "permutations", "modifiers", "passes"}


class Odd:
    """An object without any interface."""

    def __repr__(self) -> str:
        return "Odd()"


class Broken:
    """An object that claims to be an array."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def nonsense(rng: random.Random) -> object:
    """A random value that is invalid for nearly every argument."""
    numbers = [0, -1, 1, 7, 2**31, HUGE, 2**63, 10**30, -(2**63) - 1, 0.5, -0.0, 1e14, 1e300]
    floats = [float("nan"), float("inf"), -float("inf"), np.float32(1.5), np.int8(3), 1j]
    texts = ["", "single", "nonsense", "é\ud800", "a\tb", "\0", b"", b"bytes", "/", ".", "x/y/z"]
    shapes = [(0,), (1,), (2,), (3,), (4, 4), (4, 3), (0, 0), (1, 1), (2, 2, 2), (4, 4, 0)]
    arrays = [
        lambda: np.full(rng.choice(shapes), rng.choice([0, -1, 1, 9, np.nan, np.inf, -np.inf])),
        lambda: np.zeros(rng.choice(shapes), rng.choice([bool, "i1", "u8", "f2", "f8", "c16"])),
        lambda: np.full(rng.choice(shapes), rng.choice([1e300, -1e300, 1e15])),
        lambda: np.full(rng.choice(shapes), "x"),
        lambda: np.full(rng.choice(shapes), None, dtype=object),
        lambda: np.full(rng.choice(shapes), 2**63, dtype="u8"),
        lambda: np.ma.masked_array(np.zeros(3), [0, 1, 0]),
        lambda: np.array("2020-01-01", dtype="M8[D]"),
    ]
    things = [
        lambda: None, lambda: True, Odd, Broken, lambda: Odd, lambda: len, lambda: ..., set,
        lambda: [], lambda: (), dict, lambda: [None], lambda: [[]], lambda: [[1, 2], [3]],
        lambda: ["a"], lambda: ["a", 1], lambda: [1, 2], lambda: [(0, 1)], lambda: [(0, 1, 2, 3)],
        lambda: {"a": 1}, lambda: {(0, 0): None}, lambda: {(1, 1): 3}, lambda: {1: Odd()},
        lambda: range(3), lambda: iter([1, 2]), lambda: (i for i in "ab"), lambda: [Odd()],
        lambda: io.BytesIO(ROWS.encode()), lambda: io.StringIO(ROWS), lambda: io.StringIO("x"),
        lambda: Path("nowhere"), lambda: [10**30], lambda: [HUGE, HUGE], lambda: [[HUGE, 1]],
        lambda: arbora.SpanningTrees(np.zeros((3, 3))),
        lambda: arbora.Parts(np.zeros((3, 3))),
        lambda: arbora.Automaton.at_most(2),
        lambda: arbora.Sentence.from_words(["a", "b"]),
        lambda: [arbora.Sentence.from_words(["a"])],
    ]  # fmt: skip
    kind = rng.randrange(5)
    if kind == 0:
        return rng.choice(numbers)
    if kind == 1:
        return rng.choice([*floats, *texts])
    return rng.choice(arrays if kind == 2 else things)()


def trees(kind=arbora.SpanningTrees, **options):
    return kind(np.random.default_rng(1).normal(size=(4, 4)), **options)


def mapping(key, value):
    """One pair, if that is possible."""
    try:
        return {key: value}
    except TypeError:  # not hashable
        return {None: value}


def parts():
    pairs = [[0, 1, 2], [1, 2, 3]], [0.5, -0.5]
    consecutive = [[1, 1, -1, 2], [1, 1, 2, -1]], [1.0, 2.0]
    arcs = np.random.default_rng(1).normal(size=(4, 4))
    return arbora.Parts(arcs, grandparents=pairs, consecutive_siblings=consecutive)


SCORES = np.random.default_rng(1).normal(size=(4, 4))
LABELLED = np.random.default_rng(1).normal(size=(4, 4, 2))
HEADS = [2, 0, 2]
D = np.ones((4, 4))
ANY_HEADS = {"heads": HEADS}
OF_TREES = {
    "kbest": {"k": 3}, "sample": {"k": 3, "seed": 1}, "log_prob": ANY_HEADS,
    "expect": {"values": D}, "variance": {"values": D}, "covariance": {"a": D, "b": D},
    "vjp": {"d_marginals": D}, "constrain": {"required": [(2, 1)], "forbidden": [(0, 3)]},
    "pair_marginal": {"first": (2, 1), "second": (0, 2)}, "mbr": {"loss": np.ones((4, 4, 4))},
}  # fmt: skip


def surface():
    """What is called: a name, a function, and good arguments for it."""
    for name in ("SpanningTrees", "ProjectiveTrees"):
        kind = getattr(arbora, name)
        yield name, kind, {"scores": SCORES, "root": "single"}
        batch = {"scores": [SCORES, SCORES], "root": "multi", "lengths": None, "threads": 1}
        yield f"{name}.batch", kind.batch, batch | {"errors": "raise"}
        padded = {"scores": np.stack([SCORES, SCORES]), "lengths": [3, 2], "errors": "return"}
        yield f"{name}.batch padded", kind.batch, padded
        for method, arguments in OF_TREES.items():
            yield f"{name}.{method}", getattr(trees(kind), method), arguments
        labelled = kind(LABELLED)
        known = {"heads": HEADS, "labels": [0, 1, 0]}
        yield f"{name}.log_prob labelled", labelled.log_prob, known
        yield f"{name}.constrain labelled", labelled.constrain, {"required": [(2, 1, 0)]}
        yield f"{name}.greedy", trees(kind).greedy, {"by": "score"}
        for method in ("kl", "cross_entropy"):
            yield f"{name}.{method}", getattr(trees(kind), method), {"other": trees(kind)}
        yield from of_batch(name, kind.batch([SCORES, SCORES]))
    yield from second_order()
    yield from automata()
    yield from graphs()
    yield from data()


def of_batch(name, batch):
    yield f"{name} batch kbest", batch.kbest, {"k": 2}
    yield f"{name} batch sample", batch.sample, {"k": 2, "seed": 0}
    yield f"{name} batch log_prob", batch.log_prob, {"heads": [HEADS, HEADS]}
    yield f"{name} batch vjp", batch.vjp, {"d_marginals": [D, D]}
    if name != "SecondOrderTrees":
        yield f"{name} batch kl", batch.kl, {"other": batch}
        yield f"{name} batch expect", batch.expect, {"values": [D, D]}
        yield f"{name} batch covariance", batch.covariance, {"a": [D, D], "b": [D, D]}
        yield f"{name} batch constrain", batch.constrain, {"required": [[(2, 1)], []]}


def second_order():
    lists = {
        "consecutive_siblings": ([[1, 1, -1, 2], [1, 1, 2, -1]], [1.0, 2.0]),
        "siblings": ([[1, 2, 3]], [1.0]), "grandparents": ([[0, 1, 2]], [1.0]),
        "grandsiblings": ([[0, 1, 1, -1, 2]], [1.0]),
    }  # fmt: skip
    yield "Parts", arbora.Parts, {"arcs": SCORES} | lists
    for kind, pair in lists.items():
        yield (
            f"Parts index of {kind}",
            lambda kind=kind, **of: arbora.Parts(SCORES, **{kind: (of["index"], of["scores"])}),
            {"index": pair[0], "scores": pair[1]},
        )
    yield "Parts.score", parts().score, ANY_HEADS
    kind = arbora.SecondOrderTrees
    yield "SecondOrderTrees", kind, {"parts": parts(), "root": "single"}
    batch = {"parts": [parts(), parts()], "root": "single", "threads": 1, "errors": "raise"}
    yield "SecondOrderTrees.batch", kind.batch, batch
    for method, arguments in OF_TREES.items():
        yield f"SecondOrderTrees.{method}", getattr(kind(parts()), method), arguments
    d_parts = {"d_marginals": D, "d_part_marginals": {"grandparents": [1.0, 2.0]}}
    yield "SecondOrderTrees.vjp of parts", kind(parts()).vjp, d_parts
    yield "SecondOrderTrees.kl", kind(parts()).kl, {"other": kind(parts())}
    yield from of_batch("SecondOrderTrees", kind.batch([parts(), parts()]))
    loopy = {"trees": "nonprojective", "root": "single", "iterations": 3, "damping": 0.1}
    choices = {"schedule": "serial", "factors": "pairs"}
    yield (
        "LoopyTrees",
        lambda **of: arbora.LoopyTrees(**of).marginals,
        {"parts": parts()} | loopy | choices,
    )
    yield "LoopyTrees.vjp", arbora.LoopyTrees(parts()).vjp, d_parts
    mixture = arbora.Mixture([trees(), trees(arbora.ProjectiveTrees)])
    yield "Mixture", arbora.Mixture, {"components": [trees(), trees()], "weights": [1, 2]}
    yield "Mixture.log_prob", mixture.log_prob, {"heads": HEADS, "labels": None}
    yield "Mixture.sample", mixture.sample, {"k": 3, "seed": 1}
    given = {"trees": trees(), "loss": lambda *_: 0.5, "candidates": 3, "evidence": [HEADS] * 2}
    yield "minimum_risk", arbora.minimum_risk, given | {"weights": [1, 2], "seed": 1}
    given = {"trees": mixture, "loss": lambda *_: 1, "candidates": [HEADS], "evidence": 4}
    yield "minimum_risk of draws", arbora.minimum_risk, given | {"seed": 1}


def automata():
    two = {"initial": [0.0, 1.0], "transitions": np.zeros((2, 2)), "final": [0.0, 0.0]}
    yield "Automaton", arbora.Automaton, two
    yield "Automaton.at_most", arbora.Automaton.at_most, {"modifiers": 2}
    yield "Automaton.score", arbora.Automaton(**two).score, {"modifiers": [1, 2]}
    wide = arbora.Automaton(np.zeros(2), np.zeros((4, 2, 2)), np.zeros(2))
    yield "Automaton.score of words", wide.score, {"modifiers": [1, 2]}
    kind = arbora.HeadAutomata
    given = {(1, 1): arbora.Automaton.at_most(1)}
    how = {"trees": "nonprojective", "root": "single"}
    yield "HeadAutomata", kind, {"parts": parts(), "automata": given} | how
    for place in ("key", "automaton"):
        yield (
            f"HeadAutomata {place}",
            lambda **of: kind(parts(), automata=mapping(of["key"], of["automaton"])).argmax(),
            {"key": (1, 1), "automaton": wide},
        )
    solver = {"max_iterations": 50, "solver": "subgradient"}
    yield "HeadAutomata.argmax", kind(parts()).argmax, solver
    exact = {"method": "branch", "time_limit": 5.0}
    yield "HeadAutomata.exact_argmax", kind(parts()).exact_argmax, exact
    yield "HeadAutomata.score", kind(parts(), automata=given).score, ANY_HEADS
    yield "HeadAutomata.history", kind(parts()).history, {"max_iterations": 50}


def graphs():
    graph = {"heads": [0, 1, 1], "tails": [[-1, -1], [0, -1], [0, 0]], "weights": [0, 1, 2]}
    yield "Hypergraph", arbora.Hypergraph, graph | {"goal": 1}
    made = arbora.Hypergraph(**graph)
    yield "Hypergraph.derivations", made.derivations, {"scores": [0.0, 1.0, 2.0]}
    derivations, row = made.derivations([0.0, 1.0, 2.0]), [1.0, 2.0, 3.0]
    for method, arguments in {
        "kbest": {"k": 2}, "sample": {"k": 2, "seed": 1}, "expect": {"values": row},
        "variance": {"values": row}, "covariance": {"a": row, "b": row},
        "vjp": {"d_marginals": row}, "score": {"edges": [0, 1]},
    }.items():  # fmt: skip
        yield f"Derivations.{method}", getattr(derivations, method), arguments
    tree = {"variables": [0, 1], "arcs": [(0, 1), (1, 2)]}
    several = {
        factors.Pair: {"first": 0, "second": 1, "score": 1.0},
        factors.Table: {"variables": [0, 1], "scores": np.zeros((2, 2))},
        factors.ExactlyOne: {"variables": [0, 1]},
        factors.AtMostOne: {"variables": [0, 1]},
        factors.Head: {"left": [0], "right": [1], "scores": np.zeros(6), "links": []},
        factors.Chain: {"variables": [0], "scores": np.zeros(3)},
        factors.TreeFactor: tree | {"trees": "nonprojective", "root": "single"},
    }
    for kind, arguments in several.items():
        yield kind.__name__, kind, arguments
        factor = kind(**arguments)
        incoming = np.zeros(len(factor.variables))
        yield f"{kind.__name__}.messages", factor.messages, {"incoming": incoming}
        back = {"incoming": incoming, "d_messages": incoming}
        yield f"{kind.__name__}.pullback", factor.pullback, back
    one = [factors.ExactlyOne([0, 1])]
    how = {"iterations": 2, "damping": 0.1, "schedule": "serial"}
    yield "FactorGraph", arbora.FactorGraph, {"scores": [0.0, 1.0], "factors": one} | how
    yield "FactorGraph.vjp", arbora.FactorGraph([0.0, 1.0], one).vjp, {"d_beliefs": [1.0, 1.0]}


def data():
    columns = {"forms": ["a", "b"], "upos": ["X", "Y"], "xpos": None, "lemmas": None}
    more = {"feats": None, "heads": [2, 0], "labels": ["x", "y"], "misc": None}
    rest = {"comments": ["# a = b"], "format": "conllu"}
    from_words = arbora.Sentence.from_words
    yield "Sentence.from_words", from_words, columns | more | rest
    from_bytes = arbora.Sentence.from_bytes
    yield "Sentence.from_bytes", from_bytes, {"text": ROWS.encode(), "format": "conllu"}
    sentence = from_words(["a", "b"], heads=[2, 0], labels=["x", "y"])
    new = {"heads": [0, 1], "labels": ["x", "z"], "misc": {"A": ["1", None]}}
    yield "Sentence.with_tree", sentence.with_tree, new | {"comments": ["# a = b"]}
    yield (
        "Sentence.with_tree misc",
        lambda **of: sentence.with_tree([0, 1], misc=mapping(of["key"], of["values"])),
        {"key": "A", "values": ["1", None]},
    )
    reading = {"format": None, "skip_bad": False, "on_error": None, "trees": False}
    read = {"path": io.StringIO(ROWS), "chunk_size": 1000} | reading
    yield "read_conllu", arbora.read_conllu, read
    yield "write_conllu", arbora.write_conllu, {"path": io.BytesIO(), "sentences": [sentence]}
    scored = {"gold": [sentence], "system": [sentence], "punctuation": None, "format": None}
    yield "evaluate", arbora.evaluate, scored
    compared = {"gold": [sentence], "a": [sentence], "b": [sentence], "punctuation": None}
    yield "compare", arbora.compare, compared | {"permutations": 10, "seed": 0, "format": None}
    certain = {"probabilities": [0.5, 0.9], "correct": [True, False], "bins": 2}
    yield "calibration", arbora.calibration, certain
    yield "load", arbora.load, {"model": "nowhere.arbora", "threads": 1}
    settings = {"learner": "loglinear", "trees": "projective", "order": "first", "passes": 2}
    yield "Parser", arbora.Parser, settings | {"root": "single", "decode": "map", "threads": 1}
    yield "Parser.parse", _parse, {"sentences": [sentence], "kbest": 2}
    yield "Parser.fit", arbora.Parser(passes=1, threads=1).fit, {"train": [], "dev": []}


def _parse(sentences, **options):
    return arbora.Parser().parse(sentences, **options)


def misuse(rng: random.Random, targets: list) -> str | None:
    """One call with an invalid argument: None if it behaves as documented, else the failure."""
    name, function, good = rng.choice(targets)
    arguments = {key: copy.copy(value) for key, value in good.items()}
    for key in rng.sample(list(arguments), min(len(arguments), rng.choice([1, 1, 2]))):
        value = nonsense(rng)
        if key in PATIENT and isinstance(value, int | float) and value > 1000:
            value = -1
        arguments[key] = value
    try:
        answer = function(**arguments)
        if isinstance(answer, Iterator):
            list(answer)
    except ArboraError as error:
        return None if str(error) else f"{name}: says nothing"
    except Exception as error:  # what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        shown = ", ".join(f"{key}={value!r}"[:80] for key, value in arguments.items())
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"{name}: {type(error).__name__}: {error} [{where}] from ({shown})"
    return None


def run_misuse(calls: int, seed: int) -> Counter:
    """The failures of `count` calls, with their frequencies."""
    rng, targets = random.Random(seed), list(surface())
    found: Counter = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(calls):
            failure = misuse(rng, targets)
            if failure is not None:
                found[failure] += 1
    return found


@pytest.fixture
def small_machine(monkeypatch, tmp_path):
    """A folder for output, and a limit on memory."""
    monkeypatch.chdir(tmp_path)
    for module in LIMITED:
        monkeypatch.setattr(module, "physical_memory", lambda: 10**9)


@pytest.mark.usefixtures("small_machine")
def test_nonsense_is_refused_in_a_sentence():
    assert not list(run_misuse(CALLS, seed=20))


def test_good_arguments_are_good(tmp_path, monkeypatch):
    """The calls succeed with valid arguments."""
    monkeypatch.chdir(tmp_path)
    for name, function, arguments in surface():
        if name not in ("load", "Parser.parse", "Parser.fit"):
            function(**{key: copy.copy(value) for key, value in arguments.items()})


if __name__ == "__main__":
    for module in LIMITED:
        module.physical_memory = lambda: 10**9
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        failures = run_misuse(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    lines = [f"{count} {failure}" for failure, count in failures.most_common()]
    text = "\n".join([f"{sum(failures.values())} failures", *lines, ""])
    sys.stdout.write(text.encode("ascii", "replace").decode())
