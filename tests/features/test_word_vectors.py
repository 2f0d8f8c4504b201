"""Word vectors as text, and clusters of words from them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from arbora import ArboraError, Sentence
from arbora.errors import ArgumentError, DataError
from arbora.features import WordClusters, read_clusters, write_clusters
from arbora.features.clustering import cluster_words, names_of_centres
from arbora.features.word_vectors import WordVectors, read_vectors
from arbora.scoring import LinearScorer
from tests.toys import batch_of, encode, scored

GLOVE = "the 0.1 -2 3e-1\ncat 1 2 3\nsaß 4 5 6\n"


def write(tmp_path, text, name="vectors.txt"):
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (GLOVE, "glove.txt"),
        (GLOVE, "glove.txt.gz"),
        ("3 3\n" + GLOVE, "word2vec.txt"),
        ("3 3\n" + GLOVE.replace("\n", " \n"), "fasttext.vec"),
        ("\ufeff" + GLOVE.replace("\n", "\r\n"), "windows.txt"),
        (GLOVE.rstrip("\n"), "no_end.txt"),
        (GLOVE + "cat 9 9 9\n", "twice.txt"),
    ],
)
def test_formats(tmp_path, text, name):
    found = read_vectors(write(tmp_path, text, name))
    assert found.words == ("the", "cat", "saß")
    np.testing.assert_allclose(found.vectors, [[0.1, -2, 0.3], [1, 2, 3], [4, 5, 6]], rtol=1e-6)
    assert found.vectors.dtype == np.float32


def test_first_words_only(tmp_path):
    found = read_vectors(write(tmp_path, "3 3\n" + GLOVE), words=2)
    assert found.words == ("the", "cat")
    broken = write(tmp_path, "the 1 2\ncat 3 4\nbroken\n")
    assert len(read_vectors(broken, words=2)) == 2


def test_words_may_contain_spaces(tmp_path):
    found = read_vectors(write(tmp_path, "the 1 2\n. . . 3 4\n"))
    assert found.words == ("the", ". . .")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("the 1 2\ncat 3\n", r"vectors.txt, line 2: a line must be a word and 2 numbers"),
        ("the 1 2\n\ncat 3 x\n", r"line 3: the last 2 fields must be finite numbers"),
        ("the 1 nan\n", r"line 1: the last 2 fields must be finite"),
        ("the 1 inf\n", r"line 1: the last 2 fields must be finite"),
        ("the\n", r"line 1: a line must be a word and its numbers"),
        ("2 2\nthe 1 2\n", r"announces 2 words, but the file has 1"),
        ("2 0\nthe 1 2\n", r"line 1: vectors have at least one dimension"),
        ("", "the file has no word vectors"),
        (b"\xff\xfe 1 2\n", r"line 1: the word is not UTF-8"),
        ("a\tb 1 2\n", r"line 1: a line must be a word"),
        ("x" * (3 << 20), "line is too long"),
    ],
)
def test_bad_lines(tmp_path, text, match):
    with pytest.raises(DataError, match=match):
        read_vectors(write(tmp_path, text))


def test_unreadable(tmp_path):
    with pytest.raises(ArboraError, match="nothing cannot be read"):
        read_vectors(tmp_path / "nothing")
    with pytest.raises(ArgumentError, match="words must be a positive"):
        read_vectors(write(tmp_path, GLOVE), words=0)


def groups(rng, n_groups=4, size=30, spread=0.05):
    """Vectors around a few directions, in a random order; two directions are close."""
    centres = np.eye(n_groups, 6)
    centres[1] = 0.9 * centres[0] + 0.4 * centres[1]
    which = rng.permutation(np.repeat(np.arange(n_groups), size))
    points = centres[which] + spread * rng.standard_normal((len(which), 6))
    points *= rng.uniform(0.5, 3.0, (len(which), 1))  # lengths do not matter
    words = tuple(f"w{i}" for i in range(len(which)))
    return WordVectors(words, points.astype(np.float32)), which


def test_clusters_are_the_groups(rng):
    vectors, which = groups(rng)
    found = cluster_words(vectors, 4, seed=1)
    assert [form for form, _, _ in found.rows] == list(vectors.words)
    names = [cluster for _, cluster, _ in found.rows]
    assert len(set(names)) == 4
    of_group = {
        group: {n for n, g in zip(names, which, strict=True) if g == group} for group in range(4)
    }
    assert all(len(one) == 1 for one in of_group.values())
    # the two close groups share the longest prefix: they differ in the last bit only
    (a,), (b,) = of_group[0], of_group[1]
    assert a[:-1] == b[:-1]


def test_seed_and_threads(rng):
    vectors, _ = groups(rng, spread=0.5)
    first = cluster_words(vectors, 7, seed=3)
    assert cluster_words(vectors, 7, seed=3, threads=2).rows == first.rows
    assert cluster_words(vectors, 7, seed=4).rows != first.rows


def slow_passes(points, centres, passes):
    """Lloyd's algorithm, word by word."""
    for _ in range(passes):
        labels = [int(np.argmin([((p - c) ** 2).sum() for c in centres])) for p in points]
        centres = [
            np.mean([p for p, label in zip(points, labels, strict=True) if label == k], axis=0)
            for k in range(len(centres))
        ]
    return labels


def test_passes_are_those_of_lloyd(rng, monkeypatch):
    from arbora.features import clustering

    vectors, _ = groups(rng, spread=0.4)
    points = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    first = points[:5].astype(np.float32)
    monkeypatch.setattr(clustering, "_first_centres", lambda *_: first)
    monkeypatch.setattr(clustering, "_SETTLED", 0.0)
    found = cluster_words(vectors, 5, passes=4)
    names = [cluster for _, cluster, _ in found.rows]
    expected = slow_passes(points.astype(np.float64), list(first.astype(np.float64)), 4)
    assert len(set(zip(names, expected, strict=True))) == 5  # the same partition


def test_every_cluster_is_used_if_words_allow_it():
    points = np.repeat(np.eye(3, dtype=np.float32), 4, axis=0)
    vectors = WordVectors(tuple("abcdefghijkl"), points)
    names = {cluster for _, cluster, _ in cluster_words(vectors, 3).rows}
    assert len(names) == 3
    same = WordVectors(("a", "b", "c"), np.ones((3, 2), dtype=np.float32))
    assert len(cluster_words(same, 3)) == 3  # fewer different points than clusters
    zeros = WordVectors(("a", "b", "c"), np.zeros((3, 2), dtype=np.float32))
    assert len(cluster_words(zeros, 2)) == 3


def test_names_are_free_of_prefixes(rng):
    names = names_of_centres(rng.standard_normal((40, 5)).astype(np.float32))
    assert len(set(names)) == 40
    assert all(set(name) <= set("01") for name in names)
    assert not any(a != b and b.startswith(a) for a in names for b in names)


@pytest.mark.parametrize("clusters", [0, 1, 121, 2.5])
def test_number_of_clusters(rng, clusters):
    vectors, _ = groups(rng)
    with pytest.raises(ArgumentError, match="clusters must be a whole number from 2 to"):
        cluster_words(vectors, clusters)


def test_bytes_hold_the_clusters(rng):
    vectors, _ = groups(rng)
    found = cluster_words(vectors, 4)
    again = WordClusters.from_bytes(found.to_bytes())
    assert sorted(again.rows) == sorted(found.rows)
    assert len(again) == len(found)
    assert again.to_bytes() == found.to_bytes()
    sentence = Sentence.from_words(["w3", "W5", "unknown", "w3", "w119"], upos=["X"] * 5)
    settings, encoded = encode([sentence], clusters=found)
    scorer = LinearScorer(settings, 14)
    weights = rng.normal(size=scorer.size)
    _, same = encode([sentence], settings=settings, clusters=again)
    ours, theirs = (scored(scorer, weights, batch_of(one)).arcs for one in (encoded, same))
    np.testing.assert_array_equal(ours, theirs)
    assert WordClusters([("a", "0", 0.5), ("a", "1", 0.5)]).to_bytes() is None
    assert WordClusters([("a", "0", 1.0), ("a", "1", 1.0)]).to_bytes() is None
    assert WordClusters([("a\tb", "0", 1.0)]).to_bytes() is None
    with pytest.raises(UnicodeDecodeError):
        WordClusters.from_bytes(b"0\t\xff")


def test_written_and_read(rng, tmp_path):
    vectors, _ = groups(rng)
    found = cluster_words(vectors, 4)
    write_clusters(tmp_path / "clusters.txt", found)
    assert read_clusters(tmp_path / "clusters.txt").rows == found.rows
    soft = read_clusters(write(tmp_path, "a\tKatze\t3\nb\tKatze\t1\n"))
    write_clusters(tmp_path / "soft.txt", soft)
    assert read_clusters(tmp_path / "soft.txt").rows == soft.rows
