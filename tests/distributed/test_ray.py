"""Ray: the same bytes and answers as without it; workers that are killed; bad input."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import sys
import threading
import time
from importlib.util import find_spec

import pytest
from typer.testing import CliRunner

from arbora import ArboraError, ArgumentError, FileError
from arbora.cli import app
from arbora.cli.cluster_options import with_ray_address
from arbora.corpus import count, grep
from arbora.corpus.file_parser import FileParser
from arbora.corpus.files import corpus_files
from arbora.corpus.folder_run import FolderRun
from arbora.data import read_blocks
from arbora.distributed import requirements
from arbora.options import ParseOptions
from arbora.parsers import tune
from arbora.reproduction import reproduce
from tests.distributed.conftest import check_page, contents
from tests.reproduction.test_reproduce import RECIPE
from tests.small_parsers import trained
from tests.toys import TREEBANK

pytestmark = [
    pytest.mark.skipif(
        find_spec("ray") is None,  # it is not imported: Ray reads its environment then
        reason='the extra "ray" is not installed: pip install "arbora[ray]"',
    ),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:::ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray's sockets and log files
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

GOLD = (TREEBANK / "test.conllu").read_bytes()
MIB = 1 << 20


@pytest.fixture(scope="module")
def ray():
    from arbora.distributed.ray import ray_cluster

    with ray_cluster("local") as package:
        package.data.DataContext.get_current().enable_progress_bars = False
        yield package


@pytest.fixture
def spread(ray):  # noqa: ARG001  # it must run
    from arbora.distributed.ray import RaySpread

    return RaySpread(memory=100 * MIB)


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.usefixtures("ray")
def test_folders_have_the_same_bytes(corpus, model, tmp_path):
    plain, cluster = tmp_path / "plain", tmp_path / "ray"
    shared = ["parse", corpus, "--model", model, "--json", "--output-dir"]
    summaries = [
        json.loads(invoke(*shared, plain).stdout),
        json.loads(invoke(*shared, cluster, "--ray", "--worker-memory", 100).stdout),
    ]
    for summary in summaries:
        del summary["seconds"], summary["words_per_second"]
        assert summary["parsed"] == 4
        assert list(summary["failed"]) == ["bad.conllu"]
    assert summaries[0] == summaries[1]
    assert contents(plain) == contents(cluster)
    again = json.loads(invoke(*shared, cluster, "--ray").stdout)
    assert (again["finished_before"], again["parsed"]) == (4, 0)
    other = invoke(*shared, cluster, "--ray", "--probabilities")
    assert other.exit_code == 2
    assert "belongs to a run without probabilities" in other.stderr
    assert contents(plain) == contents(cluster)


def test_a_killed_worker_changes_nothing(spread, tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for name in "abc":
        (source / f"{name}.conllu").write_bytes((TREEBANK / "train.conllu").read_bytes() * 20)
    parse_file, files = FileParser(trained(), ParseOptions()), corpus_files([source])
    FolderRun(tmp_path / "plain", {}).parse(files, parse_file)
    killed: list[int] = []

    def kill_the_first_that_writes():
        while not killed:
            for path in out.glob(".*.tmp"):
                process = int(path.name.rsplit(".", 3)[1].partition("-")[2])
                if process != os.getpid():
                    killed.append(process)
                    os.kill(process, signal.SIGKILL)
                    return
            time.sleep(0.01)

    thread = threading.Thread(target=kill_the_first_that_writes, daemon=True)
    thread.start()
    summary = FolderRun(out, {}).parse(files, parse_file, spread=spread)
    thread.join(1)
    assert killed
    assert (summary.parsed, summary.failed) == (3, {})
    assert contents(out) == contents(tmp_path / "plain")


def ends(how, _):
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise ArboraError("an error.")


@pytest.mark.usefixtures("ray")
def test_tasks_that_fail():
    from arbora.distributed.ray import RaySpread

    spread = RaySpread(memory=50 * MIB, retries=1)
    ((_, answer),) = spread(ends, "error", [0])
    assert str(answer) == "an error."
    ((_, answer),) = spread(ends, "killed", [0])
    assert str(answer).startswith("its worker ended by itself 2 times, for lack of memory perhaps")


def test_counts_and_searches_are_the_same(spread, tmp_path):
    for name, part in (("a", "test"), ("b", "dev"), ("c", "test")):
        (tmp_path / f"{name}.conllu").write_bytes((TREEBANK / f"{part}.conllu").read_bytes())
    with (tmp_path / "d.conllu").open("wb") as file:
        file.write(b"1\tbroken\n\n" + GOLD)
    pattern, told, errors = "[upos=VERB] -obj-> []", [], []
    how = {"by": "lemma", "skip_bad": True}
    here = count(trained(), tmp_path, pattern, **how)
    there = count(
        trained(), tmp_path, pattern, **how, spread=spread, on_block=told.append,
        on_error=errors.append,
    )  # fmt: skip
    assert here == there
    assert sum(told) == here.sentences
    assert [(error.line, type(error).__name__) for error in errors] == [(1, "DataError")]
    how = {"most": 7, "skip_bad": True}
    assert grep(trained(), tmp_path, pattern, **how) == grep(
        trained(), tmp_path, pattern, **how, spread=spread
    )


@pytest.mark.usefixtures("ray")
def test_count_and_grep_on_the_command_line(corpus, model):
    for command in ("count", "grep"):
        asked = [command, corpus / "deep", corpus / "a.conllu", "[] -nsubj-> []", "--model", model]
        here, there = invoke(*asked, "--json"), invoke(*asked, "--json", "--ray")
        assert here.exit_code == there.exit_code == 0
        assert here.stdout == there.stdout
    refused = invoke("count", "-", "[]", "--ray")
    assert refused.exit_code == 2
    assert "--ray takes files and folders" in refused.stderr


def test_trials_are_the_same(spread):
    grid = {"regularization": [1e6, 0.1], "batch_size": [16]}
    small = {"bits": 14, "label_bits": 6, "passes": 1, "threads": 1}
    paths, results = (TREEBANK / "train.conllu", TREEBANK / "dev.conllu"), []
    here = tune(*paths, grid, **small)
    there = tune(*paths, grid, **small, spread=spread, on_result=results.append)
    assert [one.options for one in here.trials] == [one.options for one in there.trials]
    assert [one.las for one in here.trials] == [one.las for one in there.trials]
    assert len(results) == 2
    weights = [one.parser.model.scorer.weights for one in (here, there)]
    assert (weights[0] == weights[1]).all()
    with pytest.raises(ArboraError, match="no word has a head"):
        tune([], grid={"passes": [1]}, spread=spread)


def test_reproductions_are_the_same(spread, tmp_path):
    recipe = tmp_path / "small.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    for name, where in (("here", None), ("there", spread)):
        reproduce(
            str(recipe), TREEBANK, quick=True, tables=["2"], out=tmp_path / name, command="test",
            spread=where,
        )  # fmt: skip
    for name in ("small.json", "small-2.svg"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


@pytest.mark.usefixtures("ray")
def test_commands_that_train(tmp_path):
    done = invoke(
        "tune", TREEBANK / "dev.conllu", "--grid", "batch-size=4,16", "--passes", 1, "--bits", 12,
        "--learner", "perceptron", "--model", tmp_path / "m.arbora", "--ray",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "trial 2" in done.stderr
    refused = invoke("reproduce", "koo2007", "--treebanks", tmp_path, "--ray", "--jobs", 2)
    assert refused.exit_code == 2
    assert "leave it out with --ray" in refused.stderr


def test_datasets(ray, tmp_path):
    from arbora.data.parquet import write_parquet
    from arbora.distributed import ray as on_ray

    data, parser = ray.data, trained()
    whole = b"".join(map(bytes, parser.parse(TREEBANK / "test.conllu")))
    write_parquet(
        tmp_path / "in.parquet", (chunk.block for chunk in read_blocks(TREEBANK / "test.conllu"))
    )
    sentences = data.read_parquet(str(tmp_path / "in.parquet"))
    parsed = on_ray.parse(sentences, parser, batch_size=10, memory=100 * MIB)
    on_ray.write_conllu(parsed, tmp_path / "out")
    parts = sorted((tmp_path / "out").iterdir())
    assert parts[0].name == "part-000000.conllu"
    assert b"".join(path.read_bytes() for path in parts) == whole
    with pytest.raises(FileError, match="choose another output folder"):
        on_ray.write_conllu(parsed, tmp_path / "out")
    for name in ("a", "b"):
        (tmp_path / f"{name}.conllu.gz").write_bytes(gzip.compress(GOLD))
    files = on_ray.read_conllu([tmp_path / "a.conllu.gz", tmp_path / "b.conllu.gz"])
    rows = on_ray.parse(
        files, parser, column="bytes", format="conllu", output="conllu", workers=1,
        memory=100 * MIB,
    ).take_all()  # fmt: skip
    assert [row["conllu"].encode() == whole for row in rows] == [True, True]
    assert [os.path.basename(row["path"])[0] for row in rows] == ["a", "b"]  # noqa: PTH119
    texts = data.from_items(
        [{"id": i, "text": f"Gull {i} sleeps. It rains."} for i in range(60)], override_num_blocks=6
    )
    rows = on_ray.parse(texts, "en", batch_size=7, workers=2, memory=100 * MIB).take_all()
    assert [row["id"] for row in rows] == [i for i in range(60) for _ in range(2)]
    with pytest.raises(ArgumentError, match="takes a dataset of Ray Data, not list"):
        on_ray.parse([], parser)


@pytest.mark.usefixtures("ray")
def test_the_page():
    check_page("Datasets on Ray")


def test_the_local_cluster_is_private(ray):
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    if sys.platform != "linux":
        pytest.skip("sockets are listed as in Linux")
    address = ray.get_runtime_context().gcs_address
    assert address.startswith("127.0.0.1:")


@pytest.mark.usefixtures("ray")
def test_bad_input(corpus, tmp_path):
    from arbora.distributed.ray import RaySpread, ray_cluster

    with pytest.raises(ArgumentError, match="no node of the Ray cluster has 1 free cores"):
        next(RaySpread(memory=10**18)(ends, "", [0]))
    with pytest.raises(ArgumentError, match="connected to a Ray cluster already"):
        next(iter(ray_cluster("127.0.0.1:9").gen))
    for arguments, message in [
        (["parse", "x", "--ray"], "--ray requires --output-dir"),
        (["parse", corpus, "--output-dir", tmp_path / "o", "--worker-memory", 5],
         "--worker-memory requires --ray"),
        (["parse", corpus, "--output-dir", tmp_path / "o", "--ray", "--model", "en", "--model",
          "en"], "--ray takes one model"),
    ]:  # fmt: skip
        done = invoke(*arguments)
        assert done.exit_code == 2
        assert message in done.stderr
        assert not (tmp_path / "o").exists()


def test_versions_and_missing_packages(monkeypatch):
    for package, found in (("ray", "2.9.3"), ("pyspark", "3.5.1")):
        monkeypatch.setattr(requirements, "version", lambda _, found=found: found)
        with pytest.raises(ArgumentError, match=rf"or later, and {found} is installed"):
            requirements.required(package)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ArgumentError, match=r'pip install "arbora\[ray\]"'):
        requirements.required("ray")


def test_nothing_listens(tmp_path, corpus, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    done = invoke("parse", corpus, "--output-dir", tmp_path / "o", "--ray", f"127.0.0.1:{port}")
    assert done.exit_code == 2
    assert f"there is no Ray cluster at 127.0.0.1:{port}" in done.stderr
    assert not (tmp_path / "o").exists()
    done = invoke("parse", corpus, "--output-dir", tmp_path / "o", "--ray=nowhere")
    assert done.exit_code == 2
    assert "a Ray cluster has an address HOST:PORT or auto, not 'nowhere'" in done.stderr


def test_the_address_may_be_left_out(tmp_path):
    (tmp_path / "a:b").write_bytes(b"")
    for given, wanted in [
        (["--ray"], ["--ray=local"]),
        (["--ray", "in", "x"], ["--ray=local", "in", "x"]),
        (["--ray", "host:6379", "in"], ["--ray=host:6379", "in"]),
        (["in", "--ray", "auto"], ["in", "--ray=auto"]),
        (["--ray", "--quiet"], ["--ray=local", "--quiet"]),
        (["--ray", str(tmp_path / "a:b")], ["--ray=local", str(tmp_path / "a:b")]),
        (["--ray=x:1", "--", "--ray"], ["--ray=x:1", "--", "--ray"]),
    ]:
        assert with_ray_address(given) == wanted
