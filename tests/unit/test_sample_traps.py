"""Every trap of the real data occurs in the sample: one predicate per trap, asked of the files with SQL."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

ENTRIES = "(from flat where mode = 'leaderboard' and passed and isfinite(score) and score > 0)"
LEGACY_SUBSETS = {
    "successful_submissions.parquet",
    "deduplicated_submissions.parquet",
    "deduplicated_successful_submissions.parquet",
}
RUNS = "(from submissions where run_mode = 'leaderboard' and run_passed)"

TRAPS = {
    # Scores
    "score null": "from flat where score is null and passed",
    "score zero": "from flat where score = 0 and passed",
    "score negative": "from flat where score < 0 and passed",
    "score NaN": "from flat where isnan(score) and passed",
    "score infinite": "from flat where score = 'inf' and passed",
    "score impossible, on eigh": "from flat where score between 1e-26 and 1e-24 and problem_name = 'eigh' and passed",
    "score just under the limit of the impossible": "from flat where score between 9e-8 and 1e-7",
    "score of many seconds": "from flat where score > 5 and passed",
    "user with nothing but impossible scores": f"""
        select user_id from {ENTRIES} group by problem_name, user_id having max(score) < 1e-7""",
    "user with impossible and other scores": f"""
        select user_id from {ENTRIES} group by problem_name, user_id
        having min(score) < 1e-7 and max(score) > 1e-7""",
    "below the floor of mixed-mla": f"from {ENTRIES} where problem_name = 'amd-mixed-mla' and score < 8.86e-6",
    "below the floor of group_gemm": f"from {ENTRIES} where problem_name = 'nvfp4_group_gemm' and score < 1.203e-5",
    # Outcomes
    "passed null": "from flat where passed is null and runner is null and mode is null and score is null",
    "passed null with a score": "from flat where passed is null and score > 0",
    "passed false with a score": "from flat where passed = false and score > 0",
    "mode null with a score": "from flat where mode is null and score > 0",
    "mode benchmark with a score": "from flat where mode = 'benchmark' and score > 0",
    "mode test": "from flat where mode = 'test'",
    "mode profile": "from flat where mode = 'profile.0'",
    "runner null with a score": "from flat where runner is null and score > 0",
    "hacked with a score": "from flat where status = 'hacked' and score > 0 and passed",
    "hacked before it ran": "from flat where status = 'hacked' and score is null and runner is null",
    "status active": "from flat where status = 'active'",
    "status timed out": "from flat where status = 'timed_out'",
    "failed on a runner": "from flat where status = 'failed' and passed = false and runner is not null",
    "null wherever null is allowed": """
        from flat where user_name is null and file_name is null and status is null and score is null
        and passed is null and mode is null and runner is null and code is null""",
    # Ties
    "best shared by two users": f"""
        select 1 from (from {ENTRIES} qualify rank() over (partition by problem_name, runner order by score) = 1)
        group by problem_name, runner having count(distinct user_id) > 1""",
    "score shared by five users": f"""
        select score from {ENTRIES} group by problem_name, runner, score having count(distinct user_id) >= 5""",
    "same user, same score, another moment": f"""
        select 1 from {ENTRIES} group by problem_name, runner, user_id, score
        having count(distinct submission_time) > 1""",
    "same user, same score, same moment": f"""
        select 1 from {ENTRIES} group by problem_name, runner, user_id, score, submission_time
        having count(distinct submission_id) > 1 and count(distinct code_id) > 1""",
    # Identity
    "submission on several runners": "select 1 from flat group by submission_id having count(distinct runner) >= 3",
    "submission that passed on one runner and failed on another": """
        select 1 from flat group by submission_id having bool_or(passed) and bool_or(not passed)""",
    "code shared by users": "select 1 from flat group by code_id having count(distinct user_id) > 1",
    "code shared by files": "select 1 from flat group by code_id having count(distinct file) > 1",
    "code on the on-prem and the Modal board": """
        select 1 from flat group by code_id, user_id having list_contains(list(leaderboard_id), 598)
        and list_contains(list(leaderboard_id), 697)""",
    "user id of 21 digits": "from flat where length(user_id) = 21 and try_cast(user_id as bigint) is null",
    "user ids that are one as a float": """
        select 1 from (select distinct user_id from flat) group by user_id::double
        having count(*) > 1 and count(distinct user_id[:17]) = 1 and min(length(user_id)) = 21""",
    "user id with leading zeros": "from flat where user_id like '00%'",
    "user id short": "from flat where length(user_id) = 9",
    "user id like a snowflake": "from flat where length(user_id) = 19",
    "name of two users": """
        select 1 from flat where user_name <> '' group by user_name having count(distinct user_id) > 1""",
    # Names
    "name empty": "from flat where user_name = ''",
    "name blank": "from flat where user_name = ' '",
    "name with HTML": "from flat where user_name = '<img src=x onerror=alert(1)>'",
    "name with a link": "from flat where user_name = '[a](http://b)'",
    "name with a formula of TeX": "from flat where user_name = '$x$'",
    "name with a formula of spreadsheets": "from flat where user_name like '=%'",
    "name between underscores": r"from flat where user_name like '\_%\_' escape '\'",
    "name with an emoji": "from flat where user_name like '%🐺%'",
    "name in Chinese": "from flat where regexp_matches(user_name, '\\p{Han}')",
    "name in Arabic": "from flat where regexp_matches(user_name, '\\p{Arabic}')",
    "name with a direction override": "from flat where contains(user_name, chr(8238))",
    "name with a zero width space": "from flat where contains(user_name, chr(8203))",
    "name very long": "from flat where length(user_name) > 250",
    "name with quotes": """
        from flat where contains(user_name, '"') and contains(user_name, chr(39)) and contains(user_name, ';')""",
    "name with a heading": "from flat where user_name like '# %'",
    "name with backticks": "from flat where contains(user_name, '`') and contains(user_name, '|')",
    "name with a Streamlit directive": "from flat where user_name like ':red[%'",
    "name of two lines": "from flat where contains(user_name, chr(10))",
    # File names
    "file name of 165 characters": "from flat where length(file_name) = 165",
    "file name with a space": "from flat where file_name like '% %.py'",
    "file name that climbs": "from flat where file_name = '../../etc/passwd.py'",
    "file name with HTML": "from flat where file_name like '<b>%'",
    "file name empty": "from flat where file_name = ''",
    "file name of an agent": "from flat where file_name like '%ka_submission.py'",
    # Code
    "code null": "from flat where code is null",
    "code empty": "from flat where code = ''",
    "code of about 400 KB": "from flat where strlen(code) between 380_000 and 450_000",
    "code of about 8,000 lines": """
        from flat where length(code) - length(replace(code, chr(10), '')) between 7500 and 8500""",
    "code with script tags": "from flat where contains(code, '</code></pre><script>')",
    "code with a fence": "from flat where contains(code, '```') and contains(code, '~~~')",
    "code that speaks to a model": "from flat where contains(code, 'ignore your instructions')",
    "code with CRLF": "from flat where contains(code, chr(13) || chr(10))",
    "code with tabs": "from flat where contains(code, chr(9) || 'acc')",
    "code with one very long line": """
        from flat where list_max(list_transform(string_split(code, chr(10)), lambda line: length(line))) > 50_000""",
    "code without a last newline": "from flat where code like '%return c'",
    "code with control characters": "from flat where contains(code, chr(27))",
    "code with a POPCORN header": "from flat where contains(code, '#!POPCORN leaderboard ')",
    # Time
    "last microsecond of a day": """
        from flat where submission_time = date_trunc('day', submission_time) + interval '23:59:59.999999'""",
    "first moment of a day": "from flat where submission_time = date_trunc('day', submission_time)",
    "after the deadline": """
        from flat f join leaderboards b on b.id = f.leaderboard_id where f.submission_time > b.deadline and f.passed""",
    "a microsecond after the deadline": """
        from flat f join leaderboards b on b.id = f.leaderboard_id
        where f.submission_time = b.deadline + interval 1 microsecond""",
    # AMD legacy
    "legacy submission without runs": """
        from submissions where run_id is null and run_mode is null and run_score is null and run_passed is null
        and run_result is null and run_meta is null and run_system_info is null and run_start_time is null""",
    "legacy code that is not UTF-8": "from submissions where text is null and code is not null",
    "legacy code as hexadecimal text": r"from submissions where text like '\x2320%' escape '@'",
    "legacy code null": "from submissions where code is null",
    "legacy code empty": "from submissions where octet_length(code) = 0",
    "legacy error text": "from submissions where not run_passed and run_meta.stderr like 'Traceback%'",
    "legacy mismatch": "from submissions where not run_passed and run_result['test.0.error'] like 'mismatch%'",
    "legacy run killed": "from submissions where run_meta.exit_code = -9",
    "legacy test passed and benchmark failed": """
        select 1 from submissions group by submission_id
        having bool_or(run_passed and run_mode = 'test') and bool_or(not run_passed and run_mode = 'benchmark')""",
    "legacy two ranked runs": f"select 1 from {RUNS} group by submission_id having count(*) = 2",
    "legacy second ranked run failed": """
        select 1 from submissions where run_mode = 'leaderboard' group by submission_id
        having count(*) = 2 and bool_or(run_passed) and bool_or(not run_passed)""",
    "legacy score and not passed": "from submissions where run_score > 0 and not run_passed",
    "legacy MI300X": f"from {RUNS} where run_system_info.gpu = 'AMD Instinct MI300X'",
    "legacy MI300X VF": f"from {RUNS} where run_system_info.gpu = 'AMD Instinct MI300X VF'",
    "legacy MI325X": f"from {RUNS} where run_system_info.gpu = 'AMD Instinct MI325X'",
    "legacy device unknown": f"from {RUNS} where run_system_info is not null and run_system_info.gpu is null",
    "legacy compilation": "from submissions where run_compilation.success = false",
    "legacy profile": "from submissions where run_mode = 'profile.0'",
    "legacy decode without best and worst": f"""
        from {RUNS} where leaderboard_id = 463 and run_result['benchmark.0.mean'] is not null
        and run_result['benchmark.0.best'] is null and run_result['benchmark.1.mean'] is null""",
    "legacy spec with a word": f"from {RUNS} where run_result['benchmark.0.spec'] like '%routing: softmax%'",
    "legacy spec with a boolean": f"from {RUNS} where run_result['benchmark.1.spec'] like 'has_bias: True%'",
    "legacy spec with a list": f"from {RUNS} where run_result['benchmark.0.spec'] like '%skew: [1, 2, 8]%'",
    "legacy after the deadline": """
        from submissions s join leaderboards b on b.id = s.leaderboard_id
        where s.submission_time::timestamptz > b.deadline""",
    "legacy code shared by users": "select 1 from submissions group by code_id having count(distinct user_id) > 1",
    # Definitions
    "board without a definition": "from flat anti join leaderboards on leaderboard_id = id",
    "definition without a submission": """
        from leaderboards anti join (select leaderboard_id from flat union all select leaderboard_id from submissions)
        on leaderboard_id = id""",
}  # fmt: skip


@pytest.fixture(scope="module")
def sql(sample_folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        flat = [path for path in sample_folder.glob("*_submissions.parquet") if path.name not in LEGACY_SUBSETS]
        selects = [f"select *, '{path.name}' as file from read_parquet('{path}')" for path in flat]
        connection.execute("create view flat as " + " union all by name ".join(selects))
        connection.create_function("utf8", decoded, ["BLOB"], "VARCHAR", null_handling="special")
        legacy, definitions = sample_folder / "submissions.parquet", sample_folder / "leaderboards.parquet"
        connection.execute(f"create view submissions as select *, utf8(code) as text from read_parquet('{legacy}')")
        connection.execute(f"create view leaderboards as from read_parquet('{definitions}')")
        yield connection


def decoded(code: bytes | None) -> str | None:
    """The text of UTF-8 bytes, None for other bytes."""
    try:
        return code.decode() if code is not None else None
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("trap", TRAPS)
def test_trap_is_in_the_sample(sql: duckdb.DuckDBPyConnection, trap: str) -> None:
    assert sql.execute(f"select count(*) from ({TRAPS[trap]})").fetchone() != (0,)


def test_no_text_holds_a_nul(sql: duckdb.DuckDBPyConnection) -> None:
    texts = sql.execute("select code from flat where code is not null").fetchall()
    assert not any("\0" in text for (text,) in texts)


def test_no_name_could_be_a_person(sql: duckdb.DuckDBPyConnection) -> None:
    """A name is marked as a sample, or holds nothing but signs."""
    names = sql.execute("select distinct user_name from flat where user_name is not null").fetchall()
    marks = ("sample", "样本", "عينة", "<img", "[a]", "$x$")
    assert [name for (name,) in names if name.strip() and not any(mark in name.lower() for mark in marks)] == []


@pytest.mark.parametrize(
    ("question", "least"),
    [
        (f"""select count(*) from (select user_id from {ENTRIES} where leaderboard_id in (598, 697) group by user_id
             having count(distinct leaderboard_id) = 2)""", 25),
        ("""select count(*) from (select user_id, code_id from flat where leaderboard_id = 496 and passed
            group by all having count(distinct runner) > 1)""", 100),
        (f"""select count(*) from (select user_id from {ENTRIES} where leaderboard_id = 598 group by user_id
             having count(*) >= 10 and min(score) < 0.5 * max(score))""", 24),
        (f"""select count(distinct user_id) from (select *, min(score) over (order by submission_time
             rows between unbounded preceding and 1 preceding) as record from {ENTRIES} where leaderboard_id = 598)
             where score < record""", 5),
        ("select count(distinct submission_time::date) from flat where leaderboard_id = 598", 25),
    ],
    ids=["users on both dual_gemm boards", "same code on several runners of trimul", "users who got twice as fast",
         "users who held the record", "days with submissions"],
)  # fmt: skip
def test_there_is_something_to_look_at(sql: duckdb.DuckDBPyConnection, question: str, least: int) -> None:
    found = sql.execute(question).fetchone()
    assert found is not None
    assert found[0] >= least
