"""Every question as a method. Scores are seconds, times are UTC, frames are pandas.

A question of kbdash.database.questions gets its method by itself (`add_missing`). Most methods are written out all the
same, so that type checkers and editors know their signatures. A test compares these with the questions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import pandas as pd

from kbdash.database import lookup
from kbdash.database.answer import answers, in_time
from kbdash.database.competition_views import ALL_LINKABLE
from kbdash.database.names import NameLookup, merged
from kbdash.database.questions import QUESTIONS, boards, people
from kbdash.database.questions.kinds import Question
from kbdash.database.questions.parameters import Scope, Sort
from kbdash.database.standings import ranks_then
from kbdash.dataset.model import Page, Placement, Standing, Submission
from kbdash.errors import DataUnavailable, UnknownProblem


class Questions(NameLookup):
    """The questions, asked of one database."""

    @answers(boards.OVERVIEW)
    def overview(self, *, order: str | None = None) -> pd.DataFrame:
        return self._ask(boards.OVERVIEW, order=order)

    @answers(boards.CONTESTED)
    def contested(self) -> pd.DataFrame:
        return self._ask(boards.CONTESTED)

    @answers(boards.WEEKLY)
    def weekly(self) -> pd.DataFrame:
        return self._ask(boards.WEEKLY)

    @answers(boards.PROBLEMS)
    def problems(self, competition: str | None = None) -> pd.DataFrame:
        return self._ask(boards.PROBLEMS, competition=competition)

    @answers(boards.FLAGS)
    def flags(self, problem: str | None = None, *, competition: str | None = None) -> pd.DataFrame:
        if problem is not None:
            competition, problem = self.find(problem, competition)
        return self._ask(boards.FLAGS, problem=problem, competition=competition)

    @answers(boards.LEADERBOARD)
    def leaderboard(
        self,
        problem: str,
        *,
        top: int | None = None,
        users: Sequence[str] = (),
        find: str | None = None,
        score: float | None = None,
        order: str | None = None,
        **scope: Unpack[Scope],
    ) -> pd.DataFrame:
        asked = {"top": top, "users": users, "find": find, "score": score, "order": order}
        return self._ask(boards.LEADERBOARD, problem=problem, **asked, **scope)

    @answers(boards.TRENDS)
    def trends(self, problem: str, users: Sequence[str], *, points: int = 24, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.TRENDS, problem=problem, users=users, points=points, **scope)

    @answers(boards.SUMMARY)
    def summary(self, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.SUMMARY, problem=problem, **scope)

    @answers(boards.DISTRIBUTION)
    def distribution(self, problem: str, *, bins: int = 60, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.DISTRIBUTION, problem=problem, bins=bins, **scope)

    @answers(boards.ECDF)
    def ecdf(self, problem: str, *, points: int = 400, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.ECDF, problem=problem, points=points, **scope)

    @answers(boards.STANDING)
    def standing(self, problem: str, score: float, **scope: Unpack[Scope]) -> Standing:
        answer = self._ask(boards.STANDING, problem=problem, score=score, **scope)
        return Standing(**lookup.plain(answer.to_dict("records")[0]))

    @answers(boards.PROGRESSION)
    def progression(
        self,
        problem: str,
        user: str | None = None,
        *,
        users: Sequence[str] = (),
        limit: int = 4000,
        **scope: Unpack[Scope],
    ) -> pd.DataFrame:
        return self._ask(boards.PROGRESSION, problem=problem, user=user, users=users, limit=limit, **scope)

    @answers(boards.PERSONAL_BESTS)
    def personal_bests(self, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        return ranks_then(self._ask(boards.PERSONAL_BESTS, problem=problem, **scope))

    @answers(boards.RECORDS)
    def records(self, problem: str, *, order: str | None = None, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.RECORDS, problem=problem, order=order, **scope)

    @answers(boards.RANK_HISTORY)
    def rank_history(self, problem: str, *, top: int = 10, steps: int = 60, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.RANK_HISTORY, problem=problem, top=top, steps=steps, **scope)

    @answers(boards.SAME_CODE)
    def same_code(self, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.SAME_CODE, problem=problem, **scope)

    @answers(boards.RUNNER_RATIOS)
    def runner_ratios(self, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.RUNNER_RATIOS, problem=problem, **scope)

    @answers(boards.PAIRED)
    def paired(self, problem_a: str, problem_b: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        competition, first = self.find(problem_a, scope.get("competition"))
        other, second = self.find(problem_b, scope.get("competition"))
        if competition != other:
            raise UnknownProblem(
                f"{problem_a} and {problem_b} belong to different competitions.", advice="Pair boards of one."
            )
        scope["competition"] = competition
        return self._ask(boards.PAIRED, problem_a=first, problem_b=second, **scope)

    @answers(boards.SUBMISSIONS)
    def submissions(
        self,
        problem: str,
        *,
        users: Sequence[str] = (),
        passed: bool | None = None,
        text: str | None = None,
        sort: Sort = "submitted_at",
        descending: bool = True,
        page: int = 1,
        page_size: int = 50,
        **scope: Unpack[Scope],
    ) -> Page:
        asked = self._bound(
            boards.SUBMISSIONS,
            dict(problem=problem, users=users, passed=passed, text=text or None, sort=sort, descending=descending,
                 page=page, page_size=page_size, **scope),
        )  # fmt: skip
        total: int = self.frame("submissions_total", **asked)["total"].tolist()[0]
        size = int(str(asked["page_size"]))
        pages = max(1, -(-total // size))
        wanted = min(int(str(asked["page"])), pages)
        rows = self.frame("submissions", **asked, size=size, skip=(wanted - 1) * size)
        return Page(rows, total, wanted, pages)

    @answers(boards.STATUS_OVER_TIME)
    def status_over_time(self, problem: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.STATUS_OVER_TIME, problem=problem, **scope)

    @answers(boards.SHAPES)
    def shapes(self, problem: str, *, users: Sequence[str] = (), top: int = 30, **scope: Unpack[Scope]) -> pd.DataFrame:
        return self._ask(boards.SHAPES, problem=problem, users=users, top=top, **scope)

    @answers(people.USER)
    def user(self, user: str, *, order: str | None = None) -> pd.DataFrame:
        return merged(self._ask(people.USER, user=self.user_id(user), order=order), order)

    @answers(people.USER_FIELD)
    def user_field(self, user: str) -> pd.DataFrame:
        return self._ask(people.USER_FIELD, user=self.user_id(user))

    @answers(people.FIND_USERS)
    def find_users(self, text: str, limit: int = 20) -> pd.DataFrame:
        values = people.FIND_USERS.checked({"text": text, "limit": limit})
        asked = {"text": str(values["text"]).strip(), "limit": 1000}
        found = self.ask_each(self._linkable_places(), "find_users", **asked)
        people_found = (
            found.groupby("user_id", sort=False)
            .agg(
                user_name=("user_name", "first"),
                competitions=("competition", list),
                submissions=("submissions", "sum"),
            )
            .reset_index()
        )
        busiest = people_found.sort_values(["submissions", "user_id"], ascending=[False, True])
        answer = busiest.head(int(str(values["limit"]))).reset_index(drop=True)
        answer.attrs["unavailable"] = found.attrs["unavailable"]
        return answer

    @answers(people.LADDER)
    def ladder(self, problem: str, user: str, **scope: Unpack[Scope]) -> pd.DataFrame:
        steps = self._ask(people.LADDER, problem=problem, user=user, **scope)
        return steps.assign(waited=pd.to_timedelta(steps.pop("waited_us"), unit="us"))

    @answers(people.SUBMISSION_ROWS)
    def submission_rows(
        self, submission_id: int, runner: str | None = None, competition: str | None = None
    ) -> list[Submission]:
        rows = self._ask(people.SUBMISSION_ROWS, submission_id=submission_id, runner=runner, competition=competition)
        return lookup.submissions_in(rows)

    @answers(people.PLACEMENT)
    def placement(self, of: Submission) -> Placement:
        return self.placement_among(of, self.leaderboard(of.problem, competition=of.competition, runner=of.runner))

    @answers(people.SAME_CODE_ELSEWHERE)
    def same_code_elsewhere(self, of: Submission, limit: int = 50) -> pd.DataFrame:
        checked = people.SAME_CODE_ELSEWHERE.checked({"of": of, "limit": limit})
        asked: dict[str, object] = {
            "code_id": of.code_id, "submission_id": of.submission_id, "home": of.competition, "runner": of.runner,
            "limit": checked["limit"],
        }  # fmt: skip
        linkable = self.linkable()
        if of.competition not in linkable:
            return self.frame("same_code_elsewhere", competition=of.competition, **asked)
        try:
            return self.frame("same_code_elsewhere", competition=ALL_LINKABLE, **asked)
        except DataUnavailable:  # one file failed: ask each separately, so that the others still answer
            return self.ask_each(linkable, "same_code_elsewhere", **asked).head(limit)

    @in_time
    def placement_among(self, of: Submission, ranked: pd.DataFrame) -> Placement:
        """As `placement`, for callers that have the leaderboard of its runner already.

        Example: kb.placement_among(kb.submission(187476), kb.leaderboard("nvfp4_gemm", runner="NVIDIA"))
        """
        before = self.frame(
            "placement",
            competition=of.competition,
            problem=of.problem,
            runner=of.runner,
            user=of.user_id,
            id=of.submission_id,
            at=of.submitted_at.isoformat() if of.submitted_at else None,
        )
        return lookup.placement_of(of, ranked, lookup.plain(before.to_dict("records")[0]))

    @in_time
    def submission(self, submission_id: int, runner: str | None = None, competition: str | None = None) -> Submission:
        """The submission with this id; UnknownSubmission or AmbiguousSubmission when there is none or several.

        Example: kb.submission(187476)
        """
        rows = self._ask(people.SUBMISSION_ROWS, submission_id=submission_id, runner=runner, competition=competition)
        return lookup.the_one(submission_id, runner, competition, rows)

    def _ask(self, question: Question, /, **given: object) -> pd.DataFrame:
        """The frame of a question's SQL."""
        values = self._bound(question, given)
        if question.of == "board":
            return self.frame(question.name, **values)
        asked = values.pop("competition", None)
        if asked is not None:
            self._checked(str(asked))
        places = self._linkable_places() if question.of == "linkable" else [item.slug for item in self.competitions]
        return self.ask_each([slug for slug in places if asked in (None, slug)], question.name, **values)

    def _bound(self, question: Question, given: dict[str, object]) -> dict[str, object]:
        """The parameters as bound in SQL: checked, with readers' names resolved to exact names and ids."""
        values = question.checked(given)
        if question.of == "board" and "problem" in values:
            asked = values["competition"]
            values["competition"], values["problem"] = self.find(
                str(values["problem"]), None if asked is None else str(asked)
            )
        if question.of == "board":
            self._name_users(values, str(values["competition"]))
        if "facets" in values:
            values["facets"] = self._rows_holding(str(values["competition"]), values["facets"])  # type: ignore[arg-type]
        return values

    def _name_users(self, values: dict[str, object], competition: str) -> None:
        """Replace the names in `user` and `users` by ids."""
        user, users, find = values.get("user"), values.get("users", ()), values.get("find")
        ids = self.user_ids([str(text) for text in users], competition)  # type: ignore[attr-defined]
        if "users" in values:
            one = () if user is None else self.user_ids([str(user)], competition)
            values["users"] = list(dict.fromkeys((*ids, *one)))
        elif user is not None:
            values["user"] = self.user_id(str(user), competition)
        if find is not None:
            values["find"] = self.user_id(str(find), competition)


def method_of(question: Question) -> Callable[..., Any]:
    """The method that asks a question: its parameters are bound to its SQL file."""

    def ask(self: Questions, *args: Any, **kwargs: Any) -> pd.DataFrame:
        given = question.signature.bind(self, *args, **kwargs).arguments
        return self._ask(question, **{name: value for name, value in given.items() if name != "self"})

    ask.__name__, ask.__qualname__ = question.name, f"{Questions.__name__}.{question.name}"
    return answers(question)(ask)


def add_missing(methods: type, questions: Iterable[Question]) -> None:
    """Give a class the method of each question that it does not write out."""
    for question in questions:
        if question.name not in vars(methods):
            setattr(methods, question.name, method_of(question))


add_missing(Questions, QUESTIONS.values())
