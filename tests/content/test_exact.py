"""Every text out of a store is the one that pyarrow reads from the file."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.content.building.pages import PageStream
from kbdash.content.building.parts import _newlines, finished_parts, split_page, write_part
from kbdash.content.store.finished import Store, find_store
from kbdash.dataset.config import Settings
from kbdash.dataset.source import open_source
from kbdash.errors import CorruptData
from tests.content.files import Made, Sent, codes_of, tables_of
from tests.examples import examples

CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
LINES = st.sampled_from([b"", b"a", b"  a", b"a  ", b"\r", b"x\x00y", b"\xff\xfe", "\u2028b".encode(), b"c" * 300])
TEXTS = st.one_of(st.none(), st.lists(LINES, max_size=12).map(b"\n".join), st.binary(max_size=40))
LAYOUTS = st.fixed_dictionaries(
    {
        "compression": st.sampled_from(CODECS),
        "data_page_version": st.sampled_from(["1.0", "2.0"]),
        "use_dictionary": st.booleans(),
        "write_page_index": st.booleans(),
        "row_group_size": st.sampled_from([1, 3, 1000]),
        "data_page_size": st.sampled_from([1, 200, 1 << 20]),
        "write_batch_size": st.sampled_from([1, 2, 1024]),
    }
)


@pytest.fixture(scope="module")
def sample_stores(sample_cache: Path, sample_content: Path) -> dict[Path, Store]:
    """The store of every competition of the sample."""
    source = open_source(Settings(source="sample", cache=sample_cache))
    found = {Path(file.location): find_store(sample_content, file) for file in source.files.values()}
    source.close()
    return {path: store for path, store in found.items() if store}


def test_every_text_of_the_sample_comes_back(sample_stores: dict[Path, Store]) -> None:
    assert len(sample_stores) == 7
    for path, store in sample_stores.items():
        ids = pq.read_table(path, columns=["submission_id"]).column(0).to_pylist()
        codes = codes_of(path)
        assert [store.cell(row, ids[row]) for row in range(len(codes))] == codes
        assert store.manifest.text_bytes == sum(len(text) for text in set(codes) - {None})


def test_the_store_is_much_smaller_than_the_file(sample_stores: dict[Path, Store]) -> None:
    assert sum(store.size_bytes for store in sample_stores.values()) < 0.4 * sum(
        path.stat().st_size for path in sample_stores
    )


@given(codes=st.lists(TEXTS, min_size=1, max_size=20), layout=LAYOUTS)
@examples(25)
def test_texts_of_any_layout_come_back(codes: list[bytes | None], layout: dict[str, object]) -> None:
    rows = [Sent(100 + row, code, user=f"u{row % 3}", at=row % 5) for row, code in enumerate(codes)]
    with tempfile.TemporaryDirectory() as folder:
        store = Made(rows, layout).store(Path(folder), part_bytes=100)
        assert [store.cell(row, 100 + row) for row in range(len(codes))] == codes
        assert store.manifest.texts == len(set(codes) - {None})


def test_a_text_in_two_pages_that_were_split_at_once_is_kept_once(tmp_path: Path) -> None:
    layout = {"data_page_size": 1, "write_batch_size": 1, "use_dictionary": False}
    source = Made([Sent(1, b"a\nb"), Sent(2, b"a\nb"), Sent(3, b"c\na\n")], layout).order(tmp_path).bytes
    stream = PageStream(source, "code")
    pages = [split_page(stream, raw, set()) for raw in stream.pages(source)]
    assert [len(page.digests) for page in pages] == [1, 1, 1]
    write_part(tmp_path, 0, pages)
    [part] = finished_parts(tmp_path)
    lines = part.array("lines", "line").to_pylist()
    assert part.array("texts", "count").to_pylist() == [2, 3]
    assert part.array("texts", "bytes").to_pylist() == [3, 4]
    assert [lines[number] for number in part.array("ids", "id").to_pylist()] == [b"a", b"b", b"c", b"a", b""]


@pytest.mark.parametrize(
    "code",
    [
        b"x" * 1_000_000,
        b"\n" * 5000,
        b"\n".join(b"line %d" % n for n in range(50_000)),
        b"",
        b"\n",
        bytes(range(256)) * 9,
    ],
    ids=["line of a megabyte", "empty lines", "400 KB", "empty", "newline", "all bytes"],
)
def test_odd_texts_come_back(code: bytes, tmp_path: Path) -> None:
    store = Made([Sent(1, code), Sent(2, None), Sent(3, code + b"\nz")]).store(tmp_path)
    assert [store.cell(0, 1), store.cell(1, 2), store.cell(2, 3)] == [code, None, code + b"\nz"]


def test_text_columns_of_strings_come_back(tmp_path: Path) -> None:
    store = Made([Sent(1, "é\nß".encode())], kind=pa.large_string()).store(tmp_path)
    assert store.cell(0, 1) == "é\nß".encode()


def test_a_file_without_rows_has_an_empty_store(tmp_path: Path) -> None:
    assert Made([]).store(tmp_path).manifest.texts == 0


def test_a_row_of_another_submission_is_refused(tmp_path: Path) -> None:
    store = Made([Sent(1, b"a"), Sent(2, b"b")]).store(tmp_path)
    with pytest.raises(CorruptData):
        store.cell(0, 2)


def test_a_damaged_text_is_refused(tmp_path: Path) -> None:
    store = Made([Sent(1, b"first\nsecond")]).store(tmp_path)
    path = store.folder / "lines.parquet"
    lines = pq.read_table(path)
    swapped = lines.set_column(1, lines.schema.field(1), pa.array([b"first", b"secund"], pa.large_binary()))
    pq.write_table(swapped, path)
    with pytest.raises(CorruptData, match="sha256"):
        Store(store.folder, store.manifest).cell(0, 1)


@given(order=st.permutations(range(16)), layout=LAYOUTS)
@examples(12)
def test_the_order_of_rows_changes_only_the_table_of_rows(order: list[int], layout: dict[str, object]) -> None:
    assert tables_but_rows(Made([IN_ORDER[n] for n in order], layout), part_bytes=60) == tables_in_order()


# Texts that several users sent, texts of one user at the same moment, and two texts of one submission.
IN_ORDER = [
    *(
        Sent(n, b"a\nb%d\nc%d" % (n % 4, n % 3), user=f"u{n // 2 % 2}", problem=f"p{n // 7}", at=n // 4 % 2)
        for n in range(14)
    ),
    Sent(20, b"d\ne", runner="B200", at=1),
    Sent(20, b"d\nf", runner="H100", at=1),
]


@cache
def tables_in_order() -> dict[str, object]:
    return tables_but_rows(Made(IN_ORDER), part_bytes=1 << 20)


def tables_but_rows(made: Made, part_bytes: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        tables = tables_of(made.store(Path(folder), part_bytes=part_bytes).folder)
    del tables["rows"]
    return tables


def test_sizes_of_texts(tmp_path: Path) -> None:
    twice = b"@triton.jit\ndef a(): pass\n@triton.jit\ndef b(): pass\n"
    triton = b"import triton\n\n# a note\n" + twice + b"c = [C(num_warps=4), C(num_warps=16, num_stages=3)]"
    cuda = b'src = """\n__global__ void k() {}\n"""\nd = {"num_stages": 2, "num_warps": n}'
    store = Made([Sent(1, triton, at=1), Sent(2, cuda, at=2), Sent(3, b"", at=3)]).store(tmp_path)
    sizes = [store.texts.column(name).to_pylist() for name in ("code_lines", "kernels", "num_warps", "num_stages")]
    assert list(zip(*sizes, strict=True)) == [(6, 2, 16, 3), (4, 1, 0, 2), (0, 0, 0, 0)]


PROGRAM_LINES = st.sampled_from(
    [b"", b"  ", b"# note", b"a = 1", b"a = 1  ", b"b(num_warps=8)", b"num_warps=2", b"__global__ f", b"c"]
)


@given(texts=st.lists(st.lists(PROGRAM_LINES, min_size=1, max_size=9), min_size=1, max_size=9))
@examples(40)
def test_programs_and_sizes_are_those_of_the_lines_one_by_one(texts: list[list[bytes]]) -> None:
    rows = [Sent(n, b"\n".join(lines), user=f"u{n}") for n, lines in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        store = Made(rows).store(Path(folder))
        found = {name: store.texts.column(name).to_pylist() for name in ("program", "code_lines", "num_warps")}
        kept = [store.text(text) for text in range(len(found["program"]))]
    does = [tuple(line.rstrip() for line in text.split(b"\n") if line.strip() not in (b"", b"# note")) for text in kept]
    assert found["code_lines"] == [len(each) for each in does]
    assert found["num_warps"] == [8 if b"8" in text else 2 if b"warps" in text else 0 for text in kept]
    for one, first in zip(found["program"], does, strict=True):
        for other, second in zip(found["program"], does, strict=True):
            assert (one == other) == (first == second)


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 1, 1 << 18, 700_000])
def test_newlines_are_found_in_a_page_of_any_length(size: int) -> None:
    body = np.random.default_rng(size).integers(0, 20, size, np.uint8)
    assert _newlines(body).tolist() == [place for place, sign in enumerate(body.tolist()) if sign == 10]
