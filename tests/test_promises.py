"""The page of promises: numbered, and every promise with tests that exist."""

from __future__ import annotations

import re

from tests.named_tests import ROOT, is_test, spans

PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| \d+ \|", line)
]


def test_promises_are_numbered_sentences():
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert all(row[1].endswith(".") for row in ROWS)


def test_every_promise_has_tests_that_exist():
    for number, _, tests in ROWS:
        named = spans(tests)
        assert named, number
        assert [name for name in named if not is_test(name)] == [], number
