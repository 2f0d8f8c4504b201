"""`arbora cluster`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from arbora.features import read_clusters


@pytest.fixture
def vectors(files, rng):
    """Vectors of 40 words in the current folder, words of the treebank among them."""
    words = ["the", "cat", "sleeps", "who", "sang", *(f"w{i}" for i in range(35))]
    rows = np.round(rng.standard_normal((40, 4)), 3)
    lines = [f"{w} {' '.join(map(str, row))}" for w, row in zip(words, rows.tolist(), strict=True)]
    path = files / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_cluster(run, vectors):  # noqa: ARG001  # makes the files
    done = run("cluster", "vectors.txt", "--clusters", "5", "--output", "c.txt")
    assert done.exit_code == 0, done.stderr
    assert "40 words in 5 clusters; 40 of them are written." in done.stderr
    first = read_clusters("c.txt").rows
    assert len(first) == 40
    assert len({cluster for _, cluster, _ in first}) == 5
    again = run("cluster", "vectors.txt", "--clusters", "5", "--output", "-", "--quiet")
    assert again.stdout == Path("c.txt").read_text(encoding="utf-8")
    run("cluster", "vectors.txt", "--clusters", "5", "--output", "d.txt", "--seed", "1")
    assert read_clusters("d.txt").rows != first


def test_words_of_a_treebank(run, vectors):  # noqa: ARG001  # makes the files
    done = run(
        "cluster", "vectors.txt", "--clusters", "3", "--only", "gold.conllu", "--output", "c.txt",
        "--json",
    )  # fmt: skip
    assert json.loads(done.stdout) == {
        "words_read": 40, "dimensions": 4, "clusters": 3, "words": 5,
    }  # fmt: skip
    forms = [form for form, _, _ in read_clusters("c.txt").rows]
    assert forms == ["the", "cat", "sleeps", "who", "sang"]  # gold has The and Who


def test_first_words(run, vectors):  # noqa: ARG001  # makes the files
    run("cluster", "vectors.txt", "--clusters", "2", "--words", "9", "--output", "c.txt")
    assert len(read_clusters("c.txt")) == 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.txt", "--output", "c.txt"], "gone.txt cannot be read"),
        (
            ["vectors.txt", "--output", "c.txt"],
            "from 2 to the number of words, 40, and at most 10,000, not 1000",
        ),
        (["vectors.txt", "--output", "vectors.txt"], "is read by this command"),
        (["vectors.txt", "--output", "gone/c.txt"], "cannot be written"),
        (["vectors.txt", "--output", "-", "--json"], "cannot both go to standard output"),
        (["bad.txt", "--clusters", "2", "--output", "c.txt"], "bad.txt, line 2: a line must be"),
        (
            ["vectors.txt", "--clusters", "2", "--only", "other.conllu", "--output", "c.txt"],
            "none of the words with vectors occurs in the treebank",
        ),
    ],
)
def test_errors(run, vectors, arguments, said):
    folder = vectors.parent
    (folder / "bad.txt").write_text("the 1 2\ncat 1\n", encoding="utf-8")
    (folder / "other.conllu").write_text(
        "1\tHallo\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8"
    )
    done = run("cluster", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (folder / "c.txt").exists()
