"""Claims of a paper, checked on the results of its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arbora.reproduction.recipe import Claim, TableSpec, Way
from arbora.reproduction.results import Results, corpora_of
from arbora.reproduction.tables import WAYS, Table, p_value

__all__ = ["CHECKS", "Verdict", "judge"]

Decision = Literal["holds", "does not hold", "not testable here"]


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds on our data, with the figures that decide."""

    decision: Decision
    figure: str


Check = Callable[[Results, dict[str, Table], Claim, Way], Verdict]


def judge(results: Results, tables: dict[str, Table], claim: Claim) -> dict[Way, Verdict]:
    """The verdict for each way of training that the claim's table has."""
    if claim.check == "untestable":
        return {"printed": Verdict("not testable here", claim.note)}
    if claim.table not in tables:
        return {"printed": Verdict("not testable here", "its table was not run")}
    spec = results.recipe.table(claim.table)
    ways = spec.ways if spec.kind == "accuracy" else ("printed",)
    found = {way: CHECKS[claim.check](results, tables, claim, way) for way in ways}
    known = {way: one for way, one in found.items() if one.decision != "not testable here"}
    return known or {"printed": found["printed"]}


_MISSING = Verdict("not testable here", "results are missing")


def _decided(holds: bool, figure: str) -> Verdict:
    return Verdict("holds" if holds else "does not hold", figure)


def _better(results: Results, _: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """Column `better` is above column `than` on average, with p at most `level` if that is given.

    With `not_significant`, the claim is that it is not better at this level. `language` chooses a
    treebank, `without` leaves one out.
    """
    spec, settings = results.recipe.table(claim.table), claim.settings
    languages = [one.language for one in results.corpora if one.language != settings.get("without")]
    if "language" in settings:
        languages = [settings["language"]]
    found = results.compare(spec, settings["than"], settings["better"], way, languages)
    if found is None:
        return _MISSING
    test = settings.get("test", "permutation")
    p = found.sign_p if test == "sign" else found.permutation_p
    figure = f"{found.difference:+.2f}, {test} test {p_value(p)}"
    if test == "sign":
        figure += f", better/worse {found.better}/{found.worse}"
    level = settings.get("level")
    significant = found.difference > 0 and (level is None or p <= level)
    if settings.get("not_significant"):
        return _decided(not significant, figure)
    return _decided(significant, figure)


def _values(
    results: Results, spec: TableSpec, titles: list[str], way: Way
) -> dict[str, list[float]]:
    """The figures of columns by language, where all are known."""
    answer = {}
    for corpus in corpora_of(results.recipe, spec, results.corpora):
        cells = [results.value(spec.column(title), way, corpus) for title in titles]
        known = [cell for cell in cells if cell is not None]
        if len(known) == len(titles):
            answer[corpus.language] = known
    return answer


def _above_all(results: Results, _: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """Column `column` is at least the best of `others`, in all but `except` treebanks."""
    spec, settings = results.recipe.table(claim.table), claim.settings
    rows = _values(results, spec, [settings["column"], *settings["others"]], way)
    if not rows:
        return _MISSING
    margins = {language: cells[0] - max(cells[1:]) for language, cells in rows.items()}
    wrong = [language for language, margin in margins.items() if margin < 0]
    text = ", ".join(f"{language} {margin:+.2f}" for language, margin in margins.items())
    return _decided(len(wrong) <= settings.get("except", 0), text)


def _within(results: Results, _: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """All figures of `columns` are at least `low` and at most `high`, in all but `except` cells."""
    spec, settings = results.recipe.table(claim.table), claim.settings
    rows = _values(results, spec, settings["columns"], way)
    if "language" in settings:
        rows = {name: row for name, row in rows.items() if name == settings["language"]}
    if not rows:
        return _MISSING
    low, high = settings.get("low", float("-inf")), settings.get("high", float("inf"))
    cells = [
        (value, f"{language}, {title}")
        for language, values in rows.items()
        for title, value in zip(settings["columns"], values, strict=True)
    ]
    outside = [f"{name} {value:.2f}" for value, name in cells if not low <= value <= high]
    smallest, largest = min(cells)[0], max(cells)[0]
    digits = 2 if largest >= 1 else 4  # seconds
    text = f"{smallest:.{digits}f} to {largest:.{digits}f} in {len(cells)} cells"
    if len(cells) == 1:
        text = f"{smallest:.{digits}f}"
    elif outside:
        text += f"; outside: {', '.join(outside)}"
    return _decided(len(outside) <= settings.get("except", 0), text)


def _mean_difference(results: Results, _: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """The mean of column `more` is above that of column `less`."""
    spec, settings = results.recipe.table(claim.table), claim.settings
    rows = _values(results, spec, [settings["less"], settings["more"]], way)
    if not rows:
        return _MISSING
    gains = [more - less for less, more in rows.values()]
    mean = sum(gains) / len(gains)
    positive = sum(gain > 0 for gain in gains)
    return _decided(mean > 0, f"{mean:+.2f} on average; above in {positive} of {len(gains)}")


def _narrower(results: Results, _: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """The figures of `columns` differ less from each other than those of `others`, everywhere."""
    spec, settings = results.recipe.table(claim.table), claim.settings
    rows = _values(results, spec, [*settings["columns"], *settings["others"]], way)
    if not rows:
        return _MISSING
    split = len(settings["columns"])
    ranges = {
        language: (np.ptp(cells[:split]), np.ptp(cells[split:])) for language, cells in rows.items()
    }
    text = ", ".join(f"{name} {a:.2f} against {b:.2f}" for name, (a, b) in ranges.items())
    return _decided(all(a < b for a, b in ranges.values()), text)


def _figures(table: Table, wanted: dict[str, Any]) -> list[float]:
    """The figures of a measurement whose entries are as wanted."""
    return [
        value["value"]
        for value in table.values
        if all(value.get(name) == text for name, text in wanted.items())
        and value["value"] is not None
    ]


def _measured_above(results: Results, tables: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """A figure of a measurement is above all `others`."""
    settings, table = claim.settings, tables[claim.table]
    found = _figures(table, settings["where"])
    others = [_figures(table, other) for other in settings["others"]]
    if not found or not all(others) or way != "printed" or not results.corpora:
        return _MISSING
    highest = [max(one) for one in others]
    text = f"{min(found):.2f} against {', '.join(f'{one:.2f}' for one in highest)}"
    return _decided(min(found) > max(highest), text)


def _measured(results: Results, tables: dict[str, Table], claim: Claim, way: Way) -> Verdict:
    """A figure of a measurement is at least `low` and at most `high`."""
    settings = claim.settings
    found = _figures(tables[claim.table], settings["where"])
    if not found or way != "printed" or not results.corpora:
        return _MISSING
    low, high = settings.get("low", float("-inf")), settings.get("high", float("inf"))
    text = ", ".join(f"{value:.2f}" for value in found)
    return _decided(all(low <= value <= high for value in found), text)


# A new kind of check needs a function and a line here.
CHECKS: dict[str, Check] = {
    "better": _better,
    "above all": _above_all,
    "within": _within,
    "mean difference": _mean_difference,
    "narrower": _narrower,
    "measured": _measured,
    "measured above": _measured_above,
}


def verdict_lines(claim: Claim, verdicts: dict[Way, Verdict]) -> tuple[str, str]:
    """The verdicts and figures of a claim for a line of a table."""
    if len(verdicts) == 1:
        only = next(iter(verdicts.values()))
        figure = only.figure
        decision: str = only.decision
    else:
        decision = "; ".join(f"{WAYS[way]}: {one.decision}" for way, one in verdicts.items())
        figure = "; ".join(f"{WAYS[way]}: {one.figure}" for way, one in verdicts.items())
    if claim.note and claim.check != "untestable":
        figure = f"{figure}. {claim.note}"
    return decision, figure
