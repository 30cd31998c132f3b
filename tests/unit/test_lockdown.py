"""What a reader's SQL cannot do: reach other files or addresses, change anything, see the token, stop the process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import kbdash
from kbdash.dataset.config import DATASET, Settings
from kbdash.engine import KernelBot
from kbdash.errors import QueryRefused, QueryTimeout
from tests.conftest import part_of
from tests.hub import LoopbackHub
from tests.unit.tables import TRIMUL

TOKEN = "hf_" + "loopback" * 4

STATEMENTS = """
    select * from read_text('/etc/passwd')
    select * from read_blob('/proc/self/environ')
    select * from read_csv('/etc/passwd')
    select * from read_csv_auto('/etc/passwd')
    select * from read_json('/etc/passwd')
    select * from read_json_auto('/etc/passwd')
    select * from read_ndjson_objects('/etc/passwd')
    select * from sniff_csv('/etc/passwd')
    select * from read_duckdb('/etc/passwd')
    select * from read_parquet('{folder}/trimul_submissions.parquet')
    select * from parquet_scan('{folder}/trimul_submissions.parquet')
    select * from parquet_metadata('{folder}/trimul_submissions.parquet')
    select * from parquet_schema('{folder}/trimul_submissions.parquet')
    select * from parquet_kv_metadata('{folder}/trimul_submissions.parquet')
    select * from glob('/etc/*')
    select * from glob('{prefix}*')
    select * from '/etc/passwd'
    select * from '{folder}/trimul_submissions.parquet'
    select * from "{folder}/trimul_submissions.parquet"
    from 'trimul_submissions.parquet'
    select (select count(*) from read_text('/etc/passwd'))
    select 1 where exists (from read_text('/etc/passwd'))
    select list_transform([1], x -> (select max(content) from read_text('/etc/passwd')))
    with hidden as (from read_text('/etc/passwd')) select * from hidden
    with hidden as materialized (from "READ_TEXT"('/etc/passwd')) select * from hidden
    select * from submissions join lateral (from system.main.read_text('/etc/passwd')) on true
    select * from submissions union all by name from glob('/etc/*')
    describe from read_csv('/etc/passwd')
    summarize from read_csv('/etc/passwd')
    describe '/etc/passwd'
    select * from read_parquet('https://example.org/other.parquet')
    select * from read_text('{endpoint}/api/whoami-v2')
    select * from read_text('{prefix}../../../../../api/whoami-v2')
    select * from read_text('{prefix}%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/api/whoami-v2')
    select * from read_parquet('{prefix}trimul_submissions.parquet')
    select code from '{prefix}trimul_submissions.parquet'
    select * from '{prefix}../main/trimul_submissions.parquet'
    select * from "{prefix}..\\main\\trimul_submissions.parquet"
    copy submissions to '{cache}/out.csv'
    copy (select 1) to '{cache}/out.parquet'
    copy submissions from '/etc/passwd'
    attach '{cache}/other.db'
    attach ':memory:' as other
    detach memory
    use system
    install httpfs
    install spatial from community
    load httpfs
    load '/lib/x86_64-linux-gnu/libc.so.6'
    force install json
    set memory_limit = '100GB'
    set session timezone = 'Asia/Tokyo'
    set global enable_external_access = true
    set variable x = 1
    reset memory_limit
    reset lock_configuration
    pragma memory_limit = '100GB'
    pragma enable_profiling
    pragma enable_profiling = 'json'
    pragma profiling_output = '{cache}/profile.json'
    pragma enable_progress_bar
    pragma disable_optimizer
    pragma enable_logging
    pragma enable_external_access = true
    pragma force_checkpoint
    pragma version
    checkpoint
    create table t (a int)
    create table t as from submissions
    create temp table t (a int)
    create view v as select 1
    create or replace view submissions as select 1
    create macro m() as 1
    create secret s (type http, bearer_token 'x')
    create schema s
    create sequence s
    create type mood as enum ('a')
    create function f() as 1
    drop view submissions
    drop table boards
    drop macro ranking
    drop secret hub
    alter table boards rename to b
    insert into boards values (1, 'x', 'y')
    insert into boards select 1, 'x', 'y'
    with x as (select 1) insert into boards select 1, 'x', 'y'
    update boards set name = 'x'
    delete from boards
    delete from submissions
    truncate boards
    merge into boards using boards b on true when matched then delete
    vacuum
    analyze
    begin
    commit
    rollback
    call pragma_version()
    call enable_logging()
    execute p
    prepare p as select 1
    deallocate p
    export database '{cache}/dump'
    import database '{cache}/dump'
    explain select 1
    explain analyze select * from read_text('/etc/passwd')
    explain analyze insert into boards values (1, 'x', 'y')
    select 1; select 2
    select 1; drop view submissions
    select 1; set memory_limit = '100GB'; select 2
    from enable_logging()
    from enable_logging('HTTP')
    from ENABLE_LOGGING(level = 'trace', storage = 'file')
    select * from disable_logging()
    from truncate_duckdb_logs()
    from enable_profiling()
    from disable_profiling()
    from force_checkpoint()
    from checkpoint('memory')
    from duckdb_secrets()
    from duckdb_secrets(redact = false)
    from which_secret('{prefix}x', 'http')
    from duckdb_logs()
    from duckdb_settings()
    from duckdb_extensions()
    from duckdb_temporary_files()
    from query('select 1')
    from query('from read_text(''/etc/passwd'')')
    from query('from enable_' || 'logging(level = ''trace'', storage = ''file'', storage_path = ''{cache}'')')
    from query_table('boards')
    from query_table(['boards', '{prefix}trimul_submissions.parquet'])
    from json_execute_serialized_sql(json_serialize_sql('from duckdb_secrets()'))
    from pandas_scan(140000000)
    from arrow_scan(140000000, 1, 2)
    from python_map_function(1)
    from seq_scan('boards')
    from parquet_bloom_probe('/etc/passwd', 'a', 1)
    from pragma_table_info('boards')
    from local_frame
    from no_such_table
    select no_such_function(1)
    pivot read_text('/etc/passwd') on content using count(*)
    pivot '/etc/passwd' on content using count(*)
    pivot submissions on (select max(content) from read_text('/etc/passwd')) using count(*)
    pivot submissions on mode using max((select max(content) from read_text('/etc/passwd')))
    pivot submissions on mode using count(*) group by competition, (select max(content) from read_text('/etc/passwd'))
    pivot (from read_text('/etc/passwd')) on content using count(*)
    pivot submissions /* on mode */, read_text('/etc/passwd') on content using count(*)
    pivot submissions join read_text('/etc/passwd') on true on content using count(*)
    pivot submissions on mode using count(*) union all from read_text('/etc/passwd')
    pivot submissions on mode using count(*); drop view submissions
    with p as (from read_text('/etc/passwd')) pivot p on content using count(*)
    pivot submissions on mode in (select content from read_text('/etc/passwd')) using count(*)
    selec 1
    not even close

    ;
    --
"""


@pytest.fixture(scope="module")
def locked_hub(sample_folder: Path) -> Iterator[LoopbackHub]:
    """A private dataset, so that every request that is answered carried the token."""
    with LoopbackHub(sample_folder, token=TOKEN, private=True) as hub:
        yield hub


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locked")


@pytest.fixture(scope="module")
def locked(locked_hub: LoopbackHub, cache: Path) -> Iterator[KernelBot]:
    """The engine over a private dataset."""
    settings = Settings(
        source=DATASET, endpoint=locked_hub.endpoint, token=TOKEN, cache=cache, hub_seconds=30.0, query_seconds=120.0
    )
    engine = kbdash.connect(settings=settings)
    engine.sql("select 1")  # so that whatever is fetched for SQL is fetched before
    yield engine
    engine.close()


@pytest.mark.parametrize("statement", STATEMENTS.splitlines(), ids=str.strip)
def test_refused(locked: KernelBot, locked_hub: LoopbackHub, cache: Path, statement: str) -> None:
    local_frame = pd.DataFrame({"a": [1]})  # what a Python variable could be mistaken for
    locked_hub.reset()
    before = sorted(cache.iterdir())
    names = {
        "prefix": locked.source.prefix,
        "endpoint": locked_hub.endpoint,
        "folder": locked_hub.folder,
        "cache": cache,
    }
    text = statement.strip()
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", str(value))
    with pytest.raises(QueryRefused) as refusal:
        locked.sql(text)
    assert refusal.value.advice
    assert TOKEN not in str(refusal.value)
    assert locked_hub.counts.requests == 0
    assert sorted(cache.iterdir()) == before
    assert len(local_frame) == 1
    assert locked._database._asker.run("select 42 as a")["a"].tolist() == [42]


def test_refused_over_local_files_too(sample_folder: Path, tmp_path: Path) -> None:
    folder = part_of(sample_folder, tmp_path / "dataset", TRIMUL)
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path))
    for statement in ("from read_text('/etc/passwd')", f"from '{folder / TRIMUL}'"):
        with pytest.raises(QueryRefused):
            engine.sql(statement)
    engine.close()


def test_the_connection_itself_refuses_without_the_syntax_check(locked: KernelBot) -> None:
    """A second fence behind the first: the database has no access even to what no question asks."""
    for text in (
        "from read_text('/etc/passwd')",
        "copy (select 1) to '/tmp/kbdash-must-not-exist'",
        "attach '/tmp/kbdash-must-not-exist'",
        "from read_text('https://example.org/')",
        "set enable_external_access = true",
        "from duckdb_secrets(redact = false)",
    ):
        with pytest.raises(kbdash.errors.KbdashError):
            locked._database._asker.run(text)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("values (1), (2)", 2),
        ("select 1 as a;", 1),
        ("table boards limit 1", 1),
        ("from submissions limit 2", 2),
        ("describe submissions", 16),
        (
            "with recursive r as (select 1 as i union all select i + 1 from r where i < 5)\n"
            "from r, range(4), generate_series(1, 3), unnest([1, 2]), (select unnest([1, 2, 3]) as a)",
            5 * 4 * 3 * 2 * 3,
        ),
        ("select competition, count(*) from submissions group by all", 7),
        ("select rank() over (order by score) from submissions_of('trimul') limit 3", 3),
        ("from ranking('trimul', 'trimul', 'H100', null, '2025-09-30'::date, true) where rank <= 1", 1),
        (
            "select 'read_text(''/etc/passwd''); drop view submissions' as harmless,\n"
            "1 as read_text -- from enable_logging()",
            1,
        ),
        ("pivot (select mode from submissions) on mode using count(*)", 1),
        ("pivot submissions on mode using count(*) group by competition", 7),
        (
            "PIVOT (from submissions where passed)\n  ON mode, passed USING count(*), min(score) GROUP BY competition;",
            7,
        ),
        ("pivot (select mode from submissions) on mode in ('test') using count(*)", 1),
        ("from (pivot (select mode from submissions) on mode in ('test') using count(*))", 1),
        ("unpivot (select 1 as a, 2 as b) on a, b", 2),
    ],
)
def test_allowed(locked: KernelBot, statement: str, rows: int) -> None:
    assert len(locked.sql(statement)) == rows


def test_after_all_that_the_data_are_what_they_were(locked: KernelBot, kb: KernelBot) -> None:
    for statement in STATEMENTS.splitlines()[::10]:  # the others were tried just before
        with pytest.raises(QueryRefused):
            locked.sql(statement.strip())
    everything = "select competition, count(*) as n, max(submission_id) as m from submissions group by all order by 1"
    assert locked.sql(everything).equals(kb.sql(everything))
    assert locked.leaderboard("trimul").equals(kb.leaderboard("trimul"))


@pytest.mark.parametrize(
    ("statement", "rows"), [(-1, 1), (None, 1), ("select 1", -1), ("select 1", "1"), ("select 1", 2.5)]
)
def test_what_is_no_statement_is_told_as_that(locked: KernelBot, statement: Any, rows: Any) -> None:
    with pytest.raises(QueryRefused) as told:
        locked.sql(statement, rows)
    assert told.value.advice


def test_nothing_after_a_nul_is_run(locked: KernelBot) -> None:
    assert locked.sql("select 1 as a;\0 drop view submissions")["a"].tolist() == [1]
    assert not locked.sql("from submissions limit 1").empty


def test_the_token_goes_to_the_hub_alone_and_is_told_to_nobody(locked: KernelBot, locked_hub: LoopbackHub) -> None:
    assert TOKEN not in repr(locked.source)
    assert TOKEN not in repr(locked._settings)
    for table in ("duckdb_settings()", "duckdb_secrets()", "duckdb_views()", "duckdb_variables()"):
        assert TOKEN not in locked._database._asker.run(f"from {table}").to_csv()
    locked.leaderboard("trimul")
    assert locked_hub.counts.tokens_at_cdn == 0


@pytest.mark.parametrize(
    "statement",
    [
        "select count(*) from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 3",
        "select sleep_ms(600000)",
        "with recursive r as (select 1 as i union all select i + 1 from r) select max(i) from r",
    ],
)
def test_what_takes_too_long_is_stopped_and_the_next_question_answered(
    locked: KernelBot, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(locked._database._console, "_seconds", 0.8)
        with pytest.raises(QueryTimeout, match="too long"):
            locked.sql(statement)
    assert locked.sql("select 42 as a")["a"].tolist() == [42]


def test_what_needs_too_much_memory_is_stopped(sample_folder: Path, tmp_path: Path) -> None:
    folder = part_of(sample_folder, tmp_path / "dataset", TRIMUL)
    engine = kbdash.connect(folder, settings=Settings(cache=tmp_path, memory_limit="40MB", query_seconds=120.0))
    with pytest.raises(QueryTimeout, match="memory"):
        engine.sql("select count(distinct hash(range)) from range(20000000)")
    assert engine.sql("select 42 as a")["a"].tolist() == [42]
    engine.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("select 'a'::int", "Conversion Error"),
        ("select 300::tinyint", "Conversion Error"),
        ("select no_such_column from submissions", "no_such_column"),
        ("select $a", "a"),
        ("select regexp_matches('a', '(')", "missing"),
        ("select timezone('X', now())", "Unknown TimeZone"),
        ("select error('no reason of ours')", "no reason of ours"),
        ("select union_value(a := 1) as u", "not a table"),
        ("select " + "(select " * 400 + "1" + ")" * 400, "deeply|depth"),
    ],
)
def test_a_mistake_in_the_statement_is_told_as_one(locked: KernelBot, statement: str, words: str) -> None:
    with pytest.raises(QueryRefused, match=words):
        locked.sql(statement)
