"""Taking things along and getting around, as a reader does: copied links, SQL, study sets, keys."""

import io
import json
import zipfile
from pathlib import Path

import httpx2
import pandas as pd
from playwright.sync_api import expect

from tests.e2e.conftest import Open, moved, settled


def test_the_data_link_gives_the_rows_of_the_page(open_page: Open, app: str) -> None:
    page = open_page(f"{app}/nvfp4?problem=nvfp4_gemm&runner=NVIDIA&to=2025-12-20&top=5")
    page.get_by_role("button", name="Copy data link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    csv = pd.read_csv(io.StringIO(httpx2.get(link).text), dtype={"user_id": str})
    rows = json.loads(httpx2.get(link.replace(".csv", ".json")).text)["rows"]
    parquet = pd.read_parquet(io.BytesIO(httpx2.get(link.replace(".csv", ".parquet")).content))
    assert csv["score"].tolist() == [row["score"] for row in rows] == parquet["score"].tolist()
    page.locator(".st-key-leaderboard-download button").first.click()
    with page.expect_download() as download:
        page.locator(".st-key-leaderboard-csv button").click()
    shown = pd.read_csv(download.value.path(), dtype={"user_id": str})
    assert shown["submission_id"].tolist() == csv["submission_id"].tolist()
    assert shown["score"].tolist() == csv["score"].tolist()


def test_a_study_set_is_prepared_and_downloaded(open_page: Open, app: str, tmp_path: Path) -> None:
    page = open_page(f"{app}/nvfp4?problem=nvfp4_gemm&runner=NVIDIA")
    page.locator(".st-key-leaderboard-study button").first.click()
    expect(page.get_by_text("nothing to fetch").or_(page.get_by_text("to read from disk"))).to_be_visible()
    page.get_by_role("button", name="Prepare 20 texts").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Zip").click()
    download.value.save_as(tmp_path / "set.zip")
    assert len(zipfile.ZipFile(tmp_path / "set.zip").namelist()) == 22


def test_sql_is_typed_and_run_and_opened_from_a_view(open_page: Open, app: str) -> None:
    page = open_page(f"{app}/sql")
    box = page.locator("textarea")
    box.fill("select 6 * 7 as answer")
    box.press("Control+Enter")
    expect(page.get_by_role("region", name="Answer of the statement")).to_be_attached()
    page.wait_for_url("**q=select+6+%2A+7+as+answer")
    moved(page, f"{app}/nvfp4?problem=nvfp4_gemm&runner=NVIDIA")
    page.locator(".st-key-leaderboard-sql button").first.click()
    page.get_by_text("Open in the console").click()
    expect(page.get_by_role("region", name="Answer of the statement")).to_be_attached()
    page.wait_for_url("**/sql?q=**")
    expect(page.get_by_text("65 rows")).to_be_visible()


def test_keys_search_people_and_boards_and_walk_through_submissions(open_page: Open, app: str) -> None:
    rows = httpx2.get(f"{app}/api/leaderboard.json?problem=nvfp4_gemm&runner=NVIDIA").json()["rows"]
    page = open_page(f"{app}/submission?id={rows[0]['submission_id']}")
    search = page.get_by_role("button", name="Search", exact=True)
    expect(search).to_be_enabled()  # and so are the keys
    page.keyboard.press("]")
    page.wait_for_url(f"**id={rows[1]['submission_id']}*")
    settled(page)
    page.keyboard.press("[")
    page.wait_for_url(f"**id={rows[0]['submission_id']}*")
    settled(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.type(rows[0]["user_name"][:8])
    expect(page.get_by_role("option", name=rows[0]["user_name"]).first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/user?user=*")
    settled(page)
    # Written into a field, the same keys are letters.
    field = page.get_by_label("Find a person")
    field.fill("a")
    field.press("/")
    field.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(field).to_have_value("a/?")
    page.keyboard.press("Escape")
    search.click()
    page.keyboard.type("trimul")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/trimul*")
