"""`arbora inspect`: the contents of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.files import size_text
from arbora.cli.output import (
    describe_dev_tags,
    describe_head_sets,
    describe_pruning,
    describe_reranking,
    describe_stages,
    figure,
    report_console,
    shown_card,
    table,
    write_json,
)
from arbora.cli.shared import AsJson
from arbora.cli.terminal import plain, visible
from arbora.cli.training_progress import number_text

if TYPE_CHECKING:
    from arbora.models.model import Model

EXAMPLES = """[bold]Examples[/bold]

arbora inspect english.arbora

arbora inspect english.arbora --json"""


def inspect(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model file, or an installed model.")
    ],
    as_json: AsJson = False,
) -> None:
    """Describe a model: training data, dev scores, options, columns, labels and sizes.

    Features are hashed, so the file has no feature names; arbora explain shows those of an arc.
    """
    from arbora.models.model_file import read_model
    from arbora.pipeline.installed import find_model

    model = str(find_model(model))
    found = read_model(model)
    size = Path(model).stat().st_size
    if as_json:
        write_json(_as_dict(found, model, size))
        return
    _report(found, model, size)


def _as_dict(model: Model, path: str, size: int) -> dict[str, Any]:
    from dataclasses import asdict

    from arbora.models.model_file import stored_version

    edges = model.encoder.edge_clusters
    return {
        "file": path,
        "bytes": size,
        "format_version": stored_version(path),
        "options": model.options.keywords(),
        "features": asdict(model.encoder.settings),
        "labels": list(model.labels),
        "root": model.root,
        "decode_trees": model.decode_trees,
        "temperature": model.temperature,
        "parameters": _parameters(model),
        "word_clusters": 0 if model.encoder.clusters is None else len(model.encoder.clusters),
        "edge_clusters": 0 if edges is None or model.sources else edges.n_clusters,
        "sources": list(model.sources),
        "stages": [one for one in ("segmenter", "tagger", "lemmatiser") if one in model.stages],
        "card": shown_card(model.card),
    }


def _parameters(model: Model) -> dict[str, dict[str, int]]:
    """The number of parameters of each component, and how many are non-zero."""
    import numpy as np

    from arbora.models.components import FirstOrderPruner, StagedLabels

    found: dict[str, Any] = {}
    for name, values in model.scorer.parameters().items():
        group = _group(model.scorer.kind, name)
        before = found.get(f"scorer.{group}")
        found[f"scorer.{group}"] = (
            values if before is None else np.concatenate([before.reshape(-1), values.reshape(-1)])
        )
    if isinstance(model.labeller, StagedLabels):
        found["labeller.weights"] = model.labeller.scorer.weights
    if isinstance(model.pruner, FirstOrderPruner):
        found["pruner.weights"] = model.pruner.scorer.weights
    if model.reranker is not None:
        found["reranker.weights"] = model.reranker.scorer.weights
    return {
        name: {"all": values.size, "non_zero": int(np.count_nonzero(values))}
        for name, values in found.items()
    }


def _group(kind: str, name: str) -> str:
    """The part of a network that a parameter belongs to; other scorers have few parameters."""
    if kind == "sum":
        return ".".join(name.split(".")[:2])
    return name.split(".")[0] if kind == "neural" else name


def _report(model: Model, path: str, size: int) -> None:
    values = _as_dict(model, path, size)
    card, options = model.card, model.options
    rows: list[tuple[str, str]] = []
    data, files = card.get("trained_on"), card.get("files") or {}
    if data:
        name = f" ({files['train']})" if files.get("train") else ""
        rows.append(("data", f"{data['words']:,} words in {data['sentences']:,} sentences{name}"))
    if card.get("licence"):
        rows.append(("licence", card["licence"]))
    dev = card.get("dev")
    if dev:
        where = files.get("dev") or "held-out or given sentences"
        las = "" if dev["las"] is None else f", LAS {figure(dev['las'])}"
        tags = describe_dev_tags(card)
        rows.append(("dev", f"UAS {figure(dev['uas'])}{las} ({where}, rule {dev['rule']}{tags})"))
    rows += describe_stages(card)
    if "best_pass" in card:
        by = "" if not dev else ", by UAS" if dev["las"] is None else ", by LAS"
        rows.append(("passes", f"{card['passes']}, the best was pass {card['best_pass']}{by}"))
    rates = [phase["rate"] for phase in card.get("phases", []) if phase["rate"] is not None]
    if rates:
        rows.append(("learning rate", ", then ".join(number_text(rate) for rate in rates)))
    if "date" in card:
        rows.append(("trained", card["date"]))
    columns = model.encoder.settings.columns
    share = card.get("multi_root_sentences")
    several = "" if share is None else f" ({100 * share:.1f} % of the sentences have several)"
    rows += [
        ("columns", ", ".join(["form", *columns])),
        ("root", model.root + several),
        ("decoding", f"{options.decode} over {model.decode_trees} trees"),
        ("temperature", number_text(model.temperature)),
    ]
    rows += [(name, _counts_text(counts)) for name, counts in values["parameters"].items()]
    if (pruning := describe_pruning(card)) is not None:
        rows.append(("pruning", pruning))
    if (reranking := describe_reranking(card)) is not None:
        rows.append(("reranking", reranking))
    if (head_sets := describe_head_sets(card)) is not None:
        rows.append(("head sets", head_sets))
    if model.encoder.clusters is not None:
        rows.append(("clusters", f"{len(model.encoder.clusters):,} words in clusters"))
    if model.sources:
        rows.append(("sources", ", ".join(model.sources)))
    elif model.encoder.edge_clusters is not None:
        rows.append(("edge clusters", f"{model.encoder.edge_clusters.n_clusters:,}, from outside"))
    rows.append(("labels", f"{len(model.labels)}: {', '.join(model.labels)}"))
    console = report_console()
    console.print()
    version = f"format {values['format_version']}"
    console.print(f"[bold]{plain(Path(path).name)}[/bold] [dim]{size_text(size)}, {version}[/dim]")
    console.print()
    _print_pairs(console, rows)
    console.print()
    console.print(_options_table(options.keywords()))


def _print_pairs(console: Any, rows: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, text in rows:
        grid.add_row(Text(name, style="dim"), Text(visible(text)))
    console.print(grid)


def _options_table(options: dict[str, Any]) -> Any:
    given = {name: value for name, value in options.items() if value is not None}
    rows = [(name.replace("_", "-"), plain(str(value))) for name, value in given.items()]
    return table(["option", "value"], rows)


def _counts_text(counts: dict[str, int]) -> str:
    share = 100 * counts["non_zero"] / max(1, counts["all"])
    return f"{counts['all']:,}, {counts['non_zero']:,} of them non-zero ({share:.1f} %)"
