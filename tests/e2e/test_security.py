"""Text that came from others is shown and never run; nothing leaves this machine, and no secret leaves the server.

Every URL parameter against SQL is in tests/app/test_hostile_links.py.
"""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect

from kbdash.content.command import main as content_command
from kbdash.dataset.config import DATASET
from tests.e2e.conftest import Open, Serve, moved, settled
from tests.e2e.grid import column
from tests.e2e.serving import served
from tests.hub import LoopbackHub

PWN = "window.__pwned=1"
PROBES = (
    f"<img src=x onerror={PWN}>",
    f"<script>{PWN}</script>",
    f'"><svg onload={PWN}>',
    f"[click](javascript:{PWN})",
    f'<a href="javascript:{PWN}">me</a>',
    f"![x](x) <iframe srcdoc='<script>top.{PWN}</script>'>",
    "${alert(1)} {{7*7}} %{customdata[0]} $$\\href{javascript:alert(1)}{x}$$",
    f":material/home: :red[x] <b onmouseover={PWN}>b</b>",
)
PATHS = (
    "../../etc/passwd",
    "..\\..\\boot.ini",
    "a\r\nSet-Cookie: x=1.py",
    "/etc/shadow\x00.py",
    "CON",
    "x" * 300 + ".py",
)
TURNED = "turned = 'a\u202eb\u200bc' \u2066<b>"
CODE = f"</script></code></pre>{''.join(PROBES)}\nimport os  # {PROBES[0]}\n{TURNED}\n# {'x' * 3000}\n"
NAMES = "nvidia_nvfp4_submissions.parquet"
ROWS = 250  # of 1,688: each attack is among them many times, and less is built and drawn
STRANGE = "strange_submissions.parquet"
ALIVE = """() => [
  window.__pwned ?? null,
  ...document.querySelectorAll("[onerror], [onload], [onmouseover], iframe[srcdoc], img[src=x]"),
  ...document.querySelectorAll("a[href^='javascript' i]"),
].filter((found) => found !== null).length"""
BOXES = """(charts) => charts.map((chart) => {
  const box = chart.getBoundingClientRect();
  return [box.left, box.top + box.height / 2, box.width];
})"""
SECRET = "hf_TheSecretThatNobodyMaySee"


@pytest.fixture(scope="module")
def hostile(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset in which every text that users choose, and every name in an unknown file, attacks the reader."""
    folder = tmp_path_factory.mktemp("hostile")
    table = pq.read_table(sample_folder / NAMES)
    table = table.filter(pa.compute.equal(table["problem_name"], "nvfp4_gemm")).slice(0, ROWS)
    count = len(table)
    users = table["user_id"].to_pylist()
    place = {user: number for number, user in enumerate(dict.fromkeys(users))}
    made = {
        "user_name": [PROBES[place[user] % len(PROBES)] for user in users],
        "file_name": [(*PROBES, *PATHS)[number % (len(PROBES) + len(PATHS))] for number in range(count)],
        "status": [PROBES[0] if status != "succeeded" else status for status in table["status"].to_pylist()],
        "code": [CODE] * count,
    }
    for name, values in made.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.large_string()))
    pq.write_table(table, folder / NAMES)
    for name in ("problem_name", "runner"):
        old = table[name].to_pylist()
        values = [None if value is None else PROBES[number % 3] for number, value in enumerate(old)]
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.large_string()))
    ids = pa.compute.add(table["submission_id"], 10**9)
    pq.write_table(table.set_column(table.column_names.index("submission_id"), "submission_id", ids), folder / STRANGE)
    return folder


@pytest.fixture(scope="module")
def attacked(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard over that dataset."""
    work = tmp_path_factory.mktemp("attacked")
    build = ["build", "nvfp4", "--source", str(hostile), "--verdicts", "none"]
    assert content_command(build, environ={"KBDASH_CACHE": str(work)}) == 0
    with served(work / "app.log", {"KBDASH_SOURCE": str(hostile), "KBDASH_CACHE": str(work)}) as base:
        yield base


def unharmed(page: Page, where: str) -> None:
    """Nothing of an attack may have run or become part of the page."""
    settled(page)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.locator(".st-key-unexpected-box")).to_have_count(0)
    assert page.evaluate(ALIVE) == 0, where


def watched(page: Page) -> list[str]:
    """Dialogs that opened on a page."""
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    return dialogs


def test_texts_of_users_are_shown_and_never_run(attacked: str, open_page: Open) -> None:
    page = open_page(attacked)
    dialogs = watched(page)
    unharmed(page, "/")
    for path in ("/strange", "/nvfp4"):
        moved(page, attacked + path)
        unharmed(page, path)
    assert set(column(page, "leaderboard-table", "User")) == set(PROBES)
    for tab in ("Distribution", "Progression", "Submissions"):
        page.get_by_role("tab", name=tab).click()
        unharmed(page, tab)
        boxes = page.locator(".js-plotly-plot:visible").evaluate_all(BOXES)
        for left, middle, width in boxes:
            for share in (0.2, 0.5, 0.8):
                page.mouse.move(left + share * width, middle)
        unharmed(page, tab)
    page.get_by_role("button", name="Filters").click()
    page.locator(".st-key-nvfp4-users input").click()
    expect(page.get_by_role("option").first).to_be_visible()
    unharmed(page, "Filters")
    assert dialogs == []


def test_lines_and_patterns_are_shown_and_never_run(attacked: str, open_page: Open) -> None:
    page = open_page(f"{attacked}/search")
    dialogs = watched(page)
    searches = ({"q": PROBES[0]}, {"q": "onerror"}, {"q": "(x+x+)+y|turned", "mode": "regex"}, {"q": TURNED})
    for asked in searches:
        moved(page, f"{attacked}/search?{urlencode(asked)}")
        unharmed(page, str(asked))
        expect(page.locator(".st-key-search-table tbody tr").first).to_be_visible()
    assert page.locator(".st-key-search-table tbody .code").first.text_content() == TURNED
    page.locator(".st-key-search-table tbody .code a").first.click()
    page.wait_for_url(re.compile("/submission"))
    page.get_by_test_id("stButtonGroup").get_by_text("Origins").click()
    page.wait_for_url(re.compile("show=origins"))
    unharmed(page, "origins")
    for path in ("/nvfp4?tab=techniques", "/steps", "/trust"):
        moved(page, attacked + path)
        unharmed(page, path)
    assert dialogs == []


def test_code_and_file_names_are_shown_and_never_run(attacked: str, hostile: Path, open_page: Open) -> None:
    rows = pq.read_table(hostile / NAMES).to_pandas()
    passed = rows[rows["passed"].fillna(False) & rows["score"].gt(1e-6)]
    names = passed[passed["file_name"].isin([*PATHS, PROBES[0]])].drop_duplicates("file_name")
    assert len(names) == len(PATHS) + 1
    page = open_page(f"{attacked}/submission?id=1")
    dialogs = watched(page)
    for row in names.itertuples():
        moved(page, f"{attacked}/submission?id={row.submission_id}&find=%3C")
        expect(page.locator('.st-key-code .line[data-n="1"]')).to_have_text(CODE.splitlines()[0])
        unharmed(page, row.file_name)
        with page.expect_download() as download:
            page.get_by_role("button", name="Download", exact=True).click()
        assert re.fullmatch(r"kbdash_[\w.-]{1,200}", download.value.suggested_filename), row.file_name
        assert ".." not in download.value.suggested_filename
    one, two = names["submission_id"].iloc[:2]
    for path in (f"/compare?a={one}&b={two}", f"/ladder?problem=nvfp4_gemm&user={passed['user_id'].iloc[0]}"):
        moved(page, attacked + path)
        unharmed(page, path)
    moved(page, f"{attacked}/user?find=script")
    unharmed(page, "/user")
    assert dialogs == []


LINKS = (
    "/nvfp4?problem={0}&runner={0}&user={0}&find={0}&tab={0}&sort={0}",
    "/nvfp4?tab=submissions&find={0}",
    "/submission?id=1&runner={0}&competition={0}&find={0}",
    "/submission?id={0}&line={0}",
    "/compare?a=1%40{0}&b={0}",
    "/ladder?problem=nvfp4_gemm&user={0}&runner={0}",
    "/user?find={0}",
    "/user?user={0}",
    "/?page=javascript:alert(1)&x={0}",
    "/about?{0}={0}",
)


def test_nothing_in_a_link_is_run(app: str, open_page: Open) -> None:
    page = open_page(f"{app}/nvfp4?find={quote(PROBES[0], safe='')}")
    dialogs = watched(page)
    for number, link in enumerate(LINKS):
        probe = PROBES[number % len(PROBES)]
        address = app + link.format(quote(probe, safe=""))
        with urlopen(address, timeout=10) as answer:
            assert probe not in answer.read().decode(), link
        moved(page, address)
        unharmed(page, link)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert dialogs == []


def test_security_headers_are_on_every_answer(app: str) -> None:
    for path in ("/", "/nvfp4", "/_stcore/health", "/api/health", "/nothing-here.js"):
        host = urlsplit(app)
        connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=10)
        connection.request("GET", path)
        headers = connection.getresponse().headers
        connection.close()
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] == "strict-origin-when-cross-origin", path
        assert "camera=()" in headers["Permissions-Policy"], path


def test_the_page_itself_names_no_other_host(app: str) -> None:
    with urlopen(f"{app}/", timeout=10) as answer:
        html = answer.read().decode()
    addresses = re.findall(r"""(?:src|href|content)\s*=\s*["']((?:https?:)?//[^"']+)""", html)
    assert "<title>" in html
    assert [address for address in addresses if not address.startswith(f"{app}/")] == []


def test_an_enormous_address_is_refused_and_the_server_goes_on(app: str) -> None:
    host = urlsplit(app)
    connection = http.client.HTTPConnection(host.hostname or "", host.port, timeout=20)
    try:
        connection.request("GET", "/nvfp4?find=" + "x" * 500_000)
        assert connection.getresponse().status < 500
    except ConnectionError:
        pass  # closed in the middle of the address is an answer, too
    finally:
        connection.close()
    with urlopen(f"{app}/_stcore/health", timeout=10) as answer:
        assert answer.read() == b"ok"


def test_the_token_is_nowhere_to_be_seen(serve: Serve, open_page: Open, sample_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / NAMES).write_bytes((sample_folder / NAMES).read_bytes())
    with LoopbackHub(folder, private=True, token=SECRET) as hub:
        base = serve(HF_ENDPOINT=hub.endpoint, KBDASH_SOURCE=DATASET, HF_TOKEN=SECRET)
        page = open_page(f"{base}/nvfp4?problem=nvfp4_gemm")
        seen = [page.content()]
        page.get_by_role("button", name="Download").click()
        for kind in ("CSV", "Parquet"):
            with page.expect_download() as download:
                page.get_by_role("button", name=kind).click()
            seen.append(Path(download.value.path()).read_bytes().decode("latin-1"))
        seen.append(moved(page, f"{base}/about").content())
        hub.faults.fail(401, "*")
        seen.append(moved(page, f"{base}/nvfp4?problem=nvfp4_group_gemm&tab=submissions").content())
        hub.faults.clear()
    logs = [path.read_text() for path in tmp_path.glob("*.log")]
    assert logs
    assert not [place for place, text in enumerate([*seen, *logs]) if SECRET in text]
