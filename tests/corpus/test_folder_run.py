"""Many files into a folder: resuming, shards, failures, refusals, signals."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from arbora import ArgumentError, FileError
from arbora.cli import app
from arbora.corpus.files import corpus_files
from arbora.corpus.folder_run import FileFigures, FolderRun, output_name, sharded
from arbora.data.output import open_output
from tests.small_parsers import sentences, trained
from tests.toys import TREEBANK

PRINT = {"model": "m", "probabilities": False}


@pytest.fixture
def inputs(tmp_path):
    """A small tree of files."""
    folder = tmp_path / "in"
    (folder / "b").mkdir(parents=True)
    for name in ("a.txt", "b/x.conllu", "b/y.conllu.gz", ".hidden"):
        (folder / name).write_bytes(f"text of {name}".encode())
    return folder


def copy(source, target):
    """Stands for a parser."""
    with open_output(target) as write:
        write(source.read_bytes().upper())
    return FileFigures(sentences=1, words=3)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_output_mirrors_the_input(inputs, tmp_path):
    summary = FolderRun(tmp_path / "out", PRINT).parse(corpus_files([inputs]), copy)
    assert (summary.files, summary.parsed, summary.words) == (3, 3, 9)
    names = [name for name in contents(tmp_path / "out") if not name.startswith(".")]
    assert names == ["a.conllu", "b/x.conllu", "b/y.conllu.gz", "manifest.jsonl"]
    lines = (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()
    assert [json.loads(line)["input"] for line in lines] == ["a.txt", "b/x.conllu", "b/y.conllu.gz"]


def test_an_interrupted_run_ends_with_the_same_bytes(inputs, tmp_path):
    files = corpus_files([inputs])
    FolderRun(tmp_path / "whole", PRINT).parse(files, copy)
    calls = []

    def stopping(source, target):
        calls.append(source.name)
        if len(calls) == 2:
            with open_output(target) as write:
                write(b"half")
                raise KeyboardInterrupt
        return copy(source, target)

    with pytest.raises(KeyboardInterrupt):
        FolderRun(tmp_path / "parts", PRINT).parse(files, stopping)
    assert "b/x.conllu" not in contents(tmp_path / "parts")
    assert not [name for name in contents(tmp_path / "parts") if name.endswith(".tmp")]
    again = FolderRun(tmp_path / "parts", PRINT).parse(files, copy)
    assert (again.finished_before, again.parsed) == (1, 2)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_changed_inputs_and_outputs_are_parsed_again(inputs, tmp_path):
    run, files = FolderRun(tmp_path / "out", PRINT), corpus_files([inputs])
    run.parse(files, copy)
    (inputs / "a.txt").write_bytes(b"another text")
    (tmp_path / "out" / "b" / "x.conllu").write_bytes(b"damaged")
    summary = run.parse(files, copy)
    assert (summary.finished_before, summary.parsed) == (1, 2)
    assert (tmp_path / "out" / "a.conllu").read_bytes() == b"ANOTHER TEXT"


def test_a_bad_file_does_not_stop_the_others(inputs, tmp_path):
    def failing(source, target):
        if source.name == "x.conllu":
            raise FileError("x.conllu cannot be read: it is damaged.")
        return copy(source, target)

    summary = FolderRun(tmp_path / "out", PRINT).parse(corpus_files([inputs]), failing)
    assert summary.parsed == 2
    assert summary.failed == {"b/x.conllu": "x.conllu cannot be read: it is damaged."}


def test_a_full_disk_stops_the_run(inputs, tmp_path):
    def full(*_):
        raise FileError("no space") from OSError(28, "No space left on device")

    with pytest.raises(FileError, match="no space"):
        FolderRun(tmp_path / "out", PRINT).parse(corpus_files([inputs]), full)


def test_folders_of_others_are_refused(inputs, tmp_path):
    FolderRun(tmp_path / "out", PRINT).parse(corpus_files([inputs]), copy)
    before = contents(tmp_path / "out")
    with pytest.raises(ArgumentError, match="belongs to a run with another model"):
        FolderRun(tmp_path / "out", PRINT | {"model": "n"})
    with pytest.raises(ArgumentError, match="belongs to a run without probabilities"):
        FolderRun(tmp_path / "out", PRINT | {"probabilities": True})
    FolderRun(tmp_path / "seeded", PRINT | {"seed": 1})
    with pytest.raises(ArgumentError, match="belongs to a run with seed=1"):
        FolderRun(tmp_path / "seeded", PRINT | {"seed": 2})
    assert contents(tmp_path / "out") == before
    with pytest.raises(FileError, match=r"has other files in it, such as \.hidden"):
        FolderRun(inputs, PRINT)
    with pytest.raises(FileError, match="is not a folder"):
        FolderRun(inputs / "a.txt", PRINT)
    (tmp_path / "out" / ".arbora" / "run.json").write_bytes(b"{")
    with pytest.raises(FileError, match="is damaged"):
        FolderRun(tmp_path / "out", PRINT)


def test_shards_are_a_partition(inputs):
    files = corpus_files([inputs])
    parts = [sharded(files, f"{i}/2") for i in (1, 2)]
    assert sorted(file.name for part in parts for file in part) == [file.name for file in files]
    for wrong in ("0/2", "3/2", "x", "1/0", "1"):
        with pytest.raises(ArgumentError, match="a shard is written as i/n"):
            sharded(files, wrong)


def test_names_of_outputs(inputs):
    assert output_name("a/b.txt.gz") == "a/b.conllu.gz"
    assert output_name("a/b.conll", "xz") == "a/b.conll.xz"
    assert output_name("b.txt.zst", "none") == "b.conllu"
    with pytest.raises(ArgumentError, match="there is no compression 'rar'"):
        output_name("x", "rar")
    (inputs / "a.conllu").write_bytes(b"x")
    with pytest.raises(ArgumentError, match="would both be written to"):
        FolderRun(inputs.parent / "out", PRINT).parse(corpus_files([inputs]), copy)
    with pytest.raises(ArgumentError, match="have the same name"):
        corpus_files([inputs, inputs / "a.txt"])
    with pytest.raises(FileError, match="no such file"):
        corpus_files([inputs / "none"])


def command(*arguments):
    return [sys.executable, "-m", "arbora", "parse", *map(str, arguments), "--threads", "1"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Compressed and plain files, text, and a broken one."""
    folder = tmp_path_factory.mktemp("corpus")
    text = (TREEBANK / "test.conllu").read_bytes()
    (folder / "plain.conllu").write_bytes(text)
    (folder / "one.conllu.gz").write_bytes(gzip.compress(text, mtime=0))
    (folder / "two.conllu.bz2").write_bytes(bz2.compress(text))
    (folder / "three.conllu.xz").write_bytes(lzma.compress(text))
    (folder / "text.txt").write_bytes(b"The gulls sleep on the wall. It rains.\n")
    (folder / "bad.conllu").write_bytes(b"1\tbroken\n\n")
    return folder


def test_the_command_parses_a_folder(corpus, tmp_path):
    done = subprocess.run(
        command(corpus, "--output-dir", tmp_path / "out", "--json", "--log-file", tmp_path / "log"),
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["parsed"] == 5
    assert list(summary["failed"]) == ["bad.conllu"]
    assert "line 1" in summary["failed"]["bad.conllu"]
    assert b"bad.conllu" in (tmp_path / "log").read_bytes()
    alone = subprocess.run(command(corpus / "plain.conllu"), capture_output=True, check=True)
    out = tmp_path / "out"
    assert (out / "plain.conllu").read_bytes() == alone.stdout
    assert gzip.decompress((out / "one.conllu.gz").read_bytes()) == alone.stdout
    assert bz2.decompress((out / "two.conllu.bz2").read_bytes()) == alone.stdout
    assert lzma.decompress((out / "three.conllu.xz").read_bytes()) == alone.stdout
    assert b"# text = It rains." in (out / "text.conllu").read_bytes()
    other = subprocess.run(
        command(corpus, "--output-dir", out, "--probabilities"), capture_output=True, check=False
    )
    assert other.returncode == 2
    assert b"belongs to a run without --probabilities" in other.stderr


def test_an_output_folder_within_the_input_is_refused(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.conllu").write_bytes((TREEBANK / "test.conllu").read_bytes())
    trained().save(tmp_path / "m.arbora")
    model = ["--model", str(tmp_path / "m.arbora")]
    for inputs, out in ((folder, folder / "out"), (folder, folder), (folder / "a.conllu", folder)):
        done = CliRunner().invoke(app, ["parse", str(inputs), "--output-dir", str(out), *model])
        assert done.exit_code == 2
        assert "choose another one" in " ".join(done.stderr.split())
    assert [path.name for path in folder.rglob("*")] == ["a.conllu"]


def test_logs_are_those_of_folders():
    for option in (["-v"], ["--log-file", "log"], ["--shard", "1/2"]):
        done = CliRunner().invoke(app, ["parse", str(TREEBANK / "test.conllu"), *option])
        assert done.exit_code == 2
        assert "require --output-dir" in " ".join(done.stderr.split())


def test_parquet_files_stay_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason='the extra "arrow" is not installed')
    from arbora.data import read_blocks
    from arbora.data.parquet import read_parquet, write_parquet

    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    trained().save(tmp_path / "m.arbora")
    write_parquet(
        folder / "x.parquet", [chunk.block for chunk in read_blocks(TREEBANK / "test.conllu")]
    )
    done = CliRunner().invoke(
        app, ["parse", str(folder), "--output-dir", str(out), "--model", str(tmp_path / "m.arbora")]
    )
    assert done.exit_code == 0
    (block,) = read_parquet(out / "x.parquet")
    alone = trained().parse(list(sentences("test")))
    assert block.texts(0, len(block)) == b"".join(map(bytes, alone))


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_leave_nothing_half_done(number, tmp_path):
    trained().save(tmp_path / "m.arbora")
    model = ["--model", tmp_path / "m.arbora"]
    folder = tmp_path / "in"
    folder.mkdir()
    text = (TREEBANK / "train.conllu").read_bytes() * 60
    (folder / "a.conllu").write_bytes((TREEBANK / "test.conllu").read_bytes())
    (folder / "b.conllu").write_bytes(text)
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(folder, "--output-dir", out, "--quiet", *model), stderr=subprocess.DEVNULL
    )
    for _ in range(600):  # until the second file is being written
        if list(out.glob(".b.conllu.*.tmp")) or process.poll() is not None:
            break
        time.sleep(0.05)
    assert process.poll() is None
    process.send_signal(number)
    status = process.wait(30)
    assert status == {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}[number]
    left = list(out.glob(".b.conllu.*.tmp"))
    assert len(left) == (1 if number == signal.SIGKILL else 0)
    assert not (out / "b.conllu").exists()
    assert (out / "a.conllu").exists()
    if number == signal.SIGKILL:  # the next run sweeps up
        (folder / "b.conllu").write_bytes((TREEBANK / "test.conllu").read_bytes())
        done = subprocess.run(
            command(folder, "--output-dir", out, "--json", *model), capture_output=True, check=True
        )
        assert json.loads(done.stdout)["finished_before"] == 1
        assert not list(out.glob(".*.tmp"))
        assert (out / "b.conllu").read_bytes() == (out / "a.conllu").read_bytes()
