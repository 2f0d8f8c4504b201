"""The options that `arbora train` and `arbora tune` share: the fields of `ParserSettings`.

They are listed here once more, because help must not wait for NumPy; a test compares the two.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import typer

from arbora.errors import ArgumentError

__all__ = ["OPTIONS", "number_or_auto", "take_settings"]

LEARNING = "What is learnt, and how"
TREES = "Trees and decoding"
SIZE = "Model"


class Option(NamedTuple):
    """A field of the settings on the command line; left out, the settings' own default holds."""

    name: str
    type: Any
    panel: str
    help: str
    metavar: str | None = None


TreeName = Literal["nonprojective", "projective"]

OPTIONS = [
    Option(
        "learner",
        Literal["perceptron", "mira", "loglinear", "maxmargin", "l2", "risk", "l2+risk"], LEARNING,
        "perceptron, mira (the default of higher orders with dual), loglinear (the default "
        "elsewhere) or maxmargin; l2, risk and l2+risk learn through the inference that will be "
        "used.",
        "NAME",
    ),
    Option(
        "optimizer", Literal["adagrad", "sgd", "lbfgs", "cg", "eg"], LEARNING,
        "Of the loglinear learner: adagrad (the default), sgd, lbfgs, cg or eg; of l2, risk and "
        "l2+risk: adagrad or sgd.",
        "NAME",
    ),
    Option(
        "passes", int, LEARNING,
        "At most so many passes over the data, in each phase of l2+risk. By default 15 (lbfgs, cg: "
        "10; maxmargin, eg, rivals by dual: 30; l2, risk, l2+risk: 5).",
    ),
    Option(
        "patience", int, LEARNING,
        "Stop after so many passes without a better dev score. By default 4; maxmargin and eg, "
        "which begin slowly, have at least 20.",
    ),
    Option(
        "batch_size", int, LEARNING,
        "Sentences per step of adagrad, sgd, perceptron and mira; 1 is the textbook online "
        "learner. By default 16 (perceptron and mira of higher orders: 4).",
    ),
    Option(
        "rate", str, LEARNING,
        "Step size of adagrad and sgd: a number, or auto, which looks for one on a tenth of the "
        "sentences. By default 0.05 (sgd, belief propagation: 0.02; l2, risk, l2+risk: 0.015, with "
        "parts 0.01).",
        "X|auto",
    ),
    Option(
        "l2", float, LEARNING,
        "Strength of regularisation, but for perceptron and mira: l2 / 2 times the squared "
        "weights. By default 10 (sgd, lbfgs, cg: 1).",
    ),
    Option(
        "word_dropout", float, LEARNING,
        "Hide a word that occurs c times from the features with probability X / (X + c), anew in "
        "each pass: X = 1 or 3 helps where new texts have many new words. By default 0.",
        "X",
    ),
    Option(
        "first_temperature", float, LEARNING,
        "Of risk and l2+risk: where the temperature begins. By default 0.1.",
    ),
    Option(
        "last_temperature", float, LEARNING,
        "And where it ends, falling with every step. By default 0.0001.",
    ),
    Option(
        "projectivise", bool, LEARNING,
        "Learn projective trees from projective gold, as all do but l2, risk and l2+risk by "
        "default.",
    ),
    Option(
        "mira", Literal["1-best", "k-best", "factored", "mbr"], LEARNING,
        "Constraints of MIRA: 1-best (the default), k-best, factored or mbr.", "NAME",
    ),
    Option("largest_step", float, LEARNING, "MIRA's bound C on a step. By default 0.001."),
    Option("k", int, LEARNING, "Trees of k-best MIRA. By default 5."),
    Option("average", bool, LEARNING, "Average the weights of online learners."),
    Option(
        "held_out", float, LEARNING,
        "Without dev: the share of the sentences, from the end, to choose the best pass on. By "
        "default 0.1.",
    ),
    Option(
        "refit", bool, LEARNING,
        "Without dev: when the best pass is known, learn from the held-out tenth as well.",
    ),
    Option("seed", int, LEARNING, "The same seed, the same model. By default 0."),
    Option(
        "trees", TreeName, TREES,
        "The class that is learnt: nonprojective (the default) or projective.", "CLASS",
    ),
    Option(
        "root", Literal["auto", "single", "multi"], TREES,
        "One word under the root (single) or several (multi); auto (the default) looks at the "
        "training data.",
        "ROOT",
    ),
    Option(
        "decode", Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"], TREES,
        "How trees are chosen: map, mbr, greedy, greedy-posterior or max-z. By default mbr "
        "(perceptron, mira, maxmargin: map).",
        "NAME",
    ),
    Option(
        "decode_trees", Literal["auto", "nonprojective", "projective"], TREES,
        "The class to choose from: nonprojective, projective, or auto, which lets dev decide; by "
        "default as --trees.",
        "CLASS",
    ),
    Option(
        "order", Literal["first", "sibling", "grandparent", "grandsibling"], TREES,
        "Parts of trees that are scored: arcs (first, the default), and with them pairs of "
        "modifiers (sibling), a head's own head (grandparent), or both (grandsibling).",
        "ORDER",
    ),
    Option(
        "inference", Literal["exact", "dual", "bp"], TREES,
        "Of higher orders: dual (decomposition, the default), exact (projective trees) or bp "
        "(belief propagation, the default with l2, risk and l2+risk).",
        "NAME",
    ),
    Option(
        "training_inference", Literal["automata", "dual", "exact", "bp"], LEARNING,
        "Where higher orders look for rivals, or what they sum over: automata (the default with "
        "dual, but for siblings by mira), dual, exact or bp; by default the same as inference.",
        "NAME",
    ),
    Option(
        "max_iterations", int, TREES,
        "Of dual decomposition, per sentence. By default 5000; at most 1500 while learning.",
    ),
    Option(
        "solver", Literal["subgradient", "ad3", "branch"], TREES,
        "Of dual decomposition: subgradient, ad3, or branch (the default), which divides the trees "
        "of sentences that do not converge soon.",
        "NAME",
    ),
    Option("bp_iterations", int, TREES, "Of belief propagation. By default 4."),
    Option(
        "damping", float, TREES,
        "Of belief propagation: how much of a message is the one before. By default 0.",
    ),
    Option(
        "factors", Literal["pairs", "automata"], TREES,
        "Of belief propagation: pairs of arcs (the default with bp), or automata, the parts of "
        "dual and exact.",
        "NAME",
    ),
    Option(
        "prune_threshold", float, TREES,
        "Higher orders drop arcs less likely than this share of a word's likeliest head. By "
        "default 0.001.",
    ),
    Option("prune_heads", int, TREES, "Higher orders keep so many heads per word. By default 10."),
    Option(
        "features", Literal["rich", "morphological", "mcdonald2005", "squeezed2005"], SIZE,
        "Feature templates: rich (the default), morphological (for languages with much inflection "
        "in FEATS), mcdonald2005 or squeezed2005.", "NAME",
    ),
    Option(
        "labels", Literal["staged", "joint", "none"], SIZE,
        "Labels after the tree (staged, the default), inside the sum (joint), or none.", "NAME",
    ),
    Option("clusters", int, SIZE, "Hidden clusters of arcs; 0, the default, for none."),
    Option(
        "cluster_of", Literal["edge", "token"], SIZE,
        "Whether clusters belong to edge (the default) or token.", "NAME",
    ),
    Option("arc_filter", bool, SIZE, "Drop arcs longer than any in training between such tags."),
    Option("bits", int, SIZE, "2^bits weights of arcs. By default 22."),
    Option(
        "label_bits", int, SIZE,
        "2^label-bits rows of weights of labels or clusters. By default 17.",
    ),
]  # fmt: skip


def take_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command one option per setting; those that were given arrive as dict `settings`."""

    def with_options(**arguments: Any) -> None:
        given = {option.name: arguments.pop(option.name) for option in OPTIONS}
        given["rate"] = number_or_auto("rate", given["rate"])
        settings = {name: value for name, value in given.items() if value is not None}
        command(settings=settings, **arguments)

    own = inspect.signature(command, eval_str=True)
    parameters = [p for p in own.parameters.values() if p.name != "settings"]
    parameters += [_parameter(option) for option in OPTIONS]
    with_options.__doc__ = command.__doc__
    with_options.__name__ = command.__name__
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # as wraps does
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    )
    return with_options


def number_or_auto(name: str, text: str | None) -> float | str | None:
    """What an option of both kinds means."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"{name} is a number or auto, not {text!r}.") from None


def _parameter(option: Option) -> inspect.Parameter:
    dashed = option.name.replace("_", "-")
    names = [f"--{dashed}/--no-{dashed}"] if option.type is bool else [f"--{dashed}"]
    metavar = option.metavar or {int: "N", float: "X"}.get(option.type)
    info = typer.Option(
        *names, help=option.help, rich_help_panel=option.panel, metavar=metavar,
        show_default=False,
    )  # fmt: skip
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[option.type | None, info],
    )
