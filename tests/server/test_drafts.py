"""What is kept when the tab is closed or the server ends: drafts, and the file of the server."""

from __future__ import annotations

from tests.server.conftest import running, treebank
from tests.server.page_actions import DESK, drag, heads, opened_file, settled, word


def test_a_draft_survives_the_tab(open_page, address):
    page = open_page(address, DESK)
    opened_file(page, treebank(5))
    word(page, "wall").click()
    page.keyboard.press("1")
    page.keyboard.press("x")
    settled(page)
    now = heads(page)
    again = open_page(address, DESK, context=page.context)
    assert "bank.conllu" in again.title()
    assert heads(again) == now
    again.click("#undo")
    settled(again)
    assert again.locator("#redo").is_enabled()


def test_every_file_has_its_own_draft(open_page, address):
    page = open_page(address, DESK)
    opened_file(page, treebank(3), "first.conllu")
    word(page, "wall").click()
    page.keyboard.press("r")
    settled(page)
    now = heads(page)
    opened_file(page, treebank(4), "second.conllu")
    assert heads(page) != now
    again = open_page(address, DESK, context=page.context)
    assert "second.conllu" in again.title()
    opened_file(again, treebank(3), "first.conllu")
    assert heads(again) == now
    assert again.locator("#undo").is_enabled()


def test_drafts_that_are_saved_make_room(open_page, address):
    page = open_page(address, DESK)
    opened_file(page, treebank(3), "first.conllu")
    left = "1".rjust(1_000_000)
    page.evaluate(
        """(text) => {
          const filler = JSON.stringify({ name: "old.conllu", unsaved: false, text });
          for (let i = 0; i < 4; i++) localStorage.setItem(`arbora:draft:${i}`, filler);
          const more = () => (localStorage.getItem("other") || "") + text.slice(0, 50_000);
          try { for (;;) localStorage.setItem("other", more()); } catch { /* full */ }
        }""",
        left,
    )
    opened_file(page, treebank(400), "second.conllu")
    word(page, "wall").click()
    page.keyboard.press("r")
    settled(page)
    now = heads(page)
    again = open_page(address, DESK, context=page.context)
    assert "second.conllu" in again.title()
    assert heads(again) == now


def test_a_file_of_the_server_survives_its_end(open_page, tmp_path):
    """The page goes on when the server is killed and comes back; nothing that it did is lost."""
    bank = tmp_path / "bank.conllu"
    bank.write_text(treebank(60))
    with running("--project", str(bank)) as (process, url):
        page = open_page(url, DESK, expected="ERR_CONNECTION_REFUSED")
        assert page.locator(".entry").count() == 50
        word(page, "wall").click()
        drag(page, word(page, "wall"), word(page, "fish"))
        process.kill()
        process.wait()
    port = url.rstrip("/").rpartition(":")[2]
    with running("--project", str(bank), "--port", port):
        page.locator(".entry").nth(2).click()
        page.wait_for_selector("#title:text('Sentence 3')")
        page.keyboard.press("Escape")
        word(page, "gull").click()
        page.click("#accept")
        page.wait_for_selector("#title:text('Sentence 4')")
        settled(page)
        page.keyboard.press("Control+s")
        page.wait_for_selector("#message:text('Saved')")
    saved = bank.read_text()
    assert "8\twall\twall\tNOUN\t_\t_\t5\t" in saved
    assert saved.count("\n") == treebank(60).count("\n")


def test_it_says_when_the_server_is_gone(open_page, address):
    page = open_page(address, DESK, expected="ERR_INTERNET_DISCONNECTED")
    word(page, "man").click()
    page.context.set_offline(True)
    page.locator(".row").nth(1).click()
    page.wait_for_selector(".message.error")
    assert "kept in this browser" in page.locator("#message").inner_text()
    page.context.set_offline(False)
