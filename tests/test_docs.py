"""Every Python block of README and docs runs, in order, and prints the documented output."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    ROOT / "cpp" / "README.md",
    ROOT / "benchmarks" / "README.md",
]


def name_of(page):
    """Its path in the repository."""
    return page.relative_to(ROOT).as_posix()


BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


@pytest.fixture
def tables():
    """Restores the tables that the how-to pages extend."""
    from arbora.data import FORMATS
    from arbora.fitting.objectives import OBJECTIVES
    from arbora.scoring import SCORERS

    before = [(table, dict(table)) for table in (OBJECTIVES, SCORERS, FORMATS)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_of_a_page(page):
    """Blocks of a page share their names; a text block after code is what the code prints."""
    names: dict[str, object] = {"__name__": "docs"}
    for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
        code, expected = match.groups()
        line = page.read_text(encoding="utf-8")[: match.start()].count("\n") + 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), names)
        if expected is not None:
            assert printed.getvalue().strip() == expected.strip()


def test_pytorch_page():
    """Its blocks are marked py, not python: they need more than is installed everywhere."""
    pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")
    page = (ROOT / "docs" / "torch.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "docs"}
    for code, expected in re.findall(r"```py\n(.*?)```(?:\n+```text\n(.*?)```)?", page, re.DOTALL):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/torch.md", "exec", dont_inherit=True), names)
        assert printed.getvalue().strip() == expected.strip()


def test_reliability_is_drawn_as_it_is_reported():
    """The figure shows the table beside it, and the table agrees with its summary."""
    pytest.importorskip("matplotlib")
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    drawing = runpy.run_path(str(ROOT / "docs" / "draw_pictures.py"))
    measured = drawing["measured_reliability"]()
    count = re.search(r"([\d,]+) predictions, ([\d.]+) % right", page)
    error = re.search(r"calibration error ([\d.]+) %, worst of (\d+) bins ([\d.]+) %", page)
    assert f"{measured.count:,}" == count[1]
    assert 100 * measured.accuracy == pytest.approx(float(count[2]), abs=0.01)
    assert 100 * measured.ece == pytest.approx(float(error[1]), abs=0.01)
    assert len(measured.bins) == int(error[2])
    assert 100 * measured.worst == pytest.approx(float(error[3]), abs=0.011)  # of rounded figures
    picture = (ROOT / "docs" / "images" / "reliability.svg").read_text(encoding="utf-8")
    assert f"expected calibration error {100 * measured.ece:.2f} %" in picture


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_placeholder_is_left(page):
    assert not re.search(r"^[A-Z]+_[A-Z]+$", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    for target in re.findall(r'src="([^"]+)"', page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"
