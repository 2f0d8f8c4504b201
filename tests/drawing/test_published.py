"""The pictures of README and docs: well-formed, harmless, and made by the present code."""

from __future__ import annotations

import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = sorted((ROOT / "docs" / "images").glob("*.svg"))


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_published_pictures_are_harmless(path):
    for element in ET.parse(path).iter():
        assert not element.tag.lower().endswith(("script", "foreignobject", "}image"))
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert not name.endswith("href") or value.startswith("#")


def test_pictures_of_trees_are_up_to_date():
    """`make pictures` draws them anew."""
    pytest.importorskip("matplotlib")
    script = runpy.run_path(str(ROOT / "docs" / "draw_pictures.py"))
    for name, picture in script["pictures_of_trees"]().items():
        assert (ROOT / "docs" / "images" / name).read_text(encoding="utf-8") == picture, name


def test_the_old_name_warns():
    from arbora import drawing

    with pytest.deprecated_call(match="use TreeDrawing"):
        draw = drawing.tree_text
    assert draw(["a", "b"], [0, 1]) == str(drawing.TreeDrawing(["a", "b"], [0, 1]))
    with pytest.raises(AttributeError):
        _ = drawing.nothing
