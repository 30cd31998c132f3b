"""An address that is none of ours."""

from playwright.sync_api import expect

from tests.e2e.conftest import Open, settled


def test_an_address_without_a_page_says_so_and_leads_on(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/abut?a=1")
    expect(page.get_by_role("heading", name="No such page")).to_be_visible()
    expect(page.get_by_text("Nothing is at /abut. Did you mean one of these?")).to_be_visible()
    assert page.get_by_test_id("stPageLink").all_inner_texts() == ["About", "Overview"]
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_test_id("stPageLink").get_by_text("About").click()
    settled(page)
    expect(page.get_by_role("heading", name="How it is ranked")).to_be_visible()
    assert page.url == f"{app}/about"
    page.go_back()
    settled(page)
    expect(page.get_by_role("heading", name="No such page")).to_be_visible()
