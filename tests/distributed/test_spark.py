"""Spark: data frames and SQL give the trees of `arbora parse`, also if a worker is killed.

Spark needs Java 17 or later: `apt-get install openjdk-17-jre-headless` on Debian and Ubuntu.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from importlib.util import find_spec

import pytest

from arbora import ArgumentError
from tests.distributed.conftest import check_page
from tests.small_parsers import trained
from tests.toys import TREEBANK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("pyspark") is None,
        reason='the extra "spark" is not installed: pip install "arbora[spark]"',
    ),
    pytest.mark.skipif(
        shutil.which("java") is None,
        reason="there is no Java: apt-get install openjdk-17-jre-headless",
    ),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # of pandas 3
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
GOLD = (TREEBANK / "test.conllu").read_bytes()


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2,3]")  # a task may fail twice
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    if before is None:
        del os.environ["PYSPARK_PYTHON"]


@pytest.fixture(scope="module")
def whole():
    return b"".join(map(bytes, trained().parse(TREEBANK / "test.conllu")))


def test_conllu(spark, whole):
    from arbora.distributed import spark as on_spark

    frame = spark.createDataFrame([(i, GOLD.decode()) for i in range(6)], ["id", "file"])
    found = on_spark.parse(frame, trained(), column="file", format="conllu", output="conllu")
    assert found.columns == ["id", "file", "conllu"]
    rows = found.collect()
    assert [row.id for row in rows] == list(range(6))
    assert [row.conllu.encode() == whole for row in rows] == [True] * 6


def test_sentences(spark, whole, tmp_path):
    from arbora.data import read_blocks
    from arbora.data.parquet import sentence_text, write_parquet
    from arbora.distributed import spark as on_spark

    write_parquet(
        tmp_path / "x.parquet", (chunk.block for chunk in read_blocks(TREEBANK / "test.conllu"))
    )
    found = on_spark.parse(spark.read.parquet(str(tmp_path / "x.parquet")), trained())
    rows = [row.asDict(recursive=True) for row in found.collect()]
    assert b"".join(sentence_text(row, "", i) for i, row in enumerate(rows)) == whole


def test_texts_and_sql(spark):
    import arbora
    from arbora.distributed import spark as on_spark

    texts = [(i, f"Gull {i} sleeps. It rains.", 0.5 * i) for i in range(40)]
    frame = spark.createDataFrame([*texts, (40, None, None)], ["id", "body", "at"])
    found = on_spark.parse(frame, "en", column="body")
    assert found.columns[:4] == ["id", "at", "sentence", "sent_id"]
    rows = found.collect()
    assert [row.id for row in rows] == [i for i in range(40) for _ in range(2)]
    assert [row.sentence for row in rows] == [1, 2] * 40
    function = on_spark.register(spark, "en")
    frame.createOrReplaceTempView("posts")
    nlp = arbora.load("en", threads=1)
    for row in spark.sql("SELECT body, arbora_parse(body) AS tree FROM posts").collect():
        assert row.tree == (None if row.body is None else str(nlp(row.body)))
    assert frame.select(function("body")).count() == 41


def test_a_killed_worker_changes_nothing(spark, whole, tmp_path):
    from arbora.distributed import spark as on_spark

    mark = str(tmp_path / "killed")

    def killing(batches):
        """Ends the first worker process by its own number, in the middle of its rows."""
        for number, batch in enumerate(batches):
            if number == 1:
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    time.sleep(0.1)
                    os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2")
    try:
        frame = spark.createDataFrame([(i, GOLD.decode()) for i in range(12)], ["id", "file"])
        frame = frame.mapInArrow(killing, frame.schema)
        found = on_spark.parse(frame, trained(), column="file", format="conllu", output="conllu")
        rows = found.collect()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert os.path.exists(mark)  # noqa: PTH110
    assert [row.id for row in rows] == list(range(12))
    assert {row.conllu.encode() == whole for row in rows} == {True}


def test_bad_input(spark):
    from arbora.distributed import spark as on_spark

    with pytest.raises(ArgumentError, match="takes a data frame of Spark, not list"):
        on_spark.parse([], trained())
    with pytest.raises(ArgumentError, match="takes a session of Spark, not str"):
        on_spark.register("session", trained())
    frame = spark.createDataFrame([("x",)], ["body"])
    with pytest.raises(ArgumentError, match="neither a column form nor a column text"):
        on_spark.parse(frame, "en")
    with pytest.raises(ArgumentError, match="no segmenter"):
        on_spark.parse(frame, trained(), column="body")


@pytest.mark.usefixtures("spark")
def test_the_page():
    check_page("Spark")
