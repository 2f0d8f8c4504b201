"""The page in a real browser, at the width of a desk and of a phone."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.data.zoo import ODD_FILES
from tests.server.conftest import BAD, PHONE, sentence, treebank
from tests.server.page_actions import DESK, drag, heads, opened_file, saved, settled, word


def test_type_hover_require_drag_relabel_undo(open_page, address, size):
    page = open_page(address, size)
    page.fill("#text", "She saw the man with a telescope.")
    with page.expect_response("**/api/constrain"):  # the page had parsed it before
        page.click("#typing button")
    page.wait_for_selector(".word")
    before = heads(page)
    assert before == [2, 0, 4, 2, 7, 7, 2, 2]
    # the least certain word is chosen, with its head and tag distributions
    assert page.locator(".word.chosen .form").inner_text() == "telescope"
    rows = page.locator(".card").first.locator(".row .name").all_inner_texts()
    assert rows == ["saw2", "man4"]
    assert "NOUN" in page.locator(".card", has_text="Tag").first.inner_text()
    word(page, "man").click()
    assert page.locator(".chosen-word").inner_text() == "man obj of “saw”"
    if size is not PHONE:
        word(page, "telescope").hover()
        (other,) = page.locator("g.other text").all_text_contents()
        assert re.fullmatch(r"\d+ %", other)
    title = word(page, "telescope").get_attribute("title")
    assert re.match(r"heads: saw \d+ %, man \d+ %", title)
    # require another arc by dragging: the telescope belongs to the man
    word(page, "telescope").click()
    drag(page, word(page, "telescope"), word(page, "man"))
    assert heads(page)[6] == 4
    assert page.locator(".arc.fixed[data-word='7'] .name").text_content() == "nmod"
    assert "fixed" in word(page, "telescope").get_attribute("class")
    assert "ms" in page.locator("#facts").inner_text()
    page.locator(".card").nth(1).locator(".row").nth(1).click()
    settled(page)
    label = page.locator(".arc.fixed[data-word='7'] .name").text_content()
    assert label != "nmod"
    page.click("#undo")
    settled(page)
    page.click("#undo")
    settled(page)
    assert heads(page) == before
    assert page.locator("#undo").is_disabled()
    page.click("#redo")
    settled(page)
    assert heads(page)[6] == 4


def test_an_arc_is_required_and_forbidden_by_a_click(open_page, address):
    page = open_page(address, DESK)
    page.locator(".arc[data-word='7'] .name").click()
    page.locator("#popup button", has_text="Forbid").click()
    settled(page)
    assert heads(page)[6] == 4
    assert page.locator("g.barred").count() == 1
    page.locator(".arc[data-word='4'] .name").click()
    page.locator("#popup button", has_text="Require").click()
    settled(page)
    assert page.locator(".arc.fixed[data-word='4']").count() == 1
    page.locator(".arc[data-word='4'] .name").click()
    page.locator("#popup button", has_text="Why?").click()
    page.wait_for_selector("dialog table tbody tr:nth-child(6)")


def test_other_trees_and_choices(open_page, address):
    page = open_page(address, DESK)
    page.click("#flip-best")
    page.wait_for_selector("#flipping:not([hidden])")
    assert page.locator("#flip-now").inner_text().startswith("1 of 10")
    page.click("#flip-next")
    page.click("#flip-use")
    settled(page)
    assert heads(page)[6] == 4
    page.click("#flip-samples")
    page.wait_for_selector("#flipping:not([hidden])")
    page.click("#flip-end")
    for name, value in (("decode", "mbr"), ("trees", "projective"), ("root", "multi")):
        page.locator(f"input[name={name}][value={value}] + span").click()
        settled(page)
        assert page.locator(f"input[name={name}][value={value}]").is_checked()
    assert heads(page).count(0) > 1
    page.wait_for_selector("#facts:text('trained with one root')")


def test_heads_are_checked_surest_first(open_page, address):
    page = open_page(address, DESK)
    word(page, "She").click()
    page.keyboard.press("c")
    settled(page)
    state = "import('/static/app.js').then(m => [m.app.item.state.heads, m.app.chosen])"
    fixed, chosen = page.evaluate(state)
    assert fixed == [1]
    chances = page.evaluate("import('/static/app.js').then(m => m.app.answer.arc_probabilities)")
    assert chances[chosen - 1] == max(chances[1:])
    for _ in chances[1:]:
        page.get_by_role("button", name="Right, next").click()
        settled(page)
    assert sorted(page.evaluate(state)[0]) == list(range(1, len(chances) + 1))
    assert "Every head" in page.locator("#message").inner_text()
    page.click("#undo")
    settled(page)
    assert len(page.evaluate(state)[0]) == len(chances) - 1


def test_a_fixed_arc_is_not_released_to_keep_the_rest(open_page, address):
    """Fixed arcs that contradict each other are refused; others give way."""
    page = open_page(address, DESK, expected="422")
    opened_file(page, treebank(1))
    page.locator("#rest label", has_text="keep").click()
    word(page, "near").click()  # its head is the wall
    page.keyboard.press("f")
    settled(page)
    before = heads(page)
    word(page, "wall").click()
    page.evaluate("import('/static/app.js').then(m => m.app.do.setHead(8, 6))")
    settled(page)
    assert heads(page) == before
    assert "no tree" in page.locator("#message").inner_text()


def test_by_keyboard_alone(open_page, address):
    page = open_page(address, DESK)
    page.focus("#text")
    page.keyboard.press("Control+a")
    page.keyboard.type("The gulls sleep on the wall.")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.word').length === 7")
    for _ in range(12):  # through the buttons to the tree
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('word')"):
            break
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.word") == "2"
    page.keyboard.press("h")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    settled(page)
    assert heads(page)[1] == 6
    page.keyboard.press("l")
    page.keyboard.type("dep")
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator(".arc.fixed[data-word='2'] .name").text_content() == "dep"
    word(page, "gulls").focus()
    page.keyboard.press("u")
    settled(page)
    page.keyboard.press("u")
    settled(page)
    assert heads(page)[1] == 3
    page.keyboard.press("x")
    settled(page)
    assert heads(page)[1] != 3
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")


def test_a_file_of_2000_sentences_is_saved_byte_for_byte(open_page, address, size):
    page = open_page(address, size)
    text = treebank(2000)
    opened_file(page, text)
    assert "2,000 sentences" in page.locator("#list-title").text_content()
    assert saved(page) == text.encode()  # nothing was changed
    if size is PHONE:
        page.click("#list-box summary")
    assert page.locator(".entry").count() == 50  # page by page
    page.click("#page-next")
    page.locator(".entry .number", has_text=re.compile("^60$")).click()
    page.wait_for_function("() => document.getElementById('title').textContent.includes('s59')")
    assert heads(page) == [2, 3, 0, 5, 3, 8, 8, 3, 3]
    word(page, "wall").click()
    drag(page, word(page, "wall"), word(page, "fish"))
    assert heads(page)[7] == 5
    got = saved(page).decode()
    label = re.search(r"^8\twall\twall\tNOUN\t_\t_\t5\t(\S+)", got, re.M)[1]
    old = sentence(59, end="\r\n" if 59 % 7 == 3 else "\n")
    new = old.replace("8\twall\twall\tNOUN\t_\t_\t3\tobl", f"8\twall\twall\tNOUN\t_\t_\t5\t{label}")
    assert got == text.replace(old, new)
    page.click("#changes")
    assert "wall: head sees (3) → fish (5)" in page.locator("dialog").inner_text()
    page.locator("dialog .strong").click()
    page.click("#accept")
    page.wait_for_function("() => document.getElementById('title').textContent.includes('s60')")
    assert ", 1 accepted" in page.locator("#list-title").text_content()


def test_odd_files_keep_every_byte(open_page, address):
    """What the page makes of a file is the file, also in CoNLL-X, with marks and odd line ends."""
    page = open_page(address, DESK)
    for name, data in ODD_FILES.items():
        text = data.decode()
        parts = page.evaluate(
            """async (text) => {
              const { Sentence, splitSentences } = await import("/static/conllu.js");
              return splitSentences(text).map((one) => new Sentence(one).toString());
            }""",
            text,
        )
        assert "".join(parts) == text, name


def test_words_and_sentences_are_split_and_merged(open_page, address):
    page = open_page(address, DESK)
    text = treebank(2)
    opened_file(page, text)
    word(page, "gull").click()
    page.click("#split-word")
    page.fill("#split-input", "gu ll")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.word').length === 10")
    settled(page)
    assert heads(page)[0] in (2, 3)
    assert "2\tgu\t" in saved(page).decode()
    word(page, "gu").click()
    page.get_by_role("button", name="Merge with next").click()
    page.wait_for_function("() => document.querySelectorAll('.word').length === 9")
    settled(page)
    word(page, "near").click()
    page.get_by_role("button", name="New sentence here").click()
    page.wait_for_function("() => document.querySelectorAll('.word').length === 5")
    settled(page)
    got = saved(page).decode()
    assert "# sent_id = s0-1\n" in got
    assert "# sent_id = s0-2\n" in got
    page.get_by_role("button", name="Join next sentence").click()
    page.wait_for_function("() => document.querySelectorAll('.word').length === 9")
    settled(page)
    for _ in range(4):
        page.click("#undo")
        settled(page)
    assert saved(page) == text.encode()


def test_nothing_is_rendered_unescaped(open_page, address):
    bad = BAD
    page = open_page(address, DESK)
    page.select_option("#model", label="<b>en</b>")
    assert page.locator("#model").get_attribute("title").startswith(bad)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    text = treebank(3).replace("gull", bad).replace("nsubj", "<script>alert(1)</script>")
    text = text.replace("#odd", f"# {bad} = {bad}").replace("s1\n", f"{bad}\n")
    text = text.replace("DET", '"><svg onload=alert(1)>')
    opened_file(page, text, name="<b>name</b>.conllu")
    page.locator(".word").nth(1).click()
    page.click("#after")
    page.click("#before")
    page.locator(".word").nth(1).click()
    page.keyboard.press("1")
    settled(page)
    page.click("#changes")
    page.locator("dialog .strong").click()
    page.keyboard.press("Escape")
    page.fill("#label-input", bad)
    page.keyboard.press("Enter")
    page.fill("#tag-input", "<script>alert(1)</script>")
    page.keyboard.press("Enter")
    settled(page)
    assert page.locator("main img, main script, b, main svg svg").count() == 0
    assert bad in page.locator(".word .form").nth(1).text_content()
    with page.expect_download() as waiting:
        page.click("#saving summary")
        page.click("#save-svg")
    picture = waiting.value.path().read_text()
    assert "<img" not in picture
    assert not asked


def test_axe_finds_nothing(open_page, address, size):
    from axe_core_python.sync_playwright import Axe

    plan = {"light": ("text", "dialog"), "dark": ("file",)}
    if size is PHONE:
        plan = {"light": ("file",)}
    for scheme, parts in plan.items():
        page = open_page(address, size, color_scheme=scheme)
        for part in parts:
            if part == "file":
                opened_file(page, treebank(3))
                page.locator(".word").nth(4).click()
                page.keyboard.press("x")
                settled(page)
            if part == "dialog":
                page.click("#help")
            found = Axe().run(page)["violations"]
            assert not [(one["id"], one["nodes"][0]["html"][:200]) for one in found], part


def test_the_page_is_small_and_asks_nobody_else(open_page, address):
    context_urls = []
    page = open_page(address, DESK)
    page.on("request", lambda request: context_urls.append(request.url))
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert context_urls
    assert all(url.startswith((address, "data:")) for url in context_urls)


def test_pictures_of_the_documentation(open_page, address, tmp_path):
    """ARBORA_PICTURES=docs/images writes them there, as `make pictures` does."""
    folder = Path(os.environ.get("ARBORA_PICTURES", tmp_path))
    page = open_page(address, {"width": 1200, "height": 860})
    drag(page, word(page, "telescope"), word(page, "man"))
    word(page, "with").click()
    page.screenshot(path=folder / "page.png")
    page = open_page(address, {"width": 1200, "height": 860}, color_scheme="dark")
    bank = Path(__file__).parents[2] / "examples" / "treebank" / "test.conllu"
    page.set_input_files("#file", bank)
    page.wait_for_selector(".entry >> nth=20")
    page.locator(".entry").nth(5).click()
    page.wait_for_selector("#title:text('Sentence 6')")
    word(page, "that").click()
    page.locator("input[name=rest][value=parse] + span").click()
    drag(page, word(page, "that"), word(page, "ghost"))
    page.screenshot(path=folder / "page_dark.png")
    page = open_page(address, PHONE)
    page.screenshot(path=folder / "page_phone.png")
    assert all(
        (folder / f"page{end}.png").stat().st_size > 10_000 for end in ("", "_dark", "_phone")
    )
