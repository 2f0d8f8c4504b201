"""The file that a server has open: changes, its journal, and what a killed server loses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from arbora.errors import ArgumentError, FileError
from arbora.server import Suggestion, make_app
from arbora.server.document import Document, journal_path
from arbora.server.refusals import ConflictError
from tests.server.conftest import running, sentence, treebank


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_bytes(("\ufeff" + treebank(10)).encode())
    return path


def changed(i: int, extra: str) -> dict:
    return {"text": sentence(i, extra), "state": {"heads": [i], "accepted": True}}


def test_an_untouched_file_is_saved_byte_for_byte(bank):
    data = bank.read_bytes()
    document = Document(str(bank))
    assert document.text().encode() == data
    document.save()
    assert bank.read_bytes() == data
    document.close()


def test_changes_survive_the_process(bank):
    data = bank.read_bytes()
    first = Document(str(bank))
    assert first.change(0, 4, 1, [changed(4, "new")]) == 1
    assert first.change(1, 6, 2, [changed(6, "one")]) == 2  # two sentences become one
    assert first.change(2, 0, 1, [changed(0, "a"), changed(0, "b")]) == 3
    assert bank.read_bytes() == data  # only the journal has changed
    again = Document(str(bank))  # without closing the first, as if it had been killed
    assert again.text() == first.text()
    assert [vars(item) for item in again.items] == [vars(item) for item in first.items]
    assert again.describe()["sentences"] == 10
    assert again.describe()["accepted"] == 4
    again.save()
    assert bank.read_bytes() == first.text().encode()
    third = Document(str(bank))
    assert not third.describe()["changed"]
    assert third.items[5].state == {"heads": [4], "accepted": True}
    for one in (first, again, third):
        one.close()


def test_a_last_line_that_was_cut_off_is_dropped(bank):
    first = Document(str(bank))
    first.change(0, 1, 1, [changed(1, "kept")])
    first.change(1, 2, 1, [changed(2, "lost")])
    first.close()
    path = journal_path(bank)
    path.write_bytes(path.read_bytes()[:-7])
    again = Document(str(bank))
    assert "kept" in again.items[1].text
    assert "lost" not in again.text()
    again.change(1, 3, 1, [changed(3, "later")])
    again.close()
    third = Document(str(bank))
    assert "later" in third.items[3].text
    third.close()


def test_a_process_that_ended_between_the_two_files(bank):
    """The file was renamed, the journal was not yet: its changes are in the file already."""
    first = Document(str(bank))
    first.change(0, 1, 1, [changed(1, "new")])
    before = journal_path(bank).read_bytes()
    first.save()
    first.close()
    digest = first.describe()["base"]
    journal_path(bank).write_bytes(before + json.dumps({"saved": digest}).encode() + b"\n")
    again = Document(str(bank))
    assert again.text().encode() == bank.read_bytes()
    again.close()


def test_what_is_refused(bank, tmp_path):
    document = Document(str(bank))
    with pytest.raises(ConflictError, match="revision 0, not 3"):
        document.change(3, 0, 1, [changed(0, "")])
    for text in ("nothing", sentence(1) * 2, sentence(1)[:-1], "1\tx\n\n"):
        with pytest.raises(ArgumentError):
            document.change(0, 0, 1, [{"text": text}])
    assert document.revision == 0
    document.close()
    bank.write_bytes(b"# other\n" + bank.read_bytes()[3:])
    with pytest.raises(FileError, match=r"is not the file that bank\.conllu\.journal"):
        Document(str(bank))
    journal_path(bank).write_text("something else\n")
    with pytest.raises(FileError, match="is not a journal"):
        Document(str(bank))
    for name, content in {"empty": b"", "text": b"Some text.\n", "latin": b"1\t\xff\n\n"}.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(FileError):
            Document(str(path))
        assert not journal_path(path).exists()
    with pytest.raises(FileError):
        Document(str(tmp_path / "missing"))
    with pytest.raises(ArgumentError, match="compressed"):
        Document(str(tmp_path / "bank.conllu.gz"))


def test_the_api_of_the_open_file(client_of, bank):
    order = [Suggestion(7, 2.5, "entropy"), Suggestion(2, 1.5, "entropy", word=3)]
    client = client_of(file=str(bank), order=order)
    about = client.get("/api/document").json()
    assert about["sentences"] == 10
    assert [one["sentence"] for one in about["order"]] == [7, 2]
    page = client.get("/api/document/sentences?start=8&count=5").json()
    assert [item["key"] for item in page["items"]] == [8, 9]
    change = {"revision": 0, "start": 8, "removed": 1, "items": [changed(8, "via http")]}
    assert client.post("/api/document/changes", json=change).json() == {"revision": 1}
    assert client.post("/api/document/changes", json=change).status_code == 409
    item = client.get("/api/document/sentences?start=8").json()["items"][0]
    assert item["original"] == sentence(8)
    assert client.post("/api/document/save").json()["file"] == "bank.conllu"
    assert b"via http" in bank.read_bytes()
    with pytest.raises(ArgumentError, match="no 10"):
        client_of(file=str(bank), order=[Suggestion(10)])


def test_without_a_file(client):
    assert client.get("/api/document").status_code == 404


def post(url: str, body: dict) -> dict:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_kill_loses_at_most_the_last_action(bank):
    with running("--project", str(bank), "--time-limit", "1") as (process, url):
        port = int(url.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(b"POST /process HTTP/1.1\r\nHost: local")  # and nothing more
            slow.settimeout(20)
            assert slow.recv(100) == b""
        for i in range(5):
            change = {"revision": i, "start": i, "removed": 1, "items": [changed(i, "kept")]}
            post(f"{url}api/document/changes", change)
        process.send_signal(signal.SIGKILL)
        process.wait()
    document = Document(str(bank))
    assert document.text().count("kept") == 5
    document.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
def test_sigterm_answers_what_it_has_and_ends(tmp_path):
    errors = tmp_path / "log"
    with running(errors=errors) as (process, url):
        text = "The gulls sleep on the wall. " * 3000
        request = urllib.request.Request(
            f"{url}process", f"data={text}&tokenizer=&tagger=&parser=".encode()
        )
        found = []

        def ask():
            with urllib.request.urlopen(request) as answer:
                found.append(json.load(answer)["result"])

        thread = threading.Thread(target=ask)
        thread.start()
        while not found:  # until the request is being answered
            with urllib.request.urlopen(f"{url}metrics") as answer:
                if b"arbora_open_requests 2" in answer.read():
                    break
            time.sleep(0.01)
        process.terminate()
        thread.join(30)
        assert process.wait(30) == 0
    assert found[0].count("# sent_id") == 3000
    events = [json.loads(line) for line in errors.read_text().splitlines()]
    assert events[0]["event"] == "start"
    assert events[-1]["event"] == "end"
    asked = next(one for one in events if one["event"] == "request" and one["path"] == "/process")
    assert asked["status"] == 200
    assert asked["ms"] > 0


def test_the_command_says_what_is_wrong(tmp_path):
    command = [sys.executable, "-c", "from arbora.cli import main; main()", "serve", "--port", "0"]
    missing = ["--project", str(tmp_path / "none")]
    done = subprocess.run([*command, *missing], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "none cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    without = "import sys; sys.modules['fastapi'] = None; sys.argv = ['arbora', 'serve']; "
    done = subprocess.run(
        [sys.executable, "-c", f"{without}from arbora.cli import main; main()"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert 'pip install "arbora[server]"' in done.stderr
    with pytest.raises(FileError, match="neither a file nor an installed model"):
        make_app(["no_such_model"])
    with pytest.raises(ArgumentError, match="two models are named 'en'"):
        make_app(["en", "en=other.arbora"])


def test_the_dockerfile_is_clean():
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    file = Path(__file__).parents[2] / "Dockerfile"
    done = subprocess.run([hadolint, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
