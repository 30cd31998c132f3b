"""A preview as a picture of 1200 x 630 pixels."""

import io
from functools import cache

from PIL import Image, ImageDraw, ImageFont

from kbdash.api.preview.summary import Line, Preview
from kbdash.charts.palette import LIGHT

SIZE = (1200, 630)
MARGIN = 64
FONTS = ("DejaVuSans.ttf", "LiberationSans-Regular.ttf")
"""Common system fonts; Pillow's own has fewer characters."""
_TOP, _BOTTOM, _ROW = 206, 560, 44
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def picture_of(preview: Preview, *, sample: bool) -> bytes:
    """The picture as PNG."""
    image = Image.new("RGB", SIZE, LIGHT.background)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 14, SIZE[1]), fill=LIGHT.accent)
    head, _, rest = preview.title.partition(": ")
    width = SIZE[0] - 2 * MARGIN
    pen.text((MARGIN, 54), _fitted(pen, head, font(46), width), fill=LIGHT.text, font=font(46))
    under = preview.sentence if preview.lines else rest or preview.sentence
    pen.text((MARGIN, 128), _fitted(pen, under, font(26), width), fill=LIGHT.muted, font=font(26))
    lines = preview.lines[: (_BOTTOM - _TOP) // _ROW]
    for place, line in enumerate(lines):
        _row(pen, line, _TOP + place * _ROW)
    said = "kbdash · synthetic sample, not real results" if sample else "kbdash · GPU Mode and the KernelBot dataset"
    pen.text((MARGIN, 578), said, fill=LIGHT.flag if sample else LIGHT.muted, font=font(22))
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


@cache
def font(size: int) -> Font:
    """A font of that height."""
    for name in FONTS:
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return ImageFont.load_default(size)


def _row(pen: ImageDraw.ImageDraw, line: Line, y: int) -> None:
    """A name, a bar, a value."""
    left, right, room = MARGIN + 470, SIZE[0] - MARGIN, 190
    pen.text((MARGIN, y), _fitted(pen, line.name, font(28), 450), fill=LIGHT.text, font=font(28))
    if line.share is not None:
        length = max(4, round((right - room - left) * min(1.0, max(0.0, line.share))))
        pen.rounded_rectangle((left, y + 8, left + length, y + 28), 4, fill=LIGHT.accent)
    pen.text((right, y), _fitted(pen, line.value, font(28), room), fill=LIGHT.text, font=font(28), anchor="ra")


def _fitted(pen: ImageDraw.ImageDraw, text: str, of: Font, width: int) -> str:
    """The text, cut with an ellipsis if it is too wide."""
    if pen.textlength(text, of) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = pen.textlength(text[:middle] + "…", of) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[:low].rstrip() + "…"
