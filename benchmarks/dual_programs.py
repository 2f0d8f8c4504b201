"""Dual decomposition compared with linear and integer programs (Koo et al. 2010, table 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dual_models import EWT, ORDERS, Scored, Study, timed_decode, with_random_weights

from arbora.errors import SolverError
from arbora.inference.dual import Solver
from arbora.inference.integer_program import ProgramAnswer, solve_program
from arbora.options import ParserOptions
from arbora.scores import Scores
from arbora.types import IntArray, Root

Found = tuple[IntArray, bool, float]  # heads, integral or certified, seconds
Method = Callable[[Scores, Root], Found]

PATIENCE = 60.0  # time limit for the integer program of a sentence, in seconds

# Table 2 of the paper: UAS, % integral, seconds per sentence, % integral of random problems.
PAPER = {
    ("sibling", "LP(S)"): (92.14, 88.29, 0.14, 11.7),
    ("sibling", "LP(M)"): (92.17, 93.18, 0.58, 30.6),
    ("sibling", "ILP"): (92.19, 100.0, 1.44, 100.0),
    ("sibling", "DD-5000"): (92.19, 98.82, 0.08, 35.6),
    ("sibling", "DD-250"): (92.23, 89.29, 0.03, 10.2),
    ("grandsibling", "LP(S)"): (92.60, 91.64, 0.23, 0.0),
    ("grandsibling", "LP(M)"): (92.58, 94.41, 0.75, 0.0),
    ("grandsibling", "ILP"): (92.70, 100.0, 1.79, 100.0),
    ("grandsibling", "DD-5000"): (92.71, 98.76, 0.23, 6.8),
    ("grandsibling", "DD-250"): (92.66, 85.47, 0.12, 0.0),
}


def _program(**options: Any) -> Method:
    """A linear program; only the solver's time is measured."""

    def run(parts: Scores, root: Root) -> Found:
        answer: ProgramAnswer = solve_program(parts.sentence(0), root=root, **options)
        return answer.heads, answer.certified, answer.seconds

    return run


def _dual(solver: Solver, limit: int) -> Method:
    def run(parts: Scores, root: Root) -> Found:
        answer, took = timed_decode(parts, root, limit, solver)
        return answer.heads, bool(answer.certified[0]), took

    return run


METHODS: dict[str, Method] = {
    "LP(S)": _program(tree_flow="single", relaxed=True),
    "LP(M)": _program(tree_flow="multi", relaxed=True),
    "ILP": _program(tree_flow="single"),
    "DD-5000": _dual("subgradient", 5000),
    "DD-250": _dual("subgradient", 250),
    "branch": _dual("branch", 5000),
}


def table2(study: Study) -> None:
    """Programs and dual decomposition on the same parts: accuracy, integral solutions, time."""
    print("\n## Programs and dual decomposition\n")
    for order in ORDERS:
        data = study.dev(EWT, study.parser(EWT, order=order), count=300, longest=40)
        print(f"{EWT} dev, {order}: {data.summary()} (those up to 40, evenly spread)\n")
        print(
            "| method | UAS | % sentences right | % integral | ms per sentence | D10: UAS, %, s |"
        )
        print("| --- | ---: | ---: | ---: | ---: | --- |")
        for name, method in METHODS.items():
            found = [method(parts, data.root) for parts in data.parts]
            heads, whole, times = (list(column) for column in zip(*found, strict=True))
            theirs = PAPER.get((order, name))
            beside = "" if theirs is None else f"{theirs[0]}, {theirs[1]}, {theirs[2]}"
            print(
                f"| {name} | {data.uas(heads):.2f} | {data.whole_right(heads):.1f} | "
                f"{100 * np.mean(whole):.2f} | {1000 * np.mean(times):.2f} | {beside} |",
                flush=True,
            )
        print()


def ilp(study: Study) -> None:
    """Optimum and speed compared with the integer program, measured in turns."""
    print("\n## Dual decomposition against the integer program\n")
    print(
        "HiGHS: solver time only. Ours: the complete call. The ratio of a sentence is its HiGHS "
        "time divided by ours.\n"
    )
    print(
        "| order | solver | certified | other optimum | HiGHS ms | ours ms | ratio of means | "
        "mean ratio | median ratio |\n| --- | --- |" + " ---: |" * 7
    )
    for order in ORDERS:
        data = study.dev(EWT, study.parser(EWT, order=order), count=400)
        _compare(order, data)


def _compare(order: str, data: Scored) -> None:
    solvers: tuple[Solver, ...] = ("branch", "subgradient")
    times: dict[str, list[float]] = {name: [] for name in ("ilp", *solvers)}
    certified = dict.fromkeys(solvers, 0)
    exceptions = dict.fromkeys(solvers, 0)
    unsolved = 0
    for number, parts in enumerate(data.parts):
        best = _by_highs(parts, data.root)
        if best is None:
            unsolved += 1
            continue
        times["ilp"].append(best.seconds)
        slack = 1e-6 * max(1.0, abs(best.score))  # HiGHS's own tolerance
        for solver in solvers[:: 1 if number % 2 else -1]:  # warms up the caches
            answer, took = timed_decode(parts, data.root, 5000, solver)
            times[solver].append(took)
            if answer.certified[0]:
                certified[solver] += 1
                exceptions[solver] += abs(float(answer.scores[0]) - best.score) > slack
            elif answer.bounds[0] < best.score - slack:  # no tree may exceed the bound
                exceptions[solver] += 1
    for solver in solvers:
        theirs, ours = np.array(times["ilp"]), np.array(times[solver])
        print(
            f"| {order} | {solver} | {100 * certified[solver] / len(ours):.2f} % | "
            f"{exceptions[solver]} of {len(ours)} | {1000 * theirs.mean():.2f} | "
            f"{1000 * ours.mean():.3f} | {theirs.mean() / ours.mean():.0f} | "
            f"{(theirs / ours).mean():.0f} | {np.median(theirs / ours):.0f} |",
            flush=True,
        )
    late = f"; {unsolved} that HiGHS did not solve in {PATIENCE:.0f} s are left out"
    print(f"\n{EWT} dev, {order}: {data.summary()}{late if unsolved else ''}\n")


def _by_highs(parts: Scores, root: Root) -> ProgramAnswer | None:
    """The optimum of the integer program; None after the time limit."""
    try:
        answer = solve_program(parts.sentence(0), root=root, time_limit=PATIENCE)
    except SolverError:
        return None
    return answer if answer.certified else None


def random(study: Study) -> None:
    """How often the relaxation is tight: random scores, and weights trained in different ways."""
    _random_instances(study.sentences or 200)
    _learnt_weights(study)


def _random_instances(count: int) -> None:
    print("\n## Random instances\n")
    print(
        f"{count} sentences of 10 words, every arc allowed, multi-root, normal scores of arcs "
        "and automaton transitions; % integral or certified.\n"
    )
    names = [name for name in METHODS if name != "ILP"]
    print("| order | " + " | ".join(names) + " | D10, in this order |")
    print("| --- |" + " ---: |" * len(names) + " --- |")
    for order in ORDERS:
        rng = np.random.default_rng(0)
        instances = [_random_parts(order, 10, rng) for _ in range(count)]
        cells = []
        for name in names:
            whole = [METHODS[name](parts, "multi")[1] for parts in instances]
            cells.append(f"{100 * np.mean(whole):.1f}")
        theirs = ", ".join(str(PAPER[order, name][3]) for name in names if (order, name) in PAPER)
        print(f"| {order} | " + " | ".join(cells) + f" | {theirs} |", flush=True)


def _random_parts(order: str, n_words: int, rng: np.random.Generator) -> Scores:
    """Normal scores on arcs and on the transitions of an order's automata."""
    kind = "consecutive_siblings" if order == "sibling" else "grandsiblings"
    assert kind in ParserOptions.from_keywords({"order": order}).order.parts
    side = n_words + 1
    arcs = rng.normal(size=(side, side))
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    parts = Scores.over(arcs.reshape(-1), np.array([n_words]), [kind])
    parts.tables[kind][:] = rng.normal(size=len(parts.tables[kind]))
    return parts


# Dual decomposition inside training is slow, so the treebank is small and there are few passes.
# Slovene also has the fewest certificates in the paper.
SMALL = "ud_slovenian_ssj_resplit"
TRAINING = {"train": 800, "passes": 6}


def _learnt_weights(study: Study) -> None:
    print("\n## Does training make the relaxation tight?\n")
    print(
        f"Slovenian dev, {TRAINING['passes']} passes over the first {TRAINING['train']} sentences; "
        "rivals are automaton paths in *Z* and decoded trees in *DD*. "
        "Certified: subgradient, 5000 and 250 iterations. Integral: LP(M) on 60 of the sentences "
        "up to 30 words.\n"
    )
    print("| order | learner | weights | UAS | DD-5000 % | DD-250 % | LP(M) % | iterations |")
    print("| --- | --- | --- |" + " ---: |" * 5)
    for order in ORDERS:
        for learner in ("perceptron", "mira"):
            options = {"order": order, "learner": learner, **TRAINING}
            of_walks = study.parser(SMALL, training_inference="automata", **options)
            models = {
                "Z": of_walks,
                "DD": study.parser(SMALL, training_inference="dual", **options),
            }
            if learner == "perceptron":
                models["random"] = with_random_weights(of_walks)
            for name, parser in models.items():
                data = study.dev(SMALL, parser)
                few = study.dev(SMALL, parser, count=60, longest=30)
                _print_tightness(f"| {order} | {learner} | {name} |", data, few)


def _print_tightness(beginning: str, data: Scored, few: Scored) -> None:
    answers = data.decode("subgradient")
    certified = np.array([bool(answer.certified[0]) for answer in answers])
    iterations = np.array([int(answer.iterations[0]) for answer in answers])
    early = certified & (iterations <= 250)
    whole = [METHODS["LP(M)"](parts, few.root)[1] for parts in few.parts]
    print(
        f"{beginning} {data.uas([answer.heads for answer in answers]):.2f} | "
        f"{100 * certified.mean():.2f} | {100 * early.mean():.2f} | {100 * np.mean(whole):.1f} | "
        f"{np.mean(iterations):.0f} |",
        flush=True,
    )
