"""In a notebook: frames that read well and stay frames, charts by name, help."""

import inspect
import pydoc

import pandas as pd
import pytest

import kbdash
from kbdash import charts
from kbdash.charts.named import CHARTS
from kbdash.database.answer import Answer
from kbdash.engine import KernelBot
from kbdash.errors import QueryRefused
from kbdash.units import time_text, unit_for


def test_times_are_printed_with_their_unit_and_stay_seconds(kb: KernelBot) -> None:
    board = kb.leaderboard("nvfp4_gemm")
    best = board["score"].iloc[0]
    shown = time_text(best, unit_for(best)).replace("\u2009", " ")
    assert shown in repr(board)
    assert shown in str(board._repr_html_())
    assert shown in repr(board.head(3)[["rank", "score"]])
    assert board["score"].dtype == float
    assert best == kb.summary("nvfp4_gemm", runner="NVIDIA")["best"].iloc[0]
    assert isinstance(board, pd.DataFrame)
    assert board.to_csv() == pd.DataFrame(board).to_csv()


def test_what_is_known_about_an_answer_stays_with_it(kb: KernelBot) -> None:
    assert "unavailable" in kb.overview().attrs
    assert isinstance(kb.submissions("trimul").rows, Answer)


def test_names_are_inert_in_print() -> None:
    frame = Answer({"user_name": ["\x1b[2Jevil", None, "<b>x</b>"], "score": [1e-5, None, float("inf")]})
    assert "\x1b" not in repr(frame)
    assert "&lt;b&gt;" in str(frame._repr_html_())
    assert "10.00 µs" in repr(frame)
    assert frame["user_name"].iloc[0] == "\x1b[2Jevil"


@pytest.mark.parametrize("name", CHARTS)
def test_charts_have_names(kb: KernelBot, name: str) -> None:
    user = kb.leaderboard("trimul", runner="A100")["user_name"].iloc[0]
    figure = kb.chart(name, "trimul", runner="A100", users=[user] if name == "ladder" else ())
    assert len(figure.data)
    dark = kb.chart(name, "trimul", runner="A100", users=[user] if name == "ladder" else (), theme="dark")
    assert dark.to_json() != figure.to_json()


def test_a_chart_is_the_one_of_the_page(kb: KernelBot) -> None:
    board = kb.board("nvfp4_gemm")
    bests = kb.personal_bests("nvfp4_gemm", runner="NVIDIA")
    expected = charts.progression(bests, unit_for(bests["score"].min()), deadline=board.deadline)
    assert kb.chart("progression", "nvfp4_gemm").to_json() == expected.to_json()


def test_an_unknown_chart_is_told(kb: KernelBot) -> None:
    with pytest.raises(QueryRefused, match="There is no chart pie") as refused:
        kb.chart("pie", "trimul")
    assert "progression" in refused.value.advice
    with pytest.raises(QueryRefused, match="one user"):
        kb.chart("ladder", "trimul")


def public() -> list[str]:
    return [name for name, value in inspect.getmembers(KernelBot) if not name.startswith("_") and callable(value)]


@pytest.mark.parametrize("name", public())
def test_every_method_has_types_help_and_an_example(name: str) -> None:
    method = getattr(KernelBot, name)
    written = inspect.signature(inspect.unwrap(method))
    assert written.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not p.empty for p in list(written.parameters.values())[1:])
    assert "Example" in (method.__doc__ or ""), name


def test_help_reads_well() -> None:
    text = pydoc.render_doc(kbdash.KernelBot, renderer=pydoc.plaintext)
    assert 'kb.leaderboard("nvfp4_gemm", runner="NVIDIA")' in text
    assert "who is fastest" in text.lower()
