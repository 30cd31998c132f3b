"""Reasons to doubt results, as frames: ranks without flagged rows, ranks closer than the noise, matching rules."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kbdash.dataset.catalog import runner_name
from kbdash.units import MISSING, person, time_text, unit_for
from kbdash.view import CompetitionView, SubmissionView, href
from kbdash.web.table import Column
from kbdash.web.tables import people_addresses, rows, text, user_addresses

FIRST = (10, 100)
UNRANKED = "unranked"


def close_ranks(ranked: pd.DataFrame, sigmas: Mapping[str, float | None]) -> list[bool]:
    """Whether each row of a leaderboard is closer to the next better rank than the noise of its runner, if known."""
    gap, score = ranked["gap"].to_numpy(float), ranked["score"].to_numpy(float)
    sigma = np.array([sigmas.get(runner) or np.nan for runner in ranked["runner"]], dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        close: list[bool] = (-np.log1p(-gap / score) < sigma).tolist()
    return close


def both_ranks(ranked: pd.DataFrame, clean: pd.DataFrame) -> pd.DataFrame:
    """The leaderboard with each user's rank once flagged rows are left out, where they still have one."""
    without = clean[["user_id", "runner", "rank"]].rename(columns={"rank": "rank_without"})
    joined = ranked.merge(without, on=["user_id", "runner"], how="left")
    return joined.assign(rank_without=joined["rank_without"].astype("Int64"))


def unmatched_ranks(ranked: pd.DataFrame, matched: frozenset[tuple[int, str]]) -> pd.DataFrame:
    """The leaderboard with the rank among the bests that no rule of KernelGuard matches; none for those that do."""
    refs = zip(ranked["submission_id"], ranked["runner"], strict=True)
    hit = pd.Series([(int(id_), run) in matched if pd.notna(id_) else False for id_, run in refs], index=ranked.index)
    scores = ranked["score"].where(~hit & ranked["ratio"].notna())
    rank = scores.groupby(ranked["runner"]).rank(method="min")
    return ranked.assign(matches=hit, rank_unmatched=rank.astype("Int64"))


def board_row(both: pd.DataFrame, runner: str) -> dict[str, int]:
    """How many of a runner's first ten and hundred are flagged, and how many change rank without the flagged."""
    part = both[both["runner"] == runner]
    found = {}
    for most in FIRST:
        first = part[part["rank"] <= most]
        moved = (first["rank_without"] != first["rank"]).fillna(True)
        found[f"flagged_{most}"] = int((first["flags"] != "").sum())
        found[f"moved_{most}"] = int(moved.sum())
    return found


def flagged_rows(both: pd.DataFrame, flags: pd.DataFrame, competition: str, problem: str) -> pd.DataFrame:
    """The flagged results of a board: one row per result and flag."""
    results = both[both["flags"] != ""].dropna(subset="submission_id")
    joined = results.merge(
        flags[["submission_id", "runner", "kind", "reason", "source"]], on=["submission_id", "runner"]
    )
    return joined.assign(competition=competition, problem=problem)


def _results(found: pd.DataFrame, linkable: Sequence[str]) -> dict[str, Any]:
    """What the tables of single results share: board, rank, user, time, runner."""
    every = rows(found)
    return {
        "problem": found["problem"],
        "board": [_board(row) for row in every],
        "rank": found["rank"],
        "user": [person(row["user_name"], row["user_id"]) for row in every],
        "page": people_addresses(found["user_id"], found["competition"], linkable),
        "time": [time_text(row["score"], unit_for(row["score"])) for row in every],
        "runner": [runner_name(text(row["runner"])) for row in every],
    }


def shown_flags(found: pd.DataFrame, linkable: Sequence[str]) -> pd.DataFrame:
    """Table rows of flagged results; users of linkable competitions have a page."""
    every = rows(found)
    return pd.DataFrame(
        {
            **_results(found, linkable),
            "without": [UNRANKED if pd.isna(row["rank_without"]) else str(row["rank_without"]) for row in every],
            "kind": found["kind"],
            "reason": found["reason"],
            "source": found["source"],
            "open": [[("Code", _code(row)), ("Evidence", _code(row, show="rules"))] for row in every],
        }
    )


FLAGS = (
    Column("problem", "Board", link="board"),
    Column("user", "User", "name", width=22, link="page"),
    Column("rank", "Rank now", "whole"),
    Column(
        "without", "Rank without", help="The user's rank once flagged rows are left out; unranked if no time is left."
    ),
    Column("time", "Time", width=14),
    Column("kind", "Flag"),
    Column("open", "Open", "links"),
    Column("runner", "Runner"),
    Column("reason", "Reason", width=26),
    Column("source", "Source", width=14),
)


def shown_matches(found: pd.DataFrame, linkable: Sequence[str]) -> pd.DataFrame:
    """Table rows of matches of KernelGuard's rules."""
    every = rows(found)
    return pd.DataFrame(
        {
            **_results(found, linkable),
            "rule": found["rule"],
            "severity": found["severity"],
            "evidence": found["evidence"],
            "lines": [
                [(f"line {line}", _code(row, show="rules", line=(line, line))) for line in row["lines"][:3]]
                for row in every
            ],
        }
    )


MATCHES = (
    Column("problem", "Board", link="board"),
    Column("user", "User", "name", width=22, link="page"),
    Column("rank", "Rank now", "whole"),
    Column("rule", "Rule that matches", width=26),
    Column("severity", "Severity", help="As KernelGuard ranks its rules."),
    Column("lines", "Lines", "links"),
    Column("evidence", "Evidence", width=30),
    Column("time", "Time", width=14),
    Column("runner", "Runner"),
)


def telling_boards(found: pd.DataFrame) -> pd.DataFrame:
    """The boards with something to say: a flag among the first hundred, or a known noise."""
    return found[(found["moved_100"] > 0) | (found["flagged_100"] > 0) | found["sigma"].notna()].reset_index(drop=True)


def shown_boards(found: pd.DataFrame) -> pd.DataFrame:
    """Table rows of boards."""
    every = rows(found)
    return found.assign(board=[_board(row) for row in every], runner=[runner_name(row["runner"]) for row in every])


BOARDS = (
    Column("problem", "Board", "name", link="board"),
    Column("runner", "Runner"),
    Column("users", "Users", "whole"),
    Column("flagged_10", "Flagged, first 10", "whole"),
    Column(
        "moved_10",
        "Rank changes, first 10",
        "whole",
        help="Of the first 10: whose rank differs once flagged rows are left out.",
    ),
    Column("flagged_100", "Flagged, first 100", "whole"),
    Column(
        "moved_100",
        "Rank changes, first 100",
        "whole",
        help="Of the first 100: whose rank differs once flagged rows are left out.",
    ),
    Column(
        "sigma",
        "Noise",
        "share",
        unit="%",
        places=2,
        help="How much one measurement varies by itself: the same program sent again.",
    ),
    Column(
        "close_10",
        "Closer than noise, first 10",
        "whole",
        help="Ranks among the first 10 that are closer to the rank above than the noise.",
    ),
    Column("close", "Closer than noise, all", "whole"),
    Column("pairs", "Pairs", "whole", help="Pairs of runs of equal programs that the noise rests on."),
)


def shown_first(found: pd.DataFrame, competition: str, linkable: Sequence[str]) -> pd.DataFrame:
    """Table rows of the first ranks of one board, with all rankings side by side."""
    every = [row | {"competition": competition} for row in rows(found)]
    return pd.DataFrame(
        {
            "rank": found["rank"],
            "user": [person(row["user_name"], row["user_id"]) for row in every],
            "page": user_addresses(found["user_id"], anonymous=competition not in linkable),
            "time": [time_text(row["score"], unit_for(row["score"])) for row in every],
            "without": [MISSING if pd.isna(row["rank_without"]) else str(row["rank_without"]) for row in every],
            "unmatched": [MISSING if pd.isna(row["rank_unmatched"]) else str(row["rank_unmatched"]) for row in every],
            "close": ["< noise" if row["close"] else "" for row in every],
            "flags": found["flags"],
            "rules": found["rules"],
            "runner": [runner_name(text(row["runner"])) for row in every],
            "open": [[("Code", _code(row)), ("Evidence", _code(row, show="rules"))] for row in every],
        }
    )


FIRST_COLUMNS = (
    Column("rank", "Rank now", "rank"),
    Column("user", "User", "name", width=20, link="page"),
    Column("runner", "Runner"),  # ranks are per runner
    Column("time", "Time", width=14),
    Column("open", "Open", "links"),
    Column("without", "Without flagged", help="The user's rank once flagged rows are left out."),
    Column("unmatched", "Without matches", help="The rank among the bests that no rule of KernelGuard matches."),
    Column("flags", "Flags", width=22),
    Column("rules", "KernelGuard rules that match", width=24),
    Column("close", "Gap", help="To the rank above: where it is smaller than the noise of one measurement."),
)


def _board(row: dict[str, Any]) -> str:
    return href(row["competition"], CompetitionView(problem=row["problem"], runner=text(row["runner"])))


def _code(row: dict[str, Any], **more: Any) -> str:
    if pd.isna(row["submission_id"]):
        return ""
    return href(
        "submission", SubmissionView(int(row["submission_id"]), text(row["runner"]), row["competition"], **more)
    )
