"""Limits, each with its number in the answer; hosts, origins, tokens; health and figures."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from arbora.errors import ArgumentError
from arbora.server import Limits, Settings
from arbora.server.guards import Guard
from arbora.server.logs import Log
from arbora.server.metrics import Metrics
from arbora.server.refusals import QueueFullError, TimeUpError
from arbora.server.workers import Task, Workers
from tests.server.conftest import sentence


def test_a_body_that_is_too_large(client_of):
    client = client_of(Limits(body=1000))
    for content in (b"x" * 1001, (b"x" * 100 for _ in range(11))):  # with and without its length
        answer = client.post("/process", content=content)
        assert answer.status_code == 413
        assert "1,000 bytes" in answer.json()["error"]
    assert client.post("/process", data={"data": "a" * 900, "tokenizer": ""}).status_code == 200


def test_a_sentence_that_is_too_long(client_of):
    client = client_of(Limits(words=8))
    requests = [
        ("/api/parse", {"text": "a b c d e f g h i"}),
        ("/api/parse", {"conllu": sentence(1)}),
        ("/api/constrain", {"conllu": sentence(1)}),
        ("/api/draw", {"conllu": sentence(1)}),
    ]
    for path, request in requests:
        answer = client.post(path, json=request)
        assert answer.status_code == 422
        assert "9 words, and the limit is 8" in answer.json()["error"]
    answer = client.post("/process", data={"data": sentence(1)})
    assert answer.status_code == 422
    assert "limit is 8" in answer.text


def test_one_bad_request_does_not_spoil_a_batch(client_of):
    client = client_of(Limits(words=8), workers=1)
    texts = ["Dogs bark.", "a b c d e f g h i", "Cats sleep.", "bad\0text"]
    answers = [None] * len(texts)

    def ask(i):
        answers[i] = client.post("/api/parse", json={"text": texts[i]})

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(texts))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one.status_code for one in answers] == [200, 422, 200, 422]


def test_many_at_once_are_answered_as_one_by_one(client_of):
    client = client_of(workers=2)
    texts = [
        f"The {'old ' * (i % 5)}gulls sleep on the wall. They saw {i} boats." for i in range(24)
    ]
    alone = [client.post("/api/parse", json={"text": text}).json()["sentences"] for text in texts]
    with ThreadPoolExecutor(12) as pool:
        found = pool.map(lambda text: client.post("/api/parse", json={"text": text}), texts)
        together = [one.json()["sentences"] for one in found]
    assert together == alone


def test_bodies_are_bounded_together(client_of):
    answer = client_of(Limits(bodies=100)).post("/process", content=b"x" * 101)
    assert answer.status_code == 503
    assert "100 bytes of requests" in answer.json()["error"]


def test_open_requests_are_bounded():
    """A request that arrives while another is being answered."""
    started = []

    async def send(message):
        if message["type"] == "http.response.start":
            started.append((message["status"], dict(message["headers"])))

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def inside(scope, receive, _):
        await guard(scope, receive, send)

    guard = Guard(inside, Settings(limits=Limits(open=1)), Metrics(), Log("off"))
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
    with ThreadPoolExecutor(1) as pool:  # a browser of other tests has an event loop in this one
        pool.submit(asyncio.run, guard(scope, receive, send)).result()
    ((status, headers),) = started
    assert status == 503
    assert headers[b"retry-after"] == b"1"


def run_workers(limits, act):
    workers = Workers(1, limits, Metrics())
    try:  # in another thread, since a browser of other tests has an event loop in this one
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, act(workers)).result()
    finally:
        workers.end()


def test_a_full_queue_and_batches():
    """One task is worked on, two wait, the fourth is refused; those that wait are run together."""
    began, gate, seen = threading.Event(), threading.Event(), []

    def run(items, check):
        began.set()
        gate.wait(10)
        check()
        seen.append(list(items))
        return [item * 2 for item in items]

    async def act(workers):
        first = asyncio.create_task(workers.run(Task(1, run, "k")))
        await asyncio.to_thread(began.wait, 10)
        more = [asyncio.create_task(workers.run(Task(i, run, "k"))) for i in (2, 3)]
        await asyncio.sleep(0.1)
        with pytest.raises(QueueFullError, match="2 requests are waiting"):
            await workers.run(Task(4, run, "k"))
        gate.set()
        return [await one for one in (first, *more)]

    assert run_workers(Limits(queue=2), act) == [2, 4, 6]
    assert seen == [[1], [2, 3]]


def test_batches_are_bounded_and_of_one_kind():
    gate, seen = threading.Event(), []

    def run(items, check):
        del check
        gate.wait(10)
        seen.append(list(items))
        return items

    async def act(workers):
        tasks = [Task(1, run, "k"), Task(2, run, "k", 60), Task(3, run, "other"),
                 Task(4, run, "k", 60), Task(5, run, "k", 30), Task(6, run)]  # fmt: skip
        jobs = []
        for task in tasks:
            jobs.append(asyncio.create_task(workers.run(task)))
            await asyncio.sleep(0.05)
        gate.set()
        await asyncio.gather(*jobs)

    run_workers(Limits(batch=100), act)
    assert seen == [[1], [2, 5], [3], [4], [6]]


def test_the_time_limit_ends_the_work():
    ended = threading.Event()

    def run(_, check):
        try:
            while True:
                time.sleep(0.01)
                check()
        except TimeUpError:
            ended.set()
            raise

    async def act(workers):
        with pytest.raises(TimeUpError, match=r"0\.1 seconds"):
            await workers.run(Task(1, run))

    run_workers(Limits(seconds=0.1), act)
    assert ended.wait(10)


def test_503_and_504_over_http(client_of, monkeypatch):
    client = client_of(Limits(seconds=0.2, queue=1), workers=1)
    monkeypatch.setattr("arbora.server.api.analyse", lambda *_: time.sleep(1.0) or {})
    answers = []

    def ask():
        answers.append(client.post("/api/constrain", json={"conllu": sentence(1)}))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
        time.sleep(0.03)
    for one in threads:
        one.join()
    found = sorted(one.status_code for one in answers)
    assert set(found) == {503, 504}
    busy = next(one for one in answers if one.status_code == 503)
    assert busy.headers["retry-after"] == "1"
    assert "1 requests are waiting, which is the limit" in busy.json()["error"]
    late = next(one for one in answers if one.status_code == 504)
    assert "0.2 seconds" in late.json()["error"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200), ("localhost", 200), ("[::1]:80", 200), ("192.168.1.7", 200),
        ("parser.example.org", 200), ("PARSER.example.org:80", 200), ("evil.example", 421),
        ("127.0.0.1.evil.example", 421), ("", 421), ("localhost.evil.example", 421),
    ],
)  # fmt: skip
def test_hosts(client_of, host, status):
    client = client_of(hosts=("parser.example.org",))
    assert client.get("/models", headers={"Host": host}).status_code == status


def test_origins(client_of):
    good = "https://good.example"
    client = client_of(origins=(good,))
    own = {"Origin": "http://127.0.0.1:8000"}
    assert client.post("/models", headers=own).status_code == 200
    for origin in ("https://evil.example", "null"):
        answer = client.post("/models", headers={"Origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    answer = client.post("/models", headers={"Origin": good})
    assert answer.headers["access-control-allow-origin"] == good
    asked = {"Origin": good, "Access-Control-Request-Method": "POST"}
    assert client.options("/api/parse", headers=asked).status_code == 200


def test_without_origins_there_is_no_cors(client):
    answer = client.get("/models", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in answer.headers
    answer = client.options("/api/parse", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403


def test_tokens(client_of):
    client = client_of(token="secret")
    assert client.get("/health").status_code == 200
    assert client.get("/").status_code == 200
    for path in ("/models", "/metrics", "/api/models", "/openapi.json"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"Authorization": "Bearer other"}).status_code == 401
        assert client.get(path, headers={"Authorization": "Bearer secret"}).status_code == 200
    assert client.post("/process", data={"data": "a"}).headers["www-authenticate"] == "Bearer"


def test_headers_against_injection(client):
    for path in ("/", "/static/app.js", "/api/models", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-request-id"]


def test_static_files(client):
    first = client.get("/static/app.js")
    assert first.headers["content-type"].startswith("text/javascript")
    again = client.get("/static/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    for path in ("/static/../settings.py", "/static/%2e%2e/settings.py", "/static/none.js"):
        assert client.get(path).status_code == 404


def test_the_page_is_small():
    from importlib.resources import files

    parts = list((files("arbora.server") / "static").iterdir())
    assert sum(len(one.read_bytes()) for one in parts) < 300_000
    text = "".join(one.read_text(encoding="utf-8") for one in parts)
    assert "innerHTML" not in text
    assert "https://" not in text


def test_health_and_figures(client_of):
    client = client_of()
    assert client.get("/health").text == "ok\n"
    assert client.get("/ready").text == "ready\n"
    client.post("/api/parse", json={"text": "Dogs bark."})
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert 'arbora_requests_total{path="/api/parse",status="200"} 1' in text
    assert 'arbora_requests_total{path="other",status="404"} 1' in text
    assert "arbora_words_total 3\n" in text
    assert 'arbora_request_seconds_bucket{le="+Inf"} 4' in text
    assert "arbora_queue_jobs 0\n" in text


def test_the_text_format_of_figures():
    metrics = Metrics()
    metrics.count("arbora_refused_total", reason='a"b\\c\nd')
    assert 'reason="a\\"b\\\\c\\nd"} 1' in metrics.text()
    for value in (0.5, 1.0, 2.5):
        metrics.observe("arbora_batch_requests", value)
    text = metrics.text()
    assert 'arbora_batch_requests_bucket{le="1"} 2' in text
    assert 'arbora_batch_requests_bucket{le="4"} 3' in text
    assert "arbora_batch_requests_sum 4\n" in text


@pytest.mark.parametrize(
    "settings", [{"port": 70000}, {"workers": 0}, {"token": ""}, {"token": "ä"}, {"order": []}]
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(ArgumentError):
        Settings(**settings)
    with pytest.raises(ArgumentError, match="limit words"):
        Limits(words=0)
