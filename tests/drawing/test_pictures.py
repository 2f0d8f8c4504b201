"""SVG, PDF, PNG, LaTeX, displaCy, HTML: every arc once, from the right head to the right word."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import ArgumentError, FileError, TreeDrawing
from arbora.drawing import drawings_to_bytes, from_displacy, html_page, to_displacy
from arbora.drawing.latex import SPECIAL, escape_latex
from arbora.drawing.layout import lay_out
from arbora.drawing.shapes import ARROW, MARGIN, PIXELS

from .drawn_trees import ANY_TEXT, drawings

SVG = "{http://www.w3.org/2000/svg}"
SAW = TreeDrawing(
    ["He", "saw", "her"], [2, 0, 2], ["nsubj", "root", "obj"], tags=["PRON", "VERB", "PRON"],
    probabilities=[0.99, 0.97, 0.4], alternatives=[(1, 3, 0.3, "nmod")],
)  # fmt: skip


def numbers(path):
    return [float(x) for x in re.findall(r"-?[\d.]+", path)]


@settings(max_examples=60, deadline=None)
@given(drawing=drawings())
def test_svg_arcs_lead_from_head_to_modifier(drawing):
    picture = ET.fromstring(drawing.svg())
    layout = lay_out(drawing, drawing.arcs, PIXELS, float("inf"))
    (row,) = layout.rows
    found = []
    for group in picture.iter(f"{SVG}g"):
        line, tip = group.findall(f"{SVG}path")
        head, modifier = int(group.get("data-head")), int(group.get("data-modifier"))
        points = numbers(line.get("d"))
        ends = [x - MARGIN for x in (points[0], points[-2])]
        if drawing.right_to_left:
            ends = [layout.width - x for x in ends]
        # The line meets the head's word, and stops inside the arrowhead over the modifier's.
        feet = {
            end: points[place] for end, place in zip(sorted((head, modifier)), (1, -1), strict=True)
        }
        ground = numbers(tip.get("d"))[1]
        assert feet[modifier] == pytest.approx(ground - ARROW + 1, abs=0.11)
        assert not head or feet[head] == pytest.approx(ground, abs=0.11)
        into = numbers(tip.get("d"))[0] - MARGIN
        into = layout.width - into if drawing.right_to_left else into
        words = {word.number: word for word in row.words}
        for x, end in zip(ends, sorted((head, modifier)) if head else [modifier] * 2, strict=True):
            assert words[end].left - 0.1 <= x <= words[end].right + 0.1
        assert words[modifier].left - 0.1 <= into <= words[modifier].right + 0.1
        found.append((head, modifier))
    assert sorted(found) == sorted((arc.head, arc.modifier) for arc in drawing.arcs)
    assert [e.text for e in picture.iter(f"{SVG}text") if e.get("class") == "word"] == list(
        drawing.words
    )


@settings(max_examples=60, deadline=None)
@given(drawing=drawings(), width=st.sampled_from([150, 400]))
def test_svg_in_rows_has_every_arrowhead_once(drawing, width):
    picture = ET.fromstring(drawing.svg(width))
    tips = [
        (int(group.get("data-head")), int(group.get("data-modifier")))
        for group in picture.iter(f"{SVG}g")
        for path in group.findall(f"{SVG}path")
        if path.get("class").endswith("-tip")
    ]
    assert sorted(tips) == sorted((arc.head, arc.modifier) for arc in drawing.arcs)


@settings(max_examples=80, deadline=None)
@given(ANY_TEXT, st.booleans())
def test_any_text_makes_well_formed_xml(text, inline):
    drawing = TreeDrawing(
        [text, "b"], [0, 1], [text, text], tags=[text, text], multiword=[(1, 2, text)],
        sentence=text, name=text,
    )  # fmt: skip
    picture = ET.fromstring(drawing.svg(inline=inline))
    assert picture.find(f"{SVG}title") is not None
    assert picture.get("role") == "img"
    page = html_page([drawing], title=text)
    assert "<script" not in page
    ET.fromstring(re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", page))


def test_texts_are_escaped():
    drawing = TreeDrawing(["<script>alert(1)</script>", "&"], [0, 1], ['"x"', "'"])
    svg = drawing.svg()
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg
    assert ET.fromstring(svg).find(f"{SVG}title").text == drawing.sentence


def test_svg_says_it_in_words_and_needs_nothing_from_outside():
    svg = SAW.svg()
    assert "He (1) under saw (2): nsubj 99%; saw (2) under the root: root 97%" in svg
    assert "her (3) under He (1): nmod 30% (alternative)" in svg
    assert "prefers-color-scheme:dark" in svg
    assert not re.search(r"href|url\(|@import|<image", svg)
    assert svg.count("http") == 1  # the name space
    assert "stroke-dasharray" in svg
    assert "currentColor" in SAW.svg(inline=True)


def test_probable_arcs_are_wider():
    groups = {
        int(group.get("data-modifier")): group.find(f"{SVG}path")
        for group in ET.fromstring(SAW.svg()).iter(f"{SVG}g")
        if group.get("data-head") != "1"
    }
    widths = {word: float(path.get("stroke-width")) for word, path in groups.items()}
    assert widths[1] >= widths[2] > widths[3]
    assert groups[3].get("class") == "doubt"


def test_right_to_left_is_mirrored():
    words = ["قرأ", "الطالب", "كتابا"]
    picture = ET.fromstring(TreeDrawing(words, [0, 1, 1]).svg())
    places = {e.text: float(e.get("x")) for e in picture.iter(f"{SVG}text")}
    assert places[words[0]] > places[words[1]] > places[words[2]]
    left = ET.fromstring(TreeDrawing(words, [0, 1, 1], right_to_left=False).svg())
    mirrored = {e.text: float(e.get("x")) for e in left.iter(f"{SVG}text")}
    width = float(picture.get("width"))
    for text, x in places.items():
        assert x == pytest.approx(width - mirrored[text], abs=0.11)


# LaTeX


@settings(max_examples=60, deadline=None)
@given(drawing=drawings())
def test_latex_has_every_arc(drawing):
    text = drawing.latex()
    place = {word: word for word in range(1, len(drawing) + 1)}
    if drawing.right_to_left:
        place = {word: len(drawing) + 1 - word for word in place}
    edges = re.findall(r"\\depedge(?:\[.*?\])?\{(\d+)\}\{(\d+)\}", text)
    roots = re.findall(r"\\deproot(?:\[.*?\])?\{(\d+)\}", text)
    found = [(int(h), int(m)) for h, m in edges] + [(0, int(m)) for m in roots]
    expected = [(place[a.head] if a.head else 0, place[a.modifier]) for a in drawing.arcs]
    assert sorted(found) == sorted(expected)
    assert text.count("dashed") == len(drawing.alternatives)


@settings(max_examples=100, deadline=None)
@given(st.text("\\{}$%#_&~^<>|[]*\"'`-ab ", max_size=12))
def test_latex_special_characters(text):
    """The escaped text has no special character left once the escapes are read back."""
    back = {escape: character for character, escape in SPECIAL.items()}
    pattern = "|".join(re.escape(escape) for escape in sorted(back, key=len, reverse=True))
    rest = re.sub(pattern, "", escape_latex(text))
    assert set(rest) <= set("ab ")
    assert re.sub(pattern, lambda found: back[found[0]], escape_latex(text)) == text


def test_latex_document():
    text = TreeDrawing(["100%", "A&B"], [0, 1]).latex(document=True)
    assert text.startswith("%")
    assert r"100\% \& A{\char38}B \\" in text
    assert text.index(r"\begin{document}") < text.index(r"\begin{dependency}")
    assert text.endswith("\\end{document}\n")


# displaCy


@settings(max_examples=60, deadline=None)
@given(drawing=drawings(alternatives=False))
def test_displacy_round_trip(drawing):
    drawing.multiword = ()
    drawing.heads = tuple(max(head, 0) for head in drawing.heads)  # it knows no missing heads
    roots = [head == 0 for head in drawing.heads]
    drawing.labels = tuple(
        "root" if root else label for root, label in zip(roots, drawing.labels, strict=True)
    )
    drawing.probabilities = tuple(
        None if root else p for root, p in zip(roots, drawing.probabilities, strict=True)
    )
    given_back = from_displacy(json.loads(json.dumps(to_displacy(drawing))))
    assert given_back == drawing


def test_displacy_format():
    made = SAW.to_displacy()
    assert made["words"][0] == {"text": "He", "tag": "PRON"}
    assert made["arcs"] == [
        {"start": 0, "end": 1, "label": "nsubj", "dir": "left", "probability": 0.99},
        {"start": 1, "end": 2, "label": "obj", "dir": "right", "probability": 0.4},
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"words": [{"text": "a"}]}, "not displaCy's JSON"),
        ({"words": [{"text": "a"}, {"text": "b"}], "arcs": [{"start": 0}]}, "not displaCy's JSON"),
        (
            {"words": [{"text": "a"}] * 3,
             "arcs": [{"start": 0, "end": 1, "label": "", "dir": "right"},
                      {"start": 1, "end": 2, "label": "", "dir": "left"}]},
            "two arcs lead to word 1",
        ),
        (
            {"words": [{"text": "a"}],
             "arcs": [{"start": 0, "end": 3, "label": "", "dir": "right"}]},
            "word 3, which does not exist",
        ),
    ],
)  # fmt: skip
def test_displacy_faults(given, message):
    with pytest.raises(ArgumentError, match=message):
        from_displacy(given)


# Files


def test_figures_have_every_arc():
    pytest.importorskip("matplotlib")
    from matplotlib.patches import PathPatch, Polygon

    from arbora.drawing.figure import tree_figure

    (axes,) = tree_figure(SAW).axes
    assert sum(isinstance(patch, PathPatch) for patch in axes.patches) == 4
    assert sum(isinstance(patch, Polygon) for patch in axes.patches) == 4
    texts = [text.get_text() for text in axes.texts]
    assert {"He", "saw", "her", "PRON", "nsubj 99%", "root 97%", "nmod 30%"} <= set(texts)


def test_saved_files(tmp_path):
    pytest.importorskip("matplotlib")
    beginnings = {
        "svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "tex": b"%", "html": b"<!DOCTYPE",
        "json": b"[", "txt": b" ",
    }  # fmt: skip
    for ending, beginning in beginnings.items():
        path = tmp_path / f"tree.{ending}"
        SAW.save(path, width=300)
        assert path.read_bytes().startswith(beginning)
    assert len(list(tmp_path.iterdir())) == len(beginnings)
    small = TreeDrawing(["a"], [0])
    assert drawings_to_bytes([small, small], "x.pdf").count(b"/Type /Page ") == 2


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(ArgumentError, match=r"must end in \.svg"):
        SAW.save(tmp_path / "tree.gif")
    with pytest.raises(ArgumentError, match=r"a \.svg file holds one sentence, not 2"):
        drawings_to_bytes([SAW, SAW], "x.svg")
    with pytest.raises(FileError, match="cannot be written"):
        SAW.save(tmp_path / "missing" / "tree.svg")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ArgumentError, match=r"pip install \"arbora\[plot\]\""):
        SAW.png()


def test_page():
    page = html_page([SAW, TreeDrawing(["a", "b"], [0, 1], name="id-7")], "My <trees>")
    assert "<h1>My &lt;trees&gt;</h1>" in page
    assert page.count("<svg") == 2
    assert ">id-7</a>" in page
    assert 'id="s2"' in page
    assert '<p dir="ltr">He saw her</p>' in page
