"""Tables of texts, CoNLL-U and sentences: the same trees as `arbora parse`, in order."""

from __future__ import annotations

import io
import pickle
from functools import lru_cache

import pytest

import arbora
from arbora import ArgumentError, DataError, TooLargeError
from arbora.data import Block, format_named, read_blocks
from arbora.data.block import CONLLU_LAYOUT
from arbora.distributed.rows import RowParser
from arbora.options import ParseOptions
from tests.small_parsers import trained
from tests.toys import TREEBANK

pa = pytest.importorskip("pyarrow", reason='the extra "arrow" is not installed')

TEXTS = ["The gulls sleep. It rains.", None, "  \n", "She saw the man.\n\nHe left.", "No."]
GOLD = (TREEBANK / "test.conllu").read_bytes()


@lru_cache
def english():
    return arbora.load("en", threads=1)


def made(parser, names, column=None, kind=None, output="sentences", skip_bad=False, **options):
    return RowParser.of(
        parser, names, column, kind, output, skip_bad, ParseOptions(**options)
    )  # fmt: skip


def as_the_command_does(parser, data, **reading):
    """What `arbora parse` writes."""
    stage = parser.stage(ParseOptions())
    return b"".join(
        format_named("conllu").writer.write(stage(chunk.block))
        for chunk in parser.chunks(io.BytesIO(data), ParseOptions(), **reading)
    )


def test_texts_to_conllu():
    table = pa.table({"id": list(range(5)), "body": TEXTS})
    found = made(english(), table.column_names, "body", output="conllu")(table)
    assert found.column_names == ["id", "body", "conllu"]
    for text, conllu in zip(TEXTS, found.column("conllu").to_pylist(), strict=True):
        if text is None or not text.strip():
            assert conllu is None
        else:
            assert conllu.encode() == as_the_command_does(english(), text.encode(), format="text")


@pytest.mark.parametrize("size", [1, 2, 5])
def test_sentences_do_not_depend_on_the_grouping_of_rows(size):
    table = pa.table({"id": list(range(5)), "body": TEXTS, "at": [0.5 * i for i in range(5)]})
    rows = made(english(), table.column_names, "body")
    found = pa.concat_tables([rows(table.slice(i, size)) for i in range(0, 5, size)])
    assert found.column_names[:4] == ["id", "at", "sentence", "sent_id"]
    assert found.column("id").to_pylist() == [0, 0, 3, 3, 4]
    assert found.column("sentence").to_pylist() == [1, 2, 1, 2, 1]
    assert found.column("at").to_pylist() == [0.0, 0.0, 1.5, 1.5, 2.0]
    forms = found.column("form").to_pylist()
    assert forms[0] == ["The", "gulls", "sleep", "."]
    for heads in found.column("head").to_pylist():
        assert heads.count(0) == 1


def test_a_row_of_many_sentences_is_the_file():
    data = GOLD * 8  # more than a block
    table = pa.table({"c": [data.decode(), GOLD.decode()]})
    found = made(trained(), ["c"], "c", "conllu", "conllu")(table).column("conllu").to_pylist()
    assert found[0].encode() == as_the_command_does(trained(), data)
    assert found[1].encode() == as_the_command_does(trained(), GOLD)
    table = pa.table({"bytes": [GOLD]})
    numbers = made(trained(), ["bytes"], "bytes", "conllu")(table).column("sentence").to_pylist()
    assert numbers == list(range(1, len(numbers) + 1))


def test_tables_of_sentences(tmp_path):
    from arbora.data.parquet import sentence_text, write_parquet

    write_parquet(tmp_path / "x.parquet", (chunk.block for chunk in read_blocks(io.BytesIO(GOLD))))
    table = pa.parquet.read_table(tmp_path / "x.parquet")
    empty = pa.Table.from_pylist([{"form": None}, {"form": []}], table.schema)
    whole = pa.concat_tables([table, empty])
    whole = whole.append_column("id", pa.array(range(whole.num_rows)))
    found = made(trained(), whole.column_names)(whole)
    assert found.column("id").to_pylist() == list(range(whole.num_rows))
    text = b"".join(
        sentence_text(row, "", i) for i, row in enumerate(found.to_pylist()[: table.num_rows])
    )
    assert text == as_the_command_does(trained(), GOLD)
    assert len(Block(text, CONLLU_LAYOUT)) == table.num_rows


def test_bad_rows():
    table = pa.table({"c": [GOLD.decode(), "1\tbroken\n\n"]})
    with pytest.raises(DataError, match="the row that begins with '1\\\\tbroken', line 1"):
        made(trained(), ["c"], "c", "conllu")(table)
    found = made(trained(), ["c"], "c", "conllu", "conllu", skip_bad=True)(table)
    assert found.column("conllu").null_count == 1
    long = pa.table({"t": ["Word " * 50 + ".", "It rains."]})
    with pytest.raises(TooLargeError, match=r"begins with 'Word Word.*the limit is 10"):
        made(english(), ["t"], "t", max_words=10)(long)
    kept = made(english(), ["t"], "t", skip_bad=True, max_words=10)(long)
    assert kept.column("form").to_pylist() == [["It", "rains", "."]]


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        (["x"], {}, "neither a column form nor a column text"),
        (["x"], {"column": "y"}, "no column y: it has x"),
        (["x", "head"], {"column": "x"}, "has a column head, which parsing adds"),
        (["x"], {"column": "x", "kind": "ptb"}, "format must be text or conllu"),
        (["x"], {"column": "x", "output": "trees"}, "output must be sentences or conllu"),
        (["form"], {"kind": "text"}, "format requires column"),
        (["text"], {"kbest": 2}, "kbest gives several trees"),
        (["text"], {"samples": 2}, "samples gives several trees"),
        (["text"], {"tag_samples": 2}, "tag_samples gives several trees"),
    ],
)
def test_bad_settings(names, settings, message):
    with pytest.raises(ArgumentError, match=message):
        made(english(), names, **settings)


def test_models_without_a_segmenter_take_no_text():
    with pytest.raises(ArgumentError, match="has no segmenter"):
        made(trained(), ["text"])


def test_row_parsers_are_pickled_with_their_model():
    rows = made(english(), ["text"], output="conllu")
    again = pickle.loads(pickle.dumps(rows))
    table = pa.table({"text": ["It rains."]})
    assert again(table).equals(rows(table))
