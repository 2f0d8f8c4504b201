"""Requests made up from the OpenAPI document never cause an error of the server's own."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from arbora.server import Settings, make_app
from tests.server.conftest import treebank

schemathesis = pytest.importorskip("schemathesis")


def test_no_request_is_a_mistake_of_the_server(pipelines, tmp_path):
    """benchmarks/server.py asks 10,000 of them."""
    bank = tmp_path / "bank.conllu"
    bank.write_text(treebank(3))
    app = make_app(pipelines, Settings(hosts=("testserver",), file=str(bank)))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    for found in schema.get_all_operations():

        @settings(
            max_examples=5,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=found.ok().as_strategy())
        def ask(case):
            answer = case.call()
            assert answer.status_code < 500 or answer.status_code in (503, 504), answer.text

        ask()
