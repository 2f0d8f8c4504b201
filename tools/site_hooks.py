"""MkDocs hooks: add the pages of the repository's root, and turn links to code into text.

Links to files outside docs/ work in a checkout, but the site has no source files. Links to the
pages in `PAGES` become links to their copies under project/; other links become plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "RELEASING.md": "project/releasing.md",
    "SECURITY.md": "project/security.md",
}
_HOMES = {site: root for root, site in PAGES.items()}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the repository's root."""
    for root, site in PAGES.items():
        text = (ROOT / root).read_text(encoding="utf-8")
        files.append(File.generated(config, site, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Points links at the site's pages."""
    here = page.file.src_uri
    original = _HOMES.get(here, f"docs/{here}")  # where the page is in the repository

    def mended(link: re.Match[str]) -> str:
        text, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        path, hash_sign, anchor = target.partition("#")
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(original), path))
        if inside in PAGES:
            goal = PAGES[inside]
        elif inside.startswith("docs/"):
            goal = inside.removeprefix("docs/")
        else:
            return text
        return f"[{text}]({posixpath.relpath(goal, posixpath.dirname(here))}{hash_sign}{anchor})"

    return _LINK.sub(mended, markdown)
