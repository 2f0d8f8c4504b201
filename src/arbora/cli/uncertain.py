"""Probabilities of `arbora parse`: where they come from, and the arcs that are least sure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from arbora.cli.terminal import tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.data import Block
    from arbora.models.uncertainty import UncertainArc
    from arbora.options import ParseOptions
    from arbora.parsers import Parser

__all__ = ["list_least_certain", "tell_where_from"]

_HEADINGS = ["sentence", "word", "head", "label", "P", "next head", "P"]


def list_least_certain(
    parser: Parser,
    blocks: Iterable[Block],
    options: ParseOptions,
    count: int,
    output: str,
    *,
    as_json: bool,
) -> None:
    """Writes a table, or with `as_json` an object, to a file or standard output (-)."""
    from arbora.data import open_output
    from arbora.models.uncertainty import least_certain

    if options.kbest is not None or options.samples is not None:
        raise ArgumentError("--least-certain cannot be combined with --kbest or --samples.")
    found = least_certain(_arcs(parser, blocks, options), count)
    if as_json:
        text = json.dumps({"arcs": [asdict(arc) for arc in found]}, indent=2, ensure_ascii=False)
    else:
        text = _table(found)
    with open_output(output) as write:
        write(text.encode() + b"\n")


def _arcs(parser: Parser, blocks: Iterable[Block], options: ParseOptions) -> Iterator[UncertainArc]:
    decoder = parser.decoder(options)
    for block in blocks:
        if len(block):
            for sentence in parser.parse_block(block, options, decoder=decoder):
                yield from sentence.least_certain()


def _table(arcs: list[UncertainArc]) -> str:
    rows = [_HEADINGS]
    for arc in arcs:
        other = "" if arc.runner_up < 0 else f"{arc.runner_up} {arc.runner_up_form}"
        chance = "" if arc.runner_up < 0 else f"{arc.runner_up_probability:.4f}"
        rows.append([
            arc.sent_id or str(arc.sentence), f"{arc.word} {arc.form}",
            f"{arc.head} {arc.head_form}", arc.label, f"{arc.probability:.4f}", other, chance,
        ])  # fmt: skip
    return "\n".join("\t".join(row) for row in rows)


def tell_where_from(parser: Parser) -> None:
    """Reports on standard error if probabilities are not the model's exact ones."""
    model = parser.model
    own = model.options.keywords()
    if own.get("inference") == "bp":
        text = "the probabilities are beliefs, which are approximate"
    elif own.get("inference") in ("dual", "hill-climbing"):
        text = "the probabilities are those of the model's first-order pruner"
    elif own["learner"] in ("loglinear", "l2", "risk", "l2+risk"):
        return
    elif model.card.get("dev") is None:
        text = f"{own['learner']} does not learn probabilities; these are not calibrated"
    else:
        text = (
            f"{own['learner']} does not learn probabilities; these are calibrated on dev "
            f"(temperature {model.temperature:.3g})"
        )
    tell(f"arbora: {text}.")
