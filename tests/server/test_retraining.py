"""Training by one click: on the accepted sentences, with the dev score before and after."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")

from starlette.testclient import TestClient

from arbora import Parser, load
from arbora.errors import ArgumentError
from arbora.pipeline import Pipeline
from arbora.server import Settings, Suggestion, TrainingPlan, make_app
from tests.small_parsers import SMALL, sentences

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"


@pytest.fixture(scope="module")
def parser():
    """A small parser as a pipeline without stages."""
    fitted = Parser(**SMALL).fit(sentences("train", 30), sentences("dev", 20))
    return Pipeline.from_model(fitted.model, threads=1)


@pytest.fixture
def opened(parser, tmp_path):
    """A server with a file open that can train."""
    file = tmp_path / "work.conllu"
    file.write_bytes(b"".join(map(bytes, sentences("train", 50)[30:])))
    plan = TrainingPlan(str(TREEBANK / "dev.conllu"), str(tmp_path / "new.arbora"))
    order = [Suggestion(3, 1.5, "why", 2), Suggestion(0, 0.5, "because", 1)]
    settings = Settings(file=str(file), order=order, retraining=plan)
    app = make_app({"small": parser}, settings)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        yield client


def accept(client, count):
    """Accepts the first sentences of the file."""
    page = client.get("/api/document/sentences", params={"start": 0, "count": count}).json()
    for i, item in enumerate(page["items"]):
        change = {
            "revision": page["revision"] + i, "start": i, "removed": 1,
            "items": [{"text": item["text"], "state": {"accepted": True}}],
        }  # fmt: skip
        answer = client.post("/api/document/changes", json=change)
        assert answer.status_code == 200, answer.text


def finished(client):
    for _ in range(2400):
        status = client.get("/api/retrain").json()
        if status["state"] != "running":
            return status
        time.sleep(0.05)
    raise AssertionError("the training does not end")


def test_one_click(opened, tmp_path):
    assert opened.get("/api/models").json()["retraining"]
    assert opened.get("/api/retrain").json()["state"] == "idle"
    refused = opened.post("/api/retrain", json={})
    assert refused.status_code == 422
    assert "no sentence is accepted" in refused.json()["error"]
    accept(opened, 15)
    started = opened.post("/api/retrain", json={}).json()
    assert started["sentences"] == 15
    status = finished(opened)
    assert status["state"] == "done", status
    assert status["passes"] >= 1
    new = load(tmp_path / "new.arbora", threads=1)
    score = new.evaluate(TREEBANK / "dev.conllu")
    assert status["after"] == {"uas": score.uas, "las": score.las}
    assert status["kept"] == (status["after"]["las"] >= status["before"]["las"])
    document = opened.get("/api/document").json()
    assert [one["sentence"] for one in document["order"]] == [3, 0]


def test_the_page_gets_head_sets_of_a_calibrated_model(parser):
    text = bytes(sentences("test", 1)[0]).decode()
    app = make_app({"small": parser}, Settings())
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        answer = client.post("/api/constrain", json={"conllu": text}).json()
        assert answer["head_sets"] is None
    calibrated = Pipeline.from_model(parser.model, threads=1).calibrate(sentences("test"))
    app = make_app({"small": calibrated}, Settings())
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        answer = client.post("/api/constrain", json={"conllu": text}).json()
        (expected,) = calibrated.parse(sentences("test", 1), head_sets=0.95)
        assert answer["head_sets"] == [heads.tolist() for heads in expected.head_sets]
        other = client.post("/api/constrain", json={"conllu": text, "trees": "projective"}).json()
        assert other["head_sets"] is None


def test_a_failure_is_told(parser, tmp_path):
    file = tmp_path / "work.conllu"
    file.write_bytes(b"".join(map(bytes, sentences("train", 3))))
    plan = TrainingPlan(str(tmp_path / "missing.conllu"), str(tmp_path / "new.arbora"))
    app = make_app({"small": parser}, Settings(file=str(file), retraining=plan))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        accept(client, 2)
        client.post("/api/retrain", json={})
        status = finished(client)
    assert status["state"] == "failed"
    assert "missing.conllu" in status["message"]
    assert not (tmp_path / "new.arbora").exists()


def test_without_a_plan_there_is_no_training(parser):
    app = make_app({"small": parser}, Settings())
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        assert not client.get("/api/models").json()["retraining"]
        assert client.post("/api/retrain", json={}).status_code in (404, 405)
    with pytest.raises(ArgumentError, match="requires a file"):
        Settings(retraining=TrainingPlan("dev", "new"))
