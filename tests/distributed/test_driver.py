"""The command on Ray, interrupted, killed and started again: nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from tests.distributed.conftest import contents
from tests.toys import TREEBANK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("ray") is None,
        reason='the extra "ray" is not installed: pip install "arbora[ray]"',
    ),
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
]
SECONDS = 60


def command(source, out, model, *more):
    return [
        sys.executable, "-m", "arbora", "parse", source, "--output-dir", out, "--model", model,
        "--json", *more,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    for i in range(8):
        text = (TREEBANK / "train.conllu").read_bytes()
        (folder / f"{i}.conllu").write_bytes(text * (2 if i == 0 else 8))
    return folder


@pytest.fixture(scope="module")
def plain(source, model, tmp_path_factory):
    out = tmp_path_factory.mktemp("plain") / "out"
    subprocess.run(command(source, out, model), capture_output=True, check=True)
    return contents(out)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_driver_that_ends(number, source, plain, model, tmp_path):
    out = tmp_path / "out"
    driver = subprocess.Popen(
        command(source, out, model, "--ray"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for _ in range(SECONDS * 20):  # until the first file is finished
        if list(out.glob("*.conllu")) or driver.poll() is not None:
            break
        time.sleep(0.05)
    assert driver.poll() is None
    driver.send_signal(number)
    status = driver.wait(SECONDS)
    assert status == (143 if number == signal.SIGTERM else -signal.SIGKILL)
    if number == signal.SIGTERM:
        assert not list(out.glob(".*.tmp"))
    before = len(list((out / ".arbora" / "files").glob("*.json")))
    done = subprocess.run(
        command(source, out, model, "--ray"), capture_output=True, check=True, timeout=SECONDS
    )
    summary = json.loads(done.stdout)
    assert summary["finished_before"] >= before
    assert summary["parsed"] + summary["finished_before"] == 8
    found = contents(out)
    for name in [name for name in found if name.endswith(".tmp")]:  # of a killed worker
        assert number == signal.SIGKILL
        del found[name]
    assert found == plain
