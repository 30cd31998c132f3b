"""Tables in the browser: drawn on a canvas, with a plain table of the rows in sight inside it for screen readers."""

from playwright.sync_api import Locator, Page, expect

ROW = 35  # pixels, the header too


def table(page: Page, key: str) -> Locator:
    """A table by its key, once its rows are there."""
    found = page.locator(f".st-key-{key}")
    expect(found.get_by_test_id("glide-cell-0-0")).to_be_attached()
    return found


def headers(page: Page, key: str) -> list[str]:
    """The names of the columns."""
    return table(page, key).locator("th").all_text_contents()


def column(page: Page, key: str, name: str) -> list[str]:
    """The cells of a column, of the rows in sight."""
    place = headers(page, key).index(name) + 1
    return table(page, key).locator(f'td[aria-colindex="{place}"]').all_text_contents()


def press(page: Page, key: str, row: int) -> None:
    """Click the first button of a row; it is painted, so the pointer has to look for it."""
    box = table(page, key).get_by_test_id("data-grid-canvas").bounding_box()
    assert box is not None
    y = box["y"] + ROW * (row + 1) + ROW / 2
    for x in range(10, int(box["width"]), 20):
        page.mouse.move(box["x"] + x, y)
        cursor = "([x, y]) => getComputedStyle(document.elementFromPoint(x, y)).cursor"
        if page.evaluate(cursor, [box["x"] + x, y]) == "pointer":
            page.mouse.click(box["x"] + x, y)
            return
    raise AssertionError(f"row {row} of {key} has no button")
