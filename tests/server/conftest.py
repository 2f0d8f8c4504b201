"""A server in this process for the API, and one of its own for the page, with a real browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import arbora
from arbora.server import Limits, Settings

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip

WORDS = [
    ("The", "the", "DET"), ("gull", "gull", "NOUN"), ("sees", "see", "VERB"),
    ("the", "the", "DET"), ("fish", "fish", "NOUN"), ("near", "near", "ADP"),
    ("the", "the", "DET"), ("wall", "wall", "NOUN"), (".", ".", "PUNCT"),
]  # fmt: skip
HEADS = [2, 3, 0, 5, 3, 8, 8, 3, 3]
LABELS = ["det", "nsubj", "root", "det", "obj", "case", "det", "obl", "punct"]


def sentence(number: int, extra: str = "", end: str = "\n") -> str:
    """A sentence with a tree, odd comments and MISC, so that lost bytes are seen."""
    lines = [f"# sent_id = s{number}", f"#odd comment  {extra}", "# text = The gull sees it."]
    for i, (form, lemma, tag) in enumerate(WORDS):
        misc = f"Note=a\\b{number}" if i == 2 else "_"
        fields = [i + 1, form, lemma, tag, "_", "_", HEADS[i], LABELS[i], "_", misc]
        lines.append("\t".join(map(str, fields)))
    return end.join(lines) + end + end


def treebank(count: int) -> str:
    """Many sentences, some with other line ends."""
    return "".join(sentence(i, end="\r\n" if i % 7 == 3 else "\n") for i in range(count))


def client_for(pipelines, settings: Settings):
    """A client of a server in this process; skips where the extra is not installed."""
    pytest.importorskip("fastapi", reason="the extra server is not installed")
    from starlette.testclient import TestClient

    from arbora.server import make_app

    app = make_app(pipelines, settings)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.fixture(scope="session")
def pipelines():
    return {"en": arbora.load(threads=1)}


@pytest.fixture
def client_of(pipelines):
    """Makes clients of servers with other settings."""
    made = []

    def client(limits: Limits | None = None, **settings):
        found = client_for(pipelines, Settings(limits=limits or Limits(), **settings))
        found.__enter__()
        made.append(found)
        return found

    yield client
    for one in made:
        one.__exit__(None, None, None)


@pytest.fixture(scope="module")
def client(pipelines):
    with client_for(pipelines, Settings()) as one:
        yield one


@contextmanager
def running(*arguments: str, errors: Path | None = None):
    """A server as a process, with its address."""
    command = [sys.executable, "-c", "from arbora.cli import main; main()", "serve", "--port", "0"]
    with (errors or Path("/dev/null")).open("w") as log:
        process = subprocess.Popen(
            [*command, "--threads", "1", "--log", "json", *arguments],
            stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture(scope="module")
def chromium():
    """A browser; the tests of the page are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed, so the page is not tested")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


BAD = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="session")
def address(pipelines, tmp_path_factory):
    """The address of a server, whose second model has markup in its name and its card."""
    path = tmp_path_factory.mktemp("model") / "model.arbora"
    model = pipelines["en"].model.with_card(licence=BAD, files={"train": BAD})
    arbora.Pipeline.from_model(model).save(path)
    with running("en", f"<b>en</b>={path}") as (_, url):
        yield url


@pytest.fixture(params=["desktop", "phone"])
def size(request):
    return {"width": 1280, "height": 900} if request.param == "desktop" else PHONE


PHONE = {"width": 390, "height": 800}


@pytest.fixture
def open_page(chromium):
    """Opens pages that may not log errors, nor break the content-security policy."""
    contexts, problems = [], []

    def log(message, expected):
        if message.type == "error" and expected not in message.text:
            problems.append(message.text)

    def opened(url: str, size: dict[str, int], context=None, expected="\0", **options):
        if context is None:
            context = chromium.new_context(
                viewport=size, has_touch=size is PHONE, accept_downloads=True, **options
            )
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: log(message, expected))
        page.set_default_timeout(30_000)
        page.goto(url)
        page.wait_for_selector("body[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems
