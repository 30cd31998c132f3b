"""Where the lines of a text come from: signs in the margin, a sentence, and a list of submissions."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from kbdash.content.techniques import evidence
from kbdash.units import count_text, day_text, person, plural, share_text
from kbdash.view import SubmissionView, href
from kbdash.web.table import Column
from kbdash.web.tables import rows

OWN, OTHER, NEW, TRIVIAL = "own", "other", "new", "trivial"
SIGNS = {OWN: "=", OTHER: "←", NEW: "+", TRIVIAL: "·"}
WORDS = {OWN: "this user wrote it before", OTHER: "somebody else wrote it first", NEW: "new here", TRIVIAL: "trivial"}
MOST_NAMED = 3


@dataclass(frozen=True)
class Lineage:
    """Per line as the viewer counts them: its kind, and which of `notes` and `links` belongs to it (-1: none)."""

    kinds: tuple[str, ...]
    places: tuple[int, ...]
    notes: tuple[str, ...]
    links: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """The data for the viewer."""
        return {"kinds": self.kinds, "places": self.places, "notes": self.notes, "links": self.links, "signs": SIGNS}


def kind_of(own: Any, first_id: Any, submission_id: int) -> str:
    """What a line is: trivial, new in this submission, the user's own, or somebody else's."""
    if pd.isna(own) or pd.isna(first_id):
        return TRIVIAL
    if int(first_id) == submission_id:
        return NEW
    return OWN if own else OTHER


def kinds_of(origins: pd.DataFrame, submission_id: int) -> list[str]:
    """The kind of each line of a text."""
    pairs = zip(origins["own"], origins["first_submission_id"], strict=True)
    return [kind_of(own, first, submission_id) for own, first in pairs]


def lineage(origins: pd.DataFrame, submission_id: int, competition: str) -> Lineage:
    """The origins of a text for the viewer, which also ends lines at a lone carriage return."""
    kinds, places = [], []
    known: dict[int, int] = {}
    notes: list[str] = []
    links: list[str] = []
    for row, kind in zip(rows(origins), kinds_of(origins, submission_id), strict=True):
        place = -1
        if kind in (OWN, OTHER):
            first = int(row["first_submission_id"])
            if first not in known:
                known[first] = len(notes)
                notes.append(_note(row))
                links.append(href("submission", SubmissionView(id=first, competition=competition)))
            place = known[first]
        shown = 1 + row["line"].removesuffix("\r").count("\r")
        kinds += [kind] * shown
        places += [place] * shown
    return Lineage(tuple(kinds), tuple(places), tuple(notes), tuple(links))


def _note(row: dict[str, Any]) -> str:
    return f"First by {person(row['first_user_name'], row['first_user_id'])} on {day_text(row['first_at'])}"


def summary(origins: pd.DataFrame, submission_id: int) -> str:
    """One sentence (with user text) on where the telling lines come from."""
    kinds = pd.Series(kinds_of(origins, submission_id), index=origins.index)
    telling = kinds[kinds != TRIVIAL]
    if telling.empty:
        return "Every line of this text is trivial: it says nothing about where the text comes from."
    share = telling.value_counts(normalize=True)
    others = origins.loc[telling.index[telling == OTHER]]
    people = others.groupby("first_user_id", sort=False)["first_user_name"].agg(["last", "size"])
    people = people.sort_values("size", ascending=False, kind="stable")
    named = [person(name, user) for user, name in zip(people.index, people["last"], strict=True)]
    more = f" and {plural(len(named) - MOST_NAMED, 'other user')}" if len(named) > MOST_NAMED else ""
    parts = [
        (share.get(OWN, 0.0), "are the user's own earlier ones"),
        (share.get(OTHER, 0.0), f"were first sent by {', '.join(named[:MOST_NAMED])}{more}"),
        (share.get(NEW, 0.0), "are new here"),
    ]
    said = [f"{share_text(value)} {words}" for value, words in parts if value]
    head, *rest = said
    first = head.replace(" ", f" of the {count_text(len(telling))} telling lines ", 1) if " " in head else head
    return ", ".join([first, *rest]) + "."


def sources(origins: pd.DataFrame, submission_id: int, competition: str) -> pd.DataFrame:
    """The submissions that lines come from, by number of lines."""
    kinds = kinds_of(origins, submission_id)
    taken = origins[[kind in (OWN, OTHER) for kind in kinds]]
    groups = taken.groupby("first_submission_id", sort=False)
    found = groups.agg(
        user_id=("first_user_id", "first"), user_name=("first_user_name", "first"), at=("first_at", "first"),
        lines=("line_no", "size"), line=("line", "first"), own=("own", "first"),
    ).reset_index()  # fmt: skip
    found = found.sort_values(["lines", "at"], ascending=[False, True], kind="stable").reset_index(drop=True)
    views = (
        SubmissionView(id=int(id_), competition=competition, find=line.strip()[:200], show="origins")
        for id_, line in zip(found["first_submission_id"], found["line"], strict=True)
    )
    return pd.DataFrame(
        {
            "lines": found["lines"],
            "who": [person(name, user) for name, user in zip(found["user_name"], found["user_id"], strict=True)],
            "whose": ["this user" if own else "another user" for own in found["own"]],
            "at": found["at"],
            "open": "Code",
            "code": [href("submission", view) for view in views],
        }
    )


SOURCES = (
    Column("who", "Written by", "name", width=28),
    Column("lines", "Lines", "whole", help="Telling lines of this text that were sent there first."),
    Column("whose", "Who"),
    Column("at", "First (UTC)", "minute"),
    Column("open", "Code", link="code"),
)


def technique_lines(code: str) -> tuple[tuple[str, int], ...]:
    """The techniques of a text, each with the line that shows it, as the viewer counts lines."""
    lines = code.split("\n")
    before = [0]
    for line in lines:
        before.append(before[-1] + 1 + line.removesuffix("\r").count("\r"))
    return tuple((name, before[min(line, len(lines)) - 1] + 1) for name, line in evidence(code).items())
