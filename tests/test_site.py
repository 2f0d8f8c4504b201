"""The documentation site builds without warnings and without the network, and is complete."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import arbora

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "data", "drawing", "evaluation", "inference", "losses", "options", "parsers", "scores",
    "scoring", "segmentation", "server", "tagging",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocstrings")
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    proxy = "http://127.0.0.1:9"  # nothing listens: whatever wants the network fails
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "http_proxy": proxy, "https_proxy": proxy},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def documented_names(site):
    """The names in the site's inventory."""
    data = (site / "objects.inv").read_bytes()
    start = 0
    for _ in range(4):  # lines of the inventory's head
        start = data.index(b"\n", start) + 1
    return {line.split()[0] for line in zlib.decompress(data[start:]).decode().splitlines()}


@pytest.mark.slow
def test_every_public_class_and_function_is_in_the_reference(site):
    names = documented_names(site)
    places = [arbora, *(importlib.import_module(f"arbora.{name}") for name in PACKAGES)]
    missing = [
        f"{place.__name__}.{name}"
        for place in places
        for name in place.__all__
        if (inspect.isclass(thing := getattr(place, name)) or inspect.isfunction(thing))
        and thing.__module__.startswith("arbora.")
        and not thing.__module__.startswith("arbora._core")
        and not {f"{place.__name__}.{name}", f"{thing.__module__}.{name}"} & names
    ]
    assert not missing


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site):
    remote = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//""")
    pages = list(site.glob("**/*.html"))
    assert len(pages) > 30
    for page in pages:
        found = remote.search(page.read_text(encoding="utf-8"))
        assert found is None, f"{page.relative_to(site)}: {found and found[0]}"


@pytest.mark.slow
def test_search_finds_pages(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    titles = {entry["title"] for entry in index["docs"]}
    assert {"How to add a loss", "How to add a factor", "Results", "Laboratory notes"} <= titles


WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


def test_workflows_follow_the_schema():
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", *WORKFLOWS], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert WORKFLOWS
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflows_run_targets_that_exist(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    used = set(re.findall(r"run: make ([a-z-]+)", path.read_text(encoding="utf-8")))
    assert used <= targets


def test_hooks_run_what_exists():
    yaml = pytest.importorskip("yaml")
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repo in settings["repos"] for hook in repo["hooks"]]
    assert {repo["repo"] for repo in settings["repos"]} == {"local"}  # no network
    for hook in hooks:
        for script in re.findall(r"tools/\S+\.py", hook["entry"]):
            assert (ROOT / script).exists()
