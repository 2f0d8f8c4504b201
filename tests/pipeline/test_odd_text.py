"""Text of any kind: offsets point at the words, and what is no text is refused in a sentence."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from arbora import ArboraError
from arbora.cli import app
from tests.cli.conftest import assert_one_sentence

PLAIN = "The gulls sleep. She doesn't see the boat!"
FAMILY = "👩‍👩‍👧‍👦"
ODD_TEXTS = {
    "Windows line ends": "The gulls sleep.\r\nShe sees them.\r\n\r\nA boat.\r\n",
    "emoji": f"I see {FAMILY} and 🇫🇷. Ok 👍🏽!",
    "combining marks": "Cafe\u0301 a\u0308a\u0308 e\u0301.\u0301 Yes.",
    "an unknown script": "Ես սիրում եմ քեզ։ Դա լավ է։",  # noqa: RUF001  # Armenian
    "right to left": "أنا أحب القراءة. هذا جيد.",
    "without spaces": "私は本を読む。彼女は見る。",
    "other spaces": "The\u00a0gulls\u2003sleep.\u2028She\u3000sees\x85them.",
    "controls": "a\x01b \x7f c\u200bd \ufeff.",
    "one letter": "a",
    "a long word": "a" * 3000,
    "no full stop": "the gulls sleep on the wall " * 60,
}


def run(*arguments, **options):
    return CliRunner().invoke(app, arguments, prog_name="arbora", **options)


def squeezed(text):
    return "".join(text.split())


def assert_in_place(document):
    """Every word is where its offsets say, and no character is lost but a byte order mark."""
    covered, last = "", int(document.text.startswith("\ufeff"))
    for sentence, places in zip(document, document.offsets, strict=True):
        assert places.shape == (len(sentence), 2)
        tokens = []
        for form, place in zip(sentence.forms, places.tolist(), strict=True):
            if not tokens or tokens[-1][0] != place:
                tokens.append((place, []))
            tokens[-1][1].append(form)
        for (start, end), forms in tokens:
            assert last <= start < end <= len(document.text)
            token = document.text[start:end]
            if len(forms) == 1:
                assert forms == [token]
            assert not any(c.isspace() for c in token)
            assert squeezed(document.text[last:start]) == ""
            covered, last = covered + token, end
        assert sorted(np.flatnonzero(sentence.heads == 0).tolist()) != []
    assert squeezed(document.text[last:]) == ""
    assert covered == squeezed(document.text.removeprefix("\ufeff"))


letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
mixed = st.lists(
    st.sampled_from(
        [*PLAIN.split(), "don't", FAMILY, "é", "e\u0301", "。", "\r\n", "\n\n", "\u3000"]
    )
    | letters,
    max_size=8,
).map(" ".join)


@pytest.mark.filterwarnings("ignore::arbora.errors.DataWarning")
@settings(max_examples=200, deadline=None)
@given(text=letters | mixed)
@example(text="#")
@example(text="\ufeffThe gulls.")
@example(text="1\tThe\tthe")
def test_offsets_point_at_the_words(nlp, text):
    assert_in_place(nlp(text))


@pytest.mark.filterwarnings("ignore::arbora.errors.DataWarning")
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_texts(nlp, model, name, tmp_path):
    text = ODD_TEXTS[name]
    document = nlp(text)
    assert_in_place(document)
    (tmp_path / "text.txt").write_bytes(text.encode())
    path = str(tmp_path / "text.txt")
    parsed = run("parse", "--model", model, path, "--format", "text")
    assert parsed.exit_code == 0, parsed.stderr
    assert parsed.stdout.count("\n# text = ") == len(document)
    drawn = run("draw", "--model", model, path, "--format", "text", "--probabilities")
    assert drawn.exit_code == 0, drawn.stderr
    assert "root" in drawn.stdout


def test_marks_stay_with_their_letters(nlp):
    for name in ("combining marks", "emoji", "right to left"):
        for sentence in nlp(ODD_TEXTS[name]):
            assert not any(unicodedata.category(form[0]).startswith("M") for form in sentence.forms)
    assert FAMILY in nlp(ODD_TEXTS["emoji"])[0].forms


@pytest.mark.parametrize(("data", "part"), [
    (np.random.default_rng(1).bytes(50_000), "UTF-8"),
    ("Un café noir.".encode("latin-1"), "UTF-8"),
    ("The gulls sleep.".encode("utf-16"), ""),
    (b"The gulls\0 sleep.", "NUL"),
    (b"The gulls sleep \xf0\x9f\x91", "UTF-8"),
    (b"\x7fELF\x02\x01\x01\0\0\0\0\0", ""),
])  # fmt: skip
def test_what_is_no_text(model, tmp_path, data, part):
    (tmp_path / "file").write_bytes(data)
    path = str(tmp_path / "file")
    for command in ("parse", "draw"):
        for how in ([], ["--format", "text"]):
            done = run(command, "--model", model, path, *how)
            assert done.exit_code == 2
            assert_one_sentence(done.stderr, "file", part if how else "")
            piped = run(command, "--model", model, "-", *how, input=data)
            assert piped.exit_code == 2
            assert_one_sentence(piped.stderr)


@pytest.mark.parametrize("text", ["", " ", " \n\t\r\n", "\u3000"])
def test_nothing(nlp, model, text, tmp_path):
    assert len(nlp(text)) == 0
    (tmp_path / "text.txt").write_text(text, encoding="utf-8", newline="")
    for source in (text, str(tmp_path / "text.txt")):
        done = run("parse", "--model", model, source)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
        drawn = run("draw", "--model", model, source)
        assert drawn.exit_code == 2
        assert_one_sentence(drawn.stderr, "has no sentence to draw")


def test_half_of_a_pair(nlp):
    with pytest.raises(ArboraError, match="surrogate"):
        nlp("a \ud83d b")
    with pytest.raises(ArboraError, match="character 2 of the text is NUL"):
        nlp("a\0b")
