"""The JSON API, against the library itself."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import arbora
from arbora.data import Sentence
from tests.server.conftest import sentence

TEXT = "She saw the man with a telescope. The gulls sleep on the wall."


@pytest.fixture(scope="module")
def nlp(pipelines):
    return pipelines["en"]


def test_parse_is_what_the_library_says(client, nlp):
    answer = client.post("/api/parse", json={"text": TEXT}).json()
    document = nlp(TEXT)
    assert answer["model"] == "en"
    assert [one["forms"] for one in answer["sentences"]] == [one.forms for one in document]
    for found, expected in zip(answer["sentences"], document, strict=True):
        assert found["heads"] == expected.heads.tolist()
        assert found["labels"] == expected.labels
        assert found["conllu"] == expected.to_conllu()
        assert found["arc_probabilities"] == pytest.approx(expected.arc_probabilities, abs=1e-4)
        assert found["log_prob"] == pytest.approx(expected.log_prob, abs=1e-5)


def test_parse_takes_sentences_and_options(client, nlp):
    request = {"conllu": sentence(1) + sentence(2), "decode": "mbr", "trees": "projective"}
    answer = client.post("/api/parse", json=request).json()
    given = [Sentence.from_bytes(sentence(i).encode()) for i in (1, 2)]
    expected = nlp.parse(given, decode="mbr", trees="projective")
    assert [one["heads"] for one in answer["sentences"]] == [e.heads.tolist() for e in expected]


def test_a_text_without_words_has_no_sentences(client):
    assert client.post("/api/parse", json={"text": " \n "}).json()["sentences"] == []


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
def test_constrain_is_the_constrained_distribution(client, nlp, trees, root):
    """Marginals, entropy and best tree are those of the distribution given the arcs."""
    given = nlp("She saw the man with a telescope.")[0]
    required, forbidden = [(4, 7)], [(0, 2), (2, 1)]
    kind = arbora.SpanningTrees if trees == "nonprojective" else arbora.ProjectiveTrees
    scores = nlp.distribution(given).scores
    expected = kind(scores, root=root).constrain(required=required, forbidden=forbidden)
    answer = client.post(
        "/api/constrain",
        json={
            "conllu": given.to_conllu(), "required": required, "forbidden": forbidden,
            "trees": trees, "root": root,
        },
    ).json()  # fmt: skip
    assert answer["heads"] == expected.argmax().heads.tolist()
    assert answer["entropy"] == pytest.approx(expected.entropy() / math.log(2), abs=1e-5)
    table = np.zeros_like(expected.marginals)
    for word, heads in enumerate(answer["head_candidates"], start=1):
        for head, p in heads:
            table[head, word] = p
    assert np.abs(table - expected.marginals).max() < 1e-3
    words = np.arange(1, len(given) + 1)
    p = expected.marginals[answer["heads"], words]
    assert answer["arc_probabilities"] == pytest.approx(p, abs=1e-4)
    assert answer["expected_errors"] == pytest.approx((1 - p).sum(), abs=1e-4)


def test_constrain_agrees_with_parse(client, nlp):
    given = nlp(TEXT)[0]
    arcs = [(4, 7, "acl"), (0, 4)]
    (expected,) = nlp.parse([given], required=arcs)
    answer = client.post(
        "/api/constrain", json={"conllu": given.to_conllu(), "required": arcs}
    ).json()
    assert answer["heads"] == expected.heads.tolist()
    assert answer["labels"] == expected.labels
    assert answer["log_prob"] == pytest.approx(expected.log_prob, abs=1e-5)
    assert answer["arc_probabilities"] == pytest.approx(expected.arc_probabilities, abs=1e-4)


def test_keep_keeps_what_the_sentence_has(client, nlp):
    given = nlp(TEXT)[0]
    free = client.post("/api/constrain", json={"conllu": given.to_conllu()}).json()
    moved = given.with_tree([2, 0, 4, 2, 7, 7, -1, 4], ["dep"] * 6 + ["_", "odd"])
    answer = client.post("/api/constrain", json={"conllu": moved.to_conllu(), "keep": True}).json()
    assert answer["heads"][:6] == [2, 0, 4, 2, 7, 7]
    assert answer["heads"][6] in (2, 4)
    assert answer["heads"][7] == 4
    assert answer["labels"][7] == "odd"
    assert answer["head_candidates"] == free["head_candidates"]  # keeping is no evidence
    whole = client.post("/api/constrain", json={"conllu": given.to_conllu(), "keep": True}).json()
    assert whole["log_prob"] == pytest.approx(given.log_prob, abs=1e-4)


def test_tag_candidates_are_those_of_the_tagger(client, nlp):
    given = nlp(TEXT)[1]
    (expected,) = nlp.tag_probabilities([given])
    answer = client.post("/api/constrain", json={"conllu": given.to_conllu()}).json()
    for found, best in zip(answer["tag_candidates"], expected.best(8), strict=True):
        assert found == [[tag, round(p, 4)] for tag, p in best if p > 0.0005]


def test_kbest_and_samples(client, nlp):
    given = nlp(TEXT)[0]
    request = {"conllu": given.to_conllu(), "count": 3}
    answer = client.post("/api/kbest", json=request).json()
    expected = nlp.parse([given], kbest=3)
    assert [one["heads"] for one in answer["trees"]] == [e.heads.tolist() for e in expected]
    drawn = client.post("/api/kbest", json={**request, "samples": True, "seed": 4}).json()
    expected = nlp.parse([given], samples=3, seed=4)
    assert [one["heads"] for one in drawn["trees"]] == [e.heads.tolist() for e in expected]
    known = client.post("/api/kbest", json={**request, "required": [[4, 7]]}).json()
    assert all(one["heads"][6] == 4 for one in known["trees"])


def test_explain(client, nlp):
    given = nlp(TEXT)[0]
    request = {"conllu": given.to_conllu(), "word": 7, "against": 4, "top": 5}
    answer = client.post("/api/explain", json=request).json()
    expected = nlp.explain(given, 7, against=4)
    assert answer["difference"] == pytest.approx(expected.difference)
    assert len(answer["contributions"]) == 5
    assert answer["features"] == len(expected.contributions)


@pytest.mark.parametrize(
    ("kind", "sign"), [("svg", "<svg"), ("latex", "deptext"), ("text", "gull")]
)
def test_draw(client, kind, sign):
    request = {"conllu": sentence(1), "format": kind, "probabilities": [0.5] * 9}
    assert sign in client.post("/api/draw", json=request).text


def test_models_tell_what_they_can_do(client):
    about = client.get("/api/models").json()
    (model,) = about["models"]
    assert {"segmenter", "tagger", "parser"} <= set(model["stages"])
    assert "nsubj" in model["labels"]
    assert about["limits"]["words"] == 1000


@pytest.mark.parametrize(
    ("path", "request_", "status", "words"),
    [
        ("parse", {}, 422, "either text or conllu"),
        ("parse", {"text": "a", "model": "de"}, 404, "there is no model 'de'"),
        ("parse", {"text": "a", "decode": "greedy"}, 422, "decode"),
        ("parse", {"text": "a", "unknown": 1}, 422, "unknown"),
        ("parse", {"text": "a\0b"}, 422, "NUL"),
        ("parse", {"conllu": "1\tx\n\n"}, 422, "line 1"),
        ("constrain", {"conllu": sentence(1) * 2}, 422, "2 sentences"),
        ("constrain", {"conllu": sentence(1), "required": [[1, 2], [2, 1]]}, 422, "no tree"),
        ("constrain", {"conllu": sentence(1), "required": [[99, 2]]}, 422, "from 0 to 9"),
        ("kbest", {"conllu": sentence(1), "count": 101}, 422, "limit is 100"),
        ("explain", {"conllu": sentence(1), "word": 77}, 422, "no word 77"),
        ("draw", {"conllu": sentence(1), "probabilities": [0.1]}, 422, "1 probabilities"),
    ],
)
def test_mistakes_are_a_sentence(client, path, request_, status, words):
    answer = client.post(f"/api/{path}", json=request_)
    assert answer.status_code == status
    assert words in answer.json()["error"]
    assert answer.json()["error"].endswith(".")


def test_bodies_that_are_no_json(client):
    headers = {"Content-Type": "application/json"}
    for body in (b"{", b"\xff\xfe", b'{"text": "\\ud800"}', b"[]", b""):
        answer = client.post("/api/parse", content=body, headers=headers)
        assert answer.status_code in (400, 422)
        assert json.loads(answer.content)["error"]


def test_bodies_of_another_kind(client):
    answer = client.post(
        "/api/parse", content=b'{"text": "a"}', headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 415
    assert "Content-Type: application/json" in answer.json()["error"]
    answer = client.post("/api/parse", json=["a"])
    assert answer.status_code == 422
    assert "object" in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "methods"), [("/process", "GET, POST"), ("/api/parse", "POST"), ("/", "GET")]
)
def test_other_methods_are_refused_and_those_that_exist_are_named(client, path, methods):
    answer = client.put(path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == methods


def test_the_api_is_documented(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/api/parse", "/api/constrain", "/api/kbest", "/api/explain", "/process"} <= set(paths)
    assert client.get("/docs").status_code == 404  # it would need scripts of others
