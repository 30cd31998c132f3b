"""The pictures of the README, taken from the sample (which marks itself): python -m docs.pictures [NAME …]"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests import browser as chromium
from tests.e2e.conftest import ARGUMENTS, settled
from tests.e2e.serving import served
from tests.stock import stock

FOLDER = Path(__file__).parent
# file name -> (address, width, height, dark)
PICTURES = {
    "overview.png": ("/", 1280, 900, False),
    "competition.png": ("/nvfp4?problem=nvfp4_gemm", 1280, 1000, False),
    "progression.png": ("/nvfp4?problem=nvfp4_gemm&tab=progression&span=final", 1280, 1000, True),
    "field.png": ("/nvfp4?problem=nvfp4_gemm&tab=distribution", 1280, 1250, False),
    "search.png": ("/search?q=tcgen05&problem=nvfp4_gemm", 1280, 1000, False),
    "techniques.png": ("/nvfp4?problem=nvfp4_gemm&tab=techniques", 1280, 1500, False),
    "origins.png": ("/submission?id=5215968&show=origins", 1280, 1000, True),
    "thumbnail.png": ("/nvfp4?problem=nvfp4_gemm", 1200, 675, False),
}


def main() -> None:
    """Take those that are named, or all of them."""
    wanted = sys.argv[1:] or list(PICTURES)
    with (
        tempfile.TemporaryDirectory() as home,
        served(
            Path(home) / "log", {"KBDASH_SOURCE": "sample", "KBDASH_CACHE": str(stock(Path(home) / "cache"))}
        ) as base,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=ARGUMENTS)
        for name in wanted:
            address, width, height, dark = PICTURES[name]
            _take(browser, base + address, FOLDER / name, (width, height), dark=dark)
        browser.close()


def _take(browser: Browser, address: str, path: Path, size: tuple[int, int], *, dark: bool) -> None:
    """One picture, with few enough colours to stay small."""
    scheme = "dark" if dark else "light"
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_page(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    page.set_default_timeout(120_000)  # a busy machine draws late
    page.goto(address)
    settled(page)
    page.wait_for_load_state("networkidle")
    page.locator("table, .viewer, .js-plotly-plot .main-svg").filter(visible=True).first.wait_for()
    page.wait_for_timeout(1500)  # grids and charts draw themselves a moment after they are there
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.quantize(colors=96, method=Image.Quantize.MEDIANCUT).save(path, optimize=True)
    page.close()


if __name__ == "__main__":
    main()
