"""`arbora draw` of text: parsed by the model, then drawn."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import arbora
from arbora.cli import app
from tests.cli.conftest import assert_one_sentence
from tests.pipeline.conftest import TEST

TEXT = "The gulls sleep on the wall. She sees them."


def run(*arguments, **options):
    return CliRunner().invoke(app, arguments, prog_name="arbora", **options)


@pytest.fixture
def expected(nlp):
    drawn = [sentence.draw(probabilities=False) for sentence in nlp(TEXT)]
    return "\n".join(f"# {one.name}\n{one.text()}\n" for one in drawn)


def test_text_is_drawn(model, expected, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    for source in (TEXT, str(tmp_path / "text.txt"), "-"):
        given = TEXT if source == "-" else None
        done = run("draw", "--model", model, source, input=given)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == expected
    second = run("draw", "--model", model, TEXT, "--sentences", "2").stdout
    assert "She" in second
    assert "gulls" not in second


def test_probabilities_and_alternatives(model, nlp):
    assert "%" not in run("draw", "--model", model, TEXT).stdout
    certain = run("draw", "--model", model, TEXT, "--probabilities").stdout
    assert certain.count("%") == sum(map(len, nlp(TEXT)))
    doubts = run("draw", "--model", model, TEXT, "--threshold", "0.001").stdout
    assert doubts.count("%") > certain.count("%")


def test_words_are_parsed_and_trees_are_not(model, tmp_path):
    words = "The gulls sleep .\n"
    lines = run("draw", "-", "--model", model, "--format", "horizontal", input=words)
    column = run(
        "draw", "-", "--model", model, "--format", "vertical", input=words.replace(" ", "\n")
    )
    assert "root" in lines.stdout
    assert lines.stdout == column.stdout
    gold = next(iter(arbora.read_conllu(TEST)))
    path = tmp_path / "gold.conllu"
    arbora.write_conllu(path, [gold])
    drawn = run("draw", str(path), "--model", "nowhere.arbora")  # which is not needed
    assert drawn.stdout == f"# {gold.sent_id}\n{gold.draw().text()}\n"


@pytest.mark.parametrize(("arguments", "part"), [
    (["   "], "the text has no sentence to draw"),
    ([TEXT, "--sentences", "3"], "the text has no sentence 3"),
    (["gulls.txt"], "gulls.txt cannot be read"),
    ([TEXT + "\udcff"], "not UTF-8"),
])  # fmt: skip
def test_mistakes(model, arguments, part):
    done = run("draw", "--model", model, *arguments)
    assert done.exit_code == 2
    assert_one_sentence(done.stderr, part)


def test_a_long_text_is_no_name_of_a_file(model):
    done = run("draw", "--model", model, "She sees them. " * 100)
    assert done.stdout.count("She") == 100
    parsed = run("parse", "--model", model, "She sees them. " * 100)
    assert parsed.stdout.count("# text = ") == 100
    assert parsed.stderr == ""  # of a typed text, no speed


def test_pictures(model, tmp_path):
    for ending in ("svg", "html", "tex", "json"):
        output = tmp_path / f"tree.{ending}"
        done = run(
            "draw", "--model", model, TEXT, "--sentences", "1", "--output", str(output),
            "--threshold", "0.01",
        )  # fmt: skip
        assert done.exit_code == 0, done.stderr
        assert "gulls" in output.read_text(encoding="utf-8")
