"""Find competitions, boards and people by the names that readers use."""

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial

import pandas as pd

from kbdash.database.answer import in_time
from kbdash.database.competition_views import EMPTY
from kbdash.database.connection import Database
from kbdash.database.questions.parameters import USER
from kbdash.database.workers import in_parallel
from kbdash.dataset.model import Board, Competition
from kbdash.deadline import all_but, reading
from kbdash.errors import DataUnavailable, KbdashError, QueryRefused, UnknownProblem, UnknownUser

_CLOSE = 3
_MOST_NAMED = 60
_ANSWER_SECONDS = 5.0
_MOST_SHARING = 8
_INVISIBLE = re.compile("[\u2060\u2068\u2069]")  # a name copied from a page may contain them


class NameLookup:
    """Resolves names of competitions, boards and users, over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: dict[str, tuple[str, ...]] = {}

    @property
    def competitions(self) -> tuple[Competition, ...]:
        """Every competition of the source, readable or not."""
        return tuple(item.competition for item in self._database.competitions())

    @property
    def unavailable(self) -> dict[str, str]:
        """Slug -> reason, for the competitions that cannot be read now."""
        return {item.competition.slug: item.reason for item in self._database.competitions() if item.reason}

    def retry_unavailable(self) -> None:
        """Retry failed files in the background, as every question does. Example: kb.retry_unavailable()"""
        self._database.retry_unavailable()

    def readable(self) -> tuple[str, ...]:
        """Slugs of the competitions that can be read now. Example: kb.readable()"""
        closed = self.unavailable
        return tuple(item.slug for item in self.competitions if item.slug not in closed)

    def linkable(self) -> tuple[str, ...]:
        """Slugs of the readable competitions whose user and code ids mean the same everywhere.

        Example: kb.linkable()
        """
        readable = self.readable()
        return tuple(item.slug for item in self.competitions if item.linkable and item.slug in readable)

    def frame(self, question: str, /, **parameters: object) -> pd.DataFrame:
        """Answer of sql/<question>.sql with the given parameters bound.

        Example: kb.frame("problem_names", competition="trimul")
        """
        return self._database.frame(question, **parameters)

    def question(self) -> AbstractContextManager[object]:
        """A block whose questions together get the time of one. Example: with kb.question(): kb.find("nvfp4_gemm")"""
        return self._database.question()

    def _rows_holding(self, competition: str, facets: Sequence[str]) -> bytes | None:
        """A bitmap of the file's rows whose source text uses the techniques; None when none is asked for."""
        if facets:
            raise QueryRefused("Techniques are known to `kbdash.connect()` only.", advice="Ask without facets.")
        return None

    def mark_unavailable(self, competition: str, error: KbdashError) -> None:
        """Leave a competition out of the questions about all of them, until its file can be read again.

        Example: kb.mark_unavailable("trimul", DataUnavailable("It cannot be read."))
        """
        self._database.mark_unavailable(competition, error)

    @in_time
    def find(self, problem: str, competition: str | None = None) -> tuple[str, str]:
        """Competition slug and exact name of a problem, given by name, nickname or leaderboard id.

        Example: kb.find("nvfp4_gemm")
        """
        wanted = str(problem)
        asked = [item for item in self.competitions if competition in (None, item.slug)]
        for item in asked:
            for board in item.boards:
                if wanted in (board.name, str(board.id), *board.aliases):
                    return self._checked(item.slug), board.name
        names = self._names_of(item.slug for item in asked)
        if found := next((slug for slug, problems in names.items() if wanted in problems), None):
            return found, wanted
        raise self._unknown(wanted, competition)

    def board(self, problem: str, competition: str | None = None) -> Board:
        """What is known about a problem; little for boards outside the catalog. Example: kb.board("nvfp4_gemm")"""
        slug, name = self.find(problem, competition)
        known = next((b for c in self.competitions if c.slug == slug for b in c.boards if b.name == name), None)
        return known or Board(id=-1, name=name, label=name, summary="", runners=())

    def problem_names(self, competition: str) -> tuple[str, ...]:
        """Names of the problems that have rows in a competition, catalog order first; () when it cannot be read.

        Example: kb.problem_names("nvfp4")
        """
        if competition not in self.readable():
            return ()
        if competition not in self._names:
            rows = self.frame("problem_names", competition=competition)
            present = [str(name) for name in rows["problem"]]
            known = [b.name for c in self.competitions if c.slug == competition for b in c.boards]
            ordered = [name for name in known if name in present]
            self._names[competition] = (*ordered, *(name for name in present if name not in ordered))
        return self._names[competition]

    @in_time
    def user_ids(self, texts: Sequence[str], competition: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """Ids of the users with these ids or names, in one or several competitions; UnknownUser suggests similar names.

        A name that several people share gives all of them. Digits that match nobody here are taken for the id of a
        user of another competition.

        Example: kb.user_ids(["gau.nernst"])
        """
        found = self._who(texts, competition, strict=False) if texts else {}
        return tuple(dict.fromkeys(user for text in texts for user in found.get(text, (text,))))

    @in_time
    def user_id(self, text: str, competition: str | None = None) -> str:
        """The one user with that id or exact name; UnknownUser when there is none, or several have the name.

        Example: kb.user_id("gau.nernst")
        """
        ids = self._who([text], competition)[text]
        if len(ids) > 1:
            listed = ", ".join(ids[:_MOST_SHARING]) + (" …" if len(ids) > _MOST_SHARING else "")
            raise UnknownUser(f"{len(ids)} users are called {_quoted(text)}.", advice=f"Say which by id: {listed}.")
        return ids[0]

    def ask_each(self, places: Iterable[str], question: str, **parameters: object) -> pd.DataFrame:
        """The same question asked of several competitions in parallel, answers concatenated.

        Competitions that cannot be read are left out; `attrs["unavailable"]` of the frame has them with the reason.

        Example: kb.ask_each(["trimul", "helion"], "problem_names")
        """
        places, closed = tuple(places), self.unavailable
        left_out = {slug: closed[slug] for slug in places if slug in closed}
        asked = [place for place in places if place not in left_out]
        answers = []
        flights = in_parallel([partial(self.frame, question, competition=place, **parameters) for place in asked])
        for place, flight in zip(asked, flights, strict=True):
            try:
                answers.append(flight.result())
            except DataUnavailable as error:
                if len(places) == 1:
                    raise  # nothing else was asked, and the next question may succeed
                left_out[place] = f"{error} {error.advice}".strip()
                self.mark_unavailable(place, error)
                if len(left_out) == len(places):
                    raise
        filled = [answer for answer in answers if len(answer)] or answers[:1]
        frame = pd.concat(filled or [self.frame(question, competition=EMPTY, **parameters)], ignore_index=True)
        frame.attrs["unavailable"] = left_out
        return frame

    def _who(
        self, texts: Sequence[str], competition: str | Sequence[str] | None, *, strict: bool = True
    ) -> dict[str, tuple[str, ...]]:
        """The ids that each text means: the one with that id, else those with the name, else ignoring case."""
        places = (competition,) if isinstance(competition, str) else competition or self._linkable_places()
        asked = {text: _INVISIBLE.sub("", str(USER.check(text))).strip() for text in texts}
        rows = self.ask_each(places, "who", texts=sorted(set(asked.values())))
        meant = _best_matches(rows)
        found = {}
        for text, plain in asked.items():
            found[text] = meant.get(plain, ())
            if not found[text] and plain.isdecimal() and not strict:
                found[text] = (plain,)
            if not found[text]:
                raise self._unknown_user(plain, places, rows.attrs["unavailable"])
        return found

    def _linkable_places(self) -> tuple[str, ...]:
        return tuple(item.slug for item in self.competitions if item.linkable)

    def _unknown_user(self, text: str, places: Iterable[str], left_out: dict[str, str]) -> KbdashError:
        if left_out:
            return DataUnavailable(
                f"Nobody in what can be read has the id or name {_quoted(text)}.", advice=" ".join(left_out.values())
            )
        close = self.ask_each(places, "close_users", text=text, limit=_CLOSE).sort_values("likeness", ascending=False)
        people = dict.fromkeys(zip(close["user_name"], close["user_id"], strict=True))
        names = [f"{_quoted(name)} ({user})" for name, user in people][:_CLOSE]
        advice = f"Did you mean {' or '.join(names)}?" if names else "kb.find_users() searches names."
        return UnknownUser(f"Nobody has the id or name {_quoted(text)}.", advice=advice)

    def _names_of(self, competitions: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The problem names of several competitions, asked in parallel; () for one whose file fails.

        It ends some seconds before the deadline, so that a question still gets its answer if another file is silent.
        """
        slugs = tuple(competitions)
        names: dict[str, tuple[str, ...]] = {}
        with self.question(), reading(all_but(_ANSWER_SECONDS)):
            flights = in_parallel([partial(self.problem_names, slug) for slug in slugs])
        for slug, flight in zip(slugs, flights, strict=True):
            try:
                names[slug] = flight.result()
            except DataUnavailable as error:
                self.mark_unavailable(slug, error)
                names[slug] = ()
        return names

    def _names_so_far(self) -> list[str]:
        """Problem names of all competitions without asking a file: as read earlier, else those of the catalog."""
        catalog_names = {item.slug: tuple(board.name for board in item.boards) for item in self.competitions}
        return [name for slug, names in catalog_names.items() for name in self._names.get(slug, names)]

    def _checked(self, slug: str) -> str:
        reason = self.unavailable.get(slug)
        if reason:
            raise DataUnavailable(reason, advice="Other competitions still work.")
        return slug

    def _unknown(self, problem: str, competition: str | None) -> KbdashError:
        closed = {slug: reason for slug, reason in self.unavailable.items() if competition in (None, slug)}
        names = self._names_so_far()
        close = self.frame("close_names", competition=EMPTY, names=names, text=problem, limit=_CLOSE)["name"].tolist()
        where = f" in {competition}" if competition else ""
        advice = f"Did you mean {' or '.join(close)}?" if close else _there_are(names)
        if closed:
            advice = " ".join([advice, *closed.values()])
            return DataUnavailable(f"There is no problem {problem} in what can be read now.", advice=advice)
        return UnknownProblem(f"There is no problem {problem}{where}.", advice=advice)


def _best_matches(rows: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The users whose id or name fits each text best; one pass, because a leaderboard asks for hundreds."""
    best: dict[str, tuple[str, dict[str, None]]] = {}
    for text, match, user in zip(rows["text"].tolist(), rows["match"].tolist(), rows["user_id"].tolist(), strict=True):
        if text not in best or match < best[text][0]:
            best[text] = (match, {})
        if match == best[text][0]:
            best[text][1][str(user)] = None
    return {text: tuple(users) for text, (_, users) in best.items()}


def _there_are(names: list[str]) -> str:
    """The known names, for whoever has to choose one; a page, a command and an agent can all use them."""
    more = " and more" if len(names) > _MOST_NAMED else ""
    return f"There are {', '.join(names[:_MOST_NAMED])}{more}." if names else ""


def _quoted(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def merged(frame: pd.DataFrame, order: str | None) -> pd.DataFrame:
    """The answers of several competitions, each sorted in SQL, merged in the same order; missing values last."""
    if order is None:
        return frame
    values = frame[order.removeprefix("-")]
    key = values.str.lower() if pd.api.types.is_string_dtype(values.dtype) else values
    places = key.sort_values(ascending=not order.startswith("-"), kind="stable", na_position="last").index
    return frame.loc[places].reset_index(drop=True)
