"""Tables derived from texts, line_use and facts: origins, and which lines are telling."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kbdash.content.building.facts import LATEST, NOBODY, RowFacts
from kbdash.content.store.layout import NO_TEXT, SCHEMAS
from kbdash.content.store.line_use import LineUse
from kbdash.content.store.spans import Owners, RangeMin, Spans, before, counts_of_groups, least_of_groups, united

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
_BATCH_LINES = 1 << 19
_NOTHING = np.iinfo(np.int32).max


class RowsOfTexts:
    """The rows of the file that belong to a submission, in the order of their texts."""

    def __init__(self, of_row: Ints, facts: RowFacts, texts: int) -> None:
        rows = np.flatnonzero((of_row != NO_TEXT) & (facts.submission_id != NOBODY))
        self.rows = rows[np.lexsort((rows, facts.submission_id[rows], facts.user[rows], of_row[rows]))]
        self.bounds: Longs = np.searchsorted(of_row[self.rows], np.arange(texts + 1))
        text, ids = of_row[self.rows], facts.submission_id[self.rows]
        self.new_submission = np.ones(len(self.rows), bool)
        self.new_submission[1:] = (text[1:] != text[:-1]) | (ids[1:] != ids[:-1])

    def spans(self, use: LineUse, lines: Longs, group: Longs | None = None) -> Spans:
        """The rows that hold each line; lines of the same group count as one."""
        which, runs = use.runs_of(lines)
        first = use.text[runs]
        return united(
            which if group is None else group[which], self.bounds[first], self.bounds[first + use.length[runs]]
        )


def origins(use: LineUse, held: RowsOfTexts, facts: RowFacts, lines: int) -> Iterator[pa.Table]:
    """The table origins, in batches."""
    ids, at = facts.submission_id[held.rows], facts.at[held.rows]
    by_age = np.lexsort((facts.user[held.rows], ids, at))
    age = np.empty(len(by_age), np.int32)
    age[by_age] = np.arange(len(by_age))
    first = RangeMin(age)
    owners = Owners(facts.user[held.rows])
    everyone = before(facts.user[held.rows] != NOBODY)
    counted = before(held.new_submission)
    for start in range(0, lines, _BATCH_LINES):
        size = min(_BATCH_LINES, lines - start)
        spans = held.spans(use, np.arange(start, start + size))
        oldest = least_of_groups(spans, first.over(spans), size, _NOTHING)
        users = owners.of_groups(spans, everyone, size)
        submissions = counts_of_groups(spans, counted, size)
        yield _table(start, oldest, held.rows[by_age], facts, users, submissions)


def _table(start: int, oldest: Ints, rows_by_age: Longs, facts: RowFacts, users: Longs, submissions: Longs) -> pa.Table:
    missing = oldest == _NOTHING
    row = np.append(rows_by_age, 0)[np.where(missing, -1, oldest)]
    user, at = facts.user[row], facts.at[row]
    names = pa.array([*facts.users, None], pa.string())
    columns = [
        pa.array(np.arange(start, start + len(oldest), dtype=np.int32)),
        pa.array(facts.submission_id[row], mask=missing),
        names.take(pa.array(np.where(missing | (user == NOBODY), len(facts.users), user))),
        pa.array(at, pa.int64(), mask=missing | (at == LATEST)).cast(pa.timestamp("us", "UTC")),
        pa.array(users.astype(np.int32)),
        pa.array(submissions.astype(np.int32)),
    ]
    return pa.table(columns, schema=SCHEMAS["origins"])
