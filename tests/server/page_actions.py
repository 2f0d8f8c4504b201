"""What the tests do in the page: look, drag, open, save."""

from __future__ import annotations

DESK = {"width": 1280, "height": 900}


def heads(page):
    return page.evaluate("import('/static/app.js').then(m => m.app.answer.heads)")


def settled(page):
    """Waits until all corrections are answered, and the changes of a server's file sent."""
    page.evaluate(
        "import('/static/app.js').then(async m => {await m.app.do.waiting; "
        "await m.app.work.sending;})"
    )


def word(page, form):
    return page.locator(".word", has=page.locator(f".form:text-is('{form}')")).first


def drag(page, source, target):
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"], start["y"] - 30, steps=3)
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()
    settled(page)


def opened_file(page, text, name="bank.conllu"):
    data = text.encode()
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": data})
    page.wait_for_function("name => document.title.includes(name)", arg=name)


def saved(page):
    with page.expect_download() as waiting:
        page.keyboard.press("Control+s")
    return waiting.value.path().read_bytes()
