"""`arbora review` in a real browser: the order, the reasons, and training by one click."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.small_parsers import SMALL, sentences

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
DESK = {"width": 1280, "height": 900}
MAIN = "from arbora.cli import main; main()"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model, and a file that it was not trained on."""
    from arbora import Parser

    folder = tmp_path_factory.mktemp("review")
    parser = Parser(**SMALL).fit(sentences("train", 30), sentences("dev", 20))
    parser.calibrate(sentences("test")).save(folder / "small.arbora")
    (folder / "work.conllu").write_bytes(b"".join(map(bytes, sentences("train", 45)[30:])))
    return folder


def review(folder, *arguments):
    return [
        sys.executable, "-c", MAIN, "review", str(folder / "work.conllu"), "--model",
        str(folder / "small.arbora"), "--threads", "1", *arguments,
    ]  # fmt: skip


@contextmanager
def reviewing(folder, *arguments):
    process = subprocess.Popen(
        review(folder, "--no-open", "--port", "0", *arguments), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_order_the_reasons_and_one_click(open_page, files):
    told = subprocess.run(review(files, "--json"), capture_output=True, text=True, check=True)
    order = json.loads(told.stdout)["order"]
    with reviewing(files, "--dev", str(TREEBANK / "dev.conllu")) as address:
        page = open_page(address, DESK)
        assert page.locator("#why").inner_text().endswith(order[0]["reason"])
        assert page.locator(".word.chosen").count() == 1
        page.click("#accept")
        page.locator("#why", has_text=order[1]["reason"]).wait_for()
        page.click("#accept")
        page.click("#retrain")
        page.locator("#message", has_text="dev UAS").wait_for(timeout=120_000)
        assert "LAS" in page.locator("#message").inner_text()
        assert page.locator("#retrain").is_enabled()
    assert (files / "work.conllu.arbora").exists()
