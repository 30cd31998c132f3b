"""The token goes to the Hub and nowhere else."""

from pathlib import Path

import pytest

from kbdash.dataset import hub
from kbdash.dataset.config import Settings
from kbdash.dataset.http import HttpClient
from kbdash.errors import DataUnavailable
from tests.hub import LoopbackHub

TOKEN = "hf_nobodyshouldreadthis"


@pytest.mark.parametrize("text", [TOKEN, f"{TOKEN}\n", f"  {TOKEN}\r\n"])
def test_white_space_around_it_is_dropped(text: str) -> None:
    settings = Settings.from_env({"HF_TOKEN": text})
    assert settings.token == TOKEN
    assert TOKEN not in repr(settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TOKEN, "answered 401"),
        (f"{TOKEN}\n", "HF_TOKEN holds characters that cannot be sent."),
        (f"{TOKEN}…", "HF_TOKEN holds characters that cannot be sent."),
    ],
)
def test_no_error_quotes_it(tmp_path: Path, text: str, message: str) -> None:
    """Whether it cannot be sent or is not known: the one who reads the message may be anyone."""
    with LoopbackHub(tmp_path, token="another") as loopback:
        settings = Settings(endpoint=loopback.endpoint, token=text)
        with pytest.raises(DataUnavailable, match=message) as caught:
            hub.asked_for(loopback.repo, None, settings, HttpClient())()
    assert TOKEN not in f"{caught.value} {caught.value.advice}"
