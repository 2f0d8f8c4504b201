"""What `arbora train` reports at its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbora.cli.files import size_text
from arbora.cli.output import (
    describe_dev_tags,
    describe_head_sets,
    describe_pruning,
    describe_reranking,
    describe_stages,
    figure,
    report_console,
)
from arbora.cli.terminal import plain

if TYPE_CHECKING:
    from arbora.parsers import Parser

__all__ = ["describe_learner", "summarise"]


def summarise(parser: Parser, has_dev: bool, path: str) -> None:
    """Prints the data, the model and its scores."""
    console = report_console()
    card = parser.model.card
    data = card["trained_on"]
    console.print()
    console.print(f"{data['words']:,} words in {data['sentences']:,} sentences", style="bold")
    lines = _model_lines(parser) + _dev_lines(card, has_dev)
    lines += describe_stages(card)
    if (pruning := describe_pruning(card)) is not None:
        lines.append(("pruning", pruning))
    if (reranking := describe_reranking(card)) is not None:
        lines.append(("reranking", reranking))
    if (head_sets := describe_head_sets(card)) is not None:
        lines.append(("head sets", head_sets))
    lines.append(("model", f"{path} ({size_text(Path(path).stat().st_size)})"))
    for name, text in lines:
        console.print(f"[dim]{name:<10}[/dim] {plain(text)}")
    console.print()
    what = "FILE|TEXT" if "segmenter" in parser.model.stages else "FILE"
    console.print(f"Parse with it: arbora parse --model {plain(path)} {plain(what)}", style="dim")


def _model_lines(parser: Parser) -> list[tuple[str, str]]:
    model, card = parser.model, parser.model.card
    why = f"{100 * card['multi_root_sentences']:.1f} % of the sentences have several roots"
    chosen = "chosen automatically" if parser.options.root == "auto" else "as given"
    lines = [
        ("learner", describe_learner(parser)),
        ("root", f"{model.root} ({chosen}; {why})"),
        ("columns", ", ".join(["form", *model.encoder.settings.columns])),
    ]
    if model.sources:
        lines.append(("sources", ", ".join(model.sources)))
    if "projective_oracle_uas" in card:
        kept = 100 * card["projective_oracle_uas"]
        lines.append(("projective", f"projective gold trees keep {kept:.2f} % of the heads"))
    return lines


def _dev_lines(card: dict[str, Any], has_dev: bool) -> list[tuple[str, str]]:
    """The scores, and which of them chose the best pass."""
    if card["dev"] is None:
        return [("dev", f"none; too few sentences to hold out; pass {card['passes']}")]
    scores = card["dev"]
    how = f"rule {scores['rule']}"
    how += describe_dev_tags(card)
    how += "" if has_dev else ", on the held-out last tenth"
    how += ", then retrained on all sentences" if card.get("refitted") else ""
    las = "" if scores["las"] is None else f", LAS {figure(scores['las'])}"
    by = "UAS" if scores["las"] is None else "LAS"
    return [
        ("dev", f"UAS {figure(scores['uas'])}{las} ({how})"),
        ("best pass", f"{card['best_pass']} of {card['passes']}, by {by}"),
    ]


def describe_learner(parser: Parser) -> str:
    """A short description of learner, optimiser and tree class."""
    own = parser.model.options.keywords()
    learner = own["learner"]
    if "optimizer" in own and learner != "maxmargin":
        learner += f" by {own['optimizer']}"
    elif learner == "mira":
        learner += f", {own['mira']}"
    order = "" if own["order"] == "first" else f"{own['order']} order, "
    if own.get("training_inference") == "bp":
        order += f"{own['bp_iterations']} BP iterations, "
    order += f"{own['rerank']} trees reranked, " if own.get("rerank") else ""
    return (
        f"{learner}, {order}{own['trees']} trees, {own['features']} features, "
        f"{own['labels']} labels"
    )
