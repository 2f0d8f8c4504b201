"""Requests as clients of UDPipe send them, byte for byte, and answers in UDPipe's form."""

from __future__ import annotations

import base64
import json
import quopri
from urllib.parse import quote

import pytest

from tests.server.conftest import sentence

TEXT = "She doesn't see the old boat."

# curl -F data=@file -F model=en -F tokenizer= -F tagger= -F parser=
CURL = (
    b"--X\r\nContent-Disposition: form-data; name=\"data\"; filename=\"in.txt\"\r\n"
    b"Content-Type: text/plain\r\n\r\nShe doesn't see the old boat.\r\n"
    b"--X\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nen\r\n"
    b"--X\r\nContent-Disposition: form-data; name=\"tokenizer\"\r\n\r\n\r\n"
    b"--X\r\nContent-Disposition: form-data; name=\"tagger\"\r\n\r\n\r\n"
    b"--X\r\nContent-Disposition: form-data; name=\"parser\"\r\n\r\n\r\n--X--\r\n"
)  # fmt: skip

# UDPipe's own client in Python: parts with a type, an encoding and a MIME version
CLIENT = b"\r\n".join(
    part
    for name, value in {
        b"input": b"conllu", b"output": b"conllu", b"data": TEXT.encode(), b"tokenizer": b"ranges",
        b"tagger": b"", b"parser": b"",
    }.items()
    for part in (
        b"--===============1==",
        b'Content-Type: text/plain; charset="utf-8"',
        b"MIME-Version: 1.0",
        b'Content-Disposition: form-data; name="' + name + b'"',
        b"Content-Transfer-Encoding: 8bit",
        b"",
        value,
    )
) + b"\r\n--===============1==--\r\n"  # fmt: skip


def words(answer):
    """The forms, tags and heads of a result."""
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) == {"model", "acknowledgements", "result"}
    lines = [line.split("\t") for line in found["result"].splitlines()]
    return [(line[1], line[3], line[6]) for line in lines if line[0].isdigit()]


def posted(client, body, kind):
    return client.post("/process", content=body, headers={"Content-Type": kind})


@pytest.fixture(scope="module")
def expected(pipelines):
    found = pipelines["en"](TEXT)[0]
    return list(zip(found.forms, found.upos, map(str, found.heads.tolist()), strict=True))


def test_the_ways_of_calling_agree(client, expected):
    form = f"data={quote(TEXT)}&model=en&tokenizer=&tagger=&parser="
    answers = [
        posted(client, CURL, "multipart/form-data; boundary=X"),
        posted(client, CLIENT, 'multipart/form-data; boundary="===============1=="'),
        # R: httr::POST(url, body = list(...), encode = "form")
        posted(client, form.encode(), "application/x-www-form-urlencoded"),
        client.get(f"/process?tokenizer&tagger&parser&data={quote(TEXT)}"),
        client.get(f"/process?model=en&tokenizer=presegmented&tagger&parser&data={quote(TEXT)}"),
    ]
    assert [words(answer) for answer in answers] == [expected] * len(answers)
    assert "2-3\tdoesn't\t" in answers[0].json()["result"]
    assert "TokenRange=0:3" in answers[1].json()["result"]


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_parts_that_are_encoded_as_in_e_mails(client, pipelines, encoding):
    text = "Zoë saw the café."
    encode = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}[encoding]
    parts = {"data": encode(text.encode()), "tokenizer": b"", "tagger": b"", "parser": b""}
    body = b"".join(
        b'--X\r\nContent-Disposition: form-data; name="%b"\r\nContent-Transfer-Encoding: %b'
        b"\r\n\r\n%b\r\n" % (name.encode(), encoding.encode(), value)
        for name, value in parts.items()
    )
    answer = posted(client, body + b"--X--\r\n", "multipart/form-data; boundary=X")
    found = pipelines["en"](text)[0]
    heads = map(str, found.heads.tolist())
    assert words(answer) == list(zip(found.forms, found.upos, heads, strict=True))
    broken = posted(client, body, "multipart/form-data; boundary=Y")
    assert broken.status_code == 400


def test_models(client):
    for answer in (client.get("/models"), client.post("/models")):
        stages = ["tokenizer", "tagger", "parser"]
        assert answer.json() == {"models": {"en": stages}, "default_model": "en"}


def test_stages_run_as_they_are_asked_for(client):
    alone = words(client.get("/process", params={"tokenizer": "", "data": "Birds sing"}))
    assert alone == [("Birds", "_", "_"), ("sing", "_", "_")]
    tagged = words(client.get("/process", params={"tokenizer": "", "tagger": "", "data": "Dogs."}))
    assert tagged[0][1] == "NOUN"
    assert tagged[0][2] == "_"
    kept = words(client.post("/process", data={"data": sentence(1), "parser": ""}))
    assert [tag for _, tag, _ in kept][:3] == ["DET", "NOUN", "VERB"]


def test_formats(client):
    given = {"data": "The dog barks .\nIt sleeps .", "input": "horizontal", "parser": ""}
    assert len(words(client.post("/process", data=given))) == 7
    vertical = {"data": "Dogs\nbark\n\n", "input": "vertical", "output": "horizontal"}
    assert client.post("/process", data=vertical).json()["result"] == "Dogs bark\n"
    for output, text in (("vertical", "She\ndoesn't\n"), ("plaintext", TEXT)):
        given = {"data": TEXT, "tokenizer": "", "output": output}
        assert client.post("/process", data=given).json()["result"].startswith(text)


def test_presegmented_lines_stay_sentences(client):
    text = "It sank. She saw it.\nIt was old."
    answer = client.post("/process", data={"data": text, "tokenizer": "presegmented"})
    result = answer.json()["result"]
    assert result.count("\n\n") == 2
    assert "# text = It sank. She saw it.\n" in result


@pytest.mark.parametrize(
    ("given", "words_"),
    [
        ({"tokenizer": ""}, "'data' is required"),
        ({"data": "a", "model": "klingon"}, "there is no model 'klingon'"),
        ({"data": "a", "tokenizer": "", "output": "matxin"}, "Unknown output format 'matxin'"),
        ({"data": "a", "input": "tei"}, "Unknown input format 'tei'"),
        ({"data": "a", "tokenizer": "joint"}, "Unknown option 'joint'"),
    ],
)
def test_errors_are_plain_text_with_status_400(client, given, words_):
    answer = client.post("/process", data=given)
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert words_ in answer.text


def test_bodies_that_cannot_be_read(client):
    assert posted(client, b"data=%ff", "application/x-www-form-urlencoded").status_code == 422
    assert posted(client, b"\xff", "application/x-www-form-urlencoded").status_code == 400
    assert posted(client, b"nothing", "multipart/form-data; boundary=X").status_code == 400
    assert posted(client, b"nothing", "multipart/form-data").status_code == 400
    assert posted(client, json.dumps({"data": "a"}).encode(), "application/json").status_code == 400


def test_a_model_is_known_by_the_beginning_of_its_name(pipelines):
    from arbora.server.models import Models
    from arbora.server.refusals import NotFoundError

    models = Models({"english-ewt": pipelines["en"], "english-gum": pipelines["en"]})
    assert models.named("english")[0] == "english-ewt"
    assert models.named("english-gum")[0] == "english-gum"
    assert models.named("")[0] == "english-ewt"
    with pytest.raises(NotFoundError, match="english-ewt, english-gum"):
        models.named("engl")
