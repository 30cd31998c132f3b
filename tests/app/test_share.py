"""What a reader takes along is what is shown: links, files, SQL."""

import io
from datetime import date

import pandas as pd
import pytest

import kbdash
from kbdash.config import Settings
from kbdash.ui import share
from tests.app.conftest import Open


@pytest.mark.parametrize(
    ("shown", "page", "space", "expected"),
    [
        ("http://localhost:8501/nvfp4", "nvfp4", None, "http://localhost:8501/nvfp4"),
        ("http://localhost:8501/", "", None, "http://localhost:8501/"),
        ("http://localhost:8501", "", None, "http://localhost:8501/"),
        ("https://x.example/base/nvfp4", "nvfp4", None, "https://x.example/base/nvfp4"),
        ("https://x.example/base/", "", None, "https://x.example/base/"),
        ("http://10.0.0.1:8501/nvfp4", "nvfp4", "me-kbdash.hf.space", "https://me-kbdash.hf.space/nvfp4"),
        (None, "nvfp4", None, "/nvfp4"),
    ],
)
def test_links_carry_the_address_anybody_can_open(
    shown: str | None, page: str, space: str | None, expected: str
) -> None:
    assert share.base_url(shown, page, space) == expected


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"), (True, "true"), (3, "3"), (1.5e-05, "1.5e-05"), (date(2026, 2, 1), "'2026-02-01'"),
        ("it's", "'it''s'"), (["a", "b'"], "['a', 'b''']"), ((), "[]"),
    ],
)  # fmt: skip
def test_literals(value: object, written: str) -> None:
    assert share.literal(value) == written


def test_files_hold_exactly_the_frame() -> None:
    frame = pd.DataFrame(
        {
            "user_name": ["<img src=x>", "lynn 𖤐", 'a,b\n"c"'],
            "user_id": ["103906690925649842288", "1", "2"],
            "score": [9.953781736809782e-06, 1e-05, float("nan")],
            "submitted_at": pd.to_datetime(["2025-12-21T00:43:03.703Z", None, None], format="ISO8601"),
        }
    )
    read = pd.read_csv(io.BytesIO(share.csv(frame)), dtype={"user_id": str, "user_name": str})
    assert read["user_id"].tolist() == frame["user_id"].tolist()
    assert read["user_name"].tolist() == frame["user_name"].tolist()
    assert read["score"].tolist()[:2] == frame["score"].tolist()[:2]
    assert read["submitted_at"][0] == "2025-12-21T00:43:03.703000Z"
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(share.parquet(frame))), frame)


def test_the_sql_shown_gives_what_is_shown(sample: Open) -> None:
    app = sample("nvfp4", problem="nvfp4_group_gemm", runner="B200", to="2026-02-15", top="9")
    statement = next(block.value for block in app.code if "ranking(" in block.value)
    kb = kbdash.connect(settings=Settings.from_env())
    rows = kb.sql(statement)
    shown = app.dataframe[0].value
    assert rows["rank"].tolist() == shown["rank"].tolist()
    assert (rows["score"] * 1e6).tolist() == pytest.approx(shown["time"].tolist())
    kb.close()


@pytest.mark.parametrize(
    ("tab", "question"),
    [
        ("distribution", "bins"), ("progression", "best_so_far"), ("submissions", "number_key"), ("hardware", "bins"),
    ],
)  # fmt: skip
def test_every_tab_shows_sql_that_runs(sample: Open, tab: str, question: str) -> None:
    app = sample("nvfp4", problem="nvfp4_group_gemm", tab=tab)
    kb = kbdash.connect(settings=Settings.from_env())
    assert len(kb.sql(app.code[0].value))
    assert question in app.code[0].value
    kb.close()
