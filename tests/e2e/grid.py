"""Tables in the browser, by key: their heads, cells and links."""

from playwright.sync_api import Locator, Page, expect


def table(page: Page, key: str) -> Locator:
    """A table by its key, once its rows are there."""
    found = page.locator(f".st-key-{key}")
    expect(found.locator("tbody tr").first).to_be_attached()
    return found


def headers(page: Page, key: str) -> list[str]:
    """The names of the columns."""
    return [text.strip() for text in table(page, key).locator("thead th:not(.tick)").all_text_contents()]


def column(page: Page, key: str, name: str) -> list[str]:
    """The cells of a column."""
    place = headers(page, key).index(name)
    cells = "(rows, place) => rows.map((row) => row.querySelectorAll(':scope > :not(.tick)')[place].textContent)"
    found: list[str] = table(page, key).locator("tbody tr").evaluate_all(cells, place)
    return found


def press(page: Page, key: str, row: int, word: str = "Code") -> None:
    """Click the link with that word in a row."""
    table(page, key).locator("tbody tr").nth(row).get_by_role("link", name=word, exact=True).click()
