"""Dual decomposition by iteration, solver and tree class (Koo et al. 2010, figures 3 and 4,
sections 7.4 to 7.7)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from dual_models import EWT, ORDERS, Scored, Study, timed_decode
from numpy.typing import NDArray

from arbora.evaluation.significance import permutation_test
from arbora.inference.automata import best_walks
from arbora.inference.dual import Solver, decode_dual, dual_history
from arbora.scores import Scores
from arbora.types import Root, TreeClass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAST = 5000
LIMITS = (1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 250, 350, 500, 700, 1000, 2000, 3500, LAST)
COLOURS = {"sibling": "#2b5c8a", "grandsibling": "#c44e52"}


def figures(study: Study) -> None:
    """Automata run in each iteration, and the results with a lower iteration limit."""
    recomputed, by_limit = {}, {}
    for order in ORDERS:
        data = study.dev(EWT, study.parser(EWT, order=order))
        print(f"\n{EWT} dev, {order}: {data.summary()}, subgradient, K = {LAST}")
        recomputed[order] = _recomputed(data)
        by_limit[order] = _by_limit(data)
    _print_recomputed(recomputed)
    _print_limits(by_limit)
    _draw(study, recomputed, by_limit)


Course = tuple[NDArray[np.float64], NDArray[np.int64]]  # % of automata, sentences still running


def _recomputed(data: Scored) -> Course:
    """The share of automata run in each iteration, over the unfinished sentences."""
    shares, running = np.zeros(LAST), np.zeros(LAST, dtype=np.int64)
    ran = possible = 0
    for parts, gold in zip(data.parts, data.gold, strict=True):
        history = dual_history(parts, 0, "nonprojective", data.root, LAST)
        heads, lasted = len(gold) + 1, len(history.recomputed)
        shares[:lasted] += history.recomputed / heads
        running[:lasted] += 1
        ran, possible = ran + int(history.recomputed.sum()), possible + heads * lasted
    print(f"automata run: {100 * ran / possible:.2f} % of those there were to run")
    return 100 * shares / np.maximum(running, 1), running


def _by_limit(data: Scored) -> NDArray[np.float64]:
    """UAS, % certified and % equal to the final result, for every iteration limit."""
    final = [answer.heads for answer in data.decode("subgradient", LAST)]
    rows = []
    for limit in LIMITS:
        answers = data.decode("subgradient", limit)
        heads = [answer.heads for answer in answers]
        same = [np.array_equal(one, other) for one, other in zip(heads, final, strict=True)]
        certified = [answer.certified[0] for answer in answers]
        rows.append((data.uas(heads), 100 * np.mean(certified), 100 * np.mean(same)))
    return np.array(rows)


def _print_recomputed(courses: dict[str, Course]) -> None:
    print("\n## Automata run, by iteration (D10, figure 3)\n")
    columns = [f"{order} % | still running" for order in courses]
    print("| iterations | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: | ---: |" * len(courses))
    edges = [0, 1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, LAST]
    for low, high in pairwise(edges):
        cells = []
        for shares, running in courses.values():
            span = slice(low, high)
            if running[low] == 0:
                cells.append(" | 0")
                continue
            mean = np.average(shares[span], weights=running[span])
            cells.append(f"{mean:.2f} | {running[low]}")
        name = f"{low + 1}" if high == low + 1 else f"{low + 1}-{high}"
        print(f"| {name} | " + " | ".join(cells) + " |")


def _print_limits(rows: dict[str, NDArray[np.float64]]) -> None:
    print("\n## Iteration limit (D10, figure 4)\n")
    print("| K |" + "".join(f" {o}: UAS | % certified | % as K = {LAST} |" for o in rows))
    print("| ---: |" + " ---: |" * (3 * len(rows)))
    for i, limit in enumerate(LIMITS):
        cells = [f"{value:.2f}" for of_order in rows.values() for value in of_order[i]]
        print(f"| {limit} | " + " | ".join(cells) + " |")
    print("\nD10, siblings, K = 250: 89.29 % certified, 99.59 % as K = 5000.")


def _draw(
    study: Study, recomputed: dict[str, Course], by_limit: dict[str, NDArray[np.float64]]
) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "arbora", "font.size": 11})
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_recomputed(left, recomputed)
    _draw_limits(right, by_limit)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100, 1000, LAST], ["1", "10", "100", "1000", str(LAST)])
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    study.images.mkdir(parents=True, exist_ok=True)
    path = study.images / "dual_decomposition.svg"
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    print(f"\nDrawn to {path}")


def _draw_recomputed(axes: Axes, recomputed: dict[str, Course]) -> None:
    """Means over growing ranges of iterations, because few sentences need many."""
    edges = np.unique(np.geomspace(1, LAST + 1, 40).astype(int)) - 1
    for order, (shares, running) in recomputed.items():
        middles, means = [], []
        for low, high in pairwise(edges):
            if running[low] > 0:
                middles.append(np.sqrt((low + 1) * high))
                means.append(np.average(shares[low:high], weights=running[low:high]))
        axes.plot(middles, means, color=COLOURS[order], linewidth=1.8, label=order)
    axes.set(xlabel="iteration", ylim=(0, 102), title="% of head automata run, while not agreed")
    axes.legend(frameon=False)


def _draw_limits(axes: Axes, by_limit: dict[str, NDArray[np.float64]]) -> None:
    """Colours as in the other panel; line styles distinguish the quantities."""
    lines = ((f"same tree as with {LAST}", "--", 2), ("UAS", ":", 0), ("certified", "-", 1))
    for name, style, column in lines:
        axes.plot([], [], style, color="0.35", linewidth=1.8, label=name)
        for order, rows in by_limit.items():
            axes.plot(LIMITS, rows[:, column], style, color=COLOURS[order], linewidth=1.8)
    axes.set(xlabel="iteration limit", ylim=(0, 102), title="% of sentences, of words for UAS")
    axes.legend(frameon=False, loc="lower right")


def zstar(study: Study) -> None:
    """Precision and recall of the automaton paths before the first iteration."""
    print("\n## z* before agreement (D10, section 7.6: siblings 91.11 / 88.95)\n")
    print(
        "| treebank | order | learner | precision | recall | words with one head % | trees % | "
        "UAS of the tree |\n| --- | --- | --- |" + " ---: |" * 5
    )
    for treebank, learners in ((EWT, (None,)), ("wsj_sample", (None, "perceptron"))):
        for order in ORDERS:
            for learner in learners:
                options = {} if learner is None else {"learner": learner}
                parser = study.parser(treebank, order=order, **options)
                data = study.dev(treebank, parser)
                named = f"{parser.options.learner.tag}"
                print(f"| {treebank} | {order} | {named} | {_quality_of_walks(data)} |", flush=True)


def _quality_of_walks(data: Scored) -> str:
    right = found = wanted = with_one = words = trees = 0
    for parts, gold, counted in zip(data.parts, data.gold, data.counted, strict=True):
        side = len(gold) + 1
        z = best_walks(parts)[0].arcs.reshape(side, side)[:, 1:] > 0.5
        right += int(z[gold, np.arange(len(gold))][counted].sum())
        found += int(z[:, counted].sum())
        wanted += int(counted.sum())
        heads = z.sum(axis=0)
        with_one += int((heads == 1).sum())
        words += len(gold)
        trees += _agree_at_once(parts, data.root)
    tree = data.uas([answer.heads for answer in data.decode("branch")])
    return (
        f"{100 * right / found:.2f} | {100 * right / wanted:.2f} | {100 * with_one / words:.2f} | "
        f"{100 * trees / len(data):.1f} | {tree:.2f}"
    )


def _agree_at_once(parts: Scores, root: Root) -> bool:
    return bool(decode_dual(parts, "nonprojective", root, 1, "subgradient").certified[0])


TABLE_3 = (EWT, "ud_czech_fictree_resplit", "ud_dutch_lassysmall", "ud_gothic_proiel")


def projective(study: Study) -> None:
    """The same models decoded with and without crossing arcs (D10, table 3)."""
    print("\n## Projective and non-projective decoding (D10, table 3)\n")
    print(
        "Dev UAS of models trained without projectivity constraint; p of a paired permutation test "
        "by sentence. In the paper, English 92.19 / 92.34 (siblings) and 92.71 / 92.70, Czech "
        "86.41 / 85.67 and 87.40 / 86.43.\n"
    )
    print("| treebank | order | non-projective | projective | difference | p | certified % |")
    print("| --- | --- |" + " ---: |" * 4 + " --- |")
    for treebank in TABLE_3:
        for order in ORDERS:
            data = study.dev(treebank, study.parser(treebank, order=order))
            print(f"| {treebank} | {order} | {_both_classes(data)} |", flush=True)


def _both_classes(data: Scored) -> str:
    found, certified = {}, []
    classes: tuple[TreeClass, ...] = ("nonprojective", "projective")
    for trees in classes:
        answers = data.decode("branch", trees=trees)
        found[trees] = [answer.heads for answer in answers]
        certified.append(f"{100 * np.mean([answer.certified[0] for answer in answers]):.2f}")
    gains = [
        int(((one == gold) & counted).sum()) - int(((other == gold) & counted).sum())
        for one, other, gold, counted in zip(
            found["nonprojective"], found["projective"], data.gold, data.counted, strict=True
        )
    ]
    p = permutation_test(np.array(gains), 10_000, np.random.default_rng(0))
    free, planar = data.uas(found["nonprojective"]), data.uas(found["projective"])
    return f"{free:.2f} | {planar:.2f} | {free - planar:+.2f} | {p:.4f} | {' / '.join(certified)}"


def solvers(study: Study) -> None:
    """AD3, the subgradient and branching: iterations and time to a certificate."""
    print("\n## Solvers, iterations and time to a certificate\n")
    print(
        "| order | solver | % certified | iterations: mean | median | 95 % | 99 % | "
        "ms per sentence | of those all certify: iterations | ms |\n| --- | --- |" + " ---: |" * 8
    )
    for order in ORDERS:
        data = study.dev(EWT, study.parser(EWT, order=order))
        names: tuple[Solver, ...] = ("subgradient", "ad3", "branch")
        answers = {solver: _timed(data, solver) for solver in names}
        by_all = np.all([rows[:, 0] > 0 for rows in answers.values()], axis=0)
        for solver, rows in answers.items():
            iterations, ms = rows[:, 1], rows[:, 2]
            middle, most, nearly_all = np.percentile(iterations, [50, 95, 99])
            print(
                f"| {order} | {solver} | {100 * rows[:, 0].mean():.2f} | {iterations.mean():.1f} | "
                f"{middle:.0f} | {most:.0f} | {nearly_all:.0f} | {ms.mean():.3f} | "
                f"{iterations[by_all].mean():.1f} | {ms[by_all].mean():.3f} |",
                flush=True,
            )
        print(f"\n{EWT} dev, {order}: {data.summary()}, at most {LAST} iterations\n")


def _timed(data: Scored, solver: Solver) -> NDArray[np.float64]:
    """Certified, iterations and milliseconds of every sentence."""
    rows = []
    for parts in data.parts:
        answer, took = timed_decode(parts, data.root, LAST, solver)
        rows.append((float(answer.certified[0]), float(answer.iterations[0]), 1000 * took))
    return np.array(rows)
