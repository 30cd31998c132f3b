"""How long a reader waits while somebody attacks: hostile texts, a hostile file, a flood of runs, uploads.

python -m benchmarks.attacks [--write]
"""

import argparse
import asyncio
import contextlib
import http.client
import statistics
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from benchmarks.readers import Reader, tab
from benchmarks.report import machine, milliseconds, replace_section, table
from benchmarks.serving import Server, serving
from kbdash.dataset.sample import ensure_sample

TITLE = "Attacks"
BUDGET_SECONDS = 1.0
TURNS = 15
MEGABYTE = 2**20
FIRST_ID = 900_000_000
HUGE_ID = FIRST_ID - 1
TEXTS = (
    'import torch\n__global__\nx = """' + r"\a" * 40,
    "class " + "a" * MEGABYTE,
    "'\\" * (MEGABYTE // 2),
    "<" * MEGABYTE,
    "e" + "\u0301" * 400_000,
    "/*" * (MEGABYTE // 2),
)
Attack = Callable[[Server], Coroutine[Any, Any, None]]


def write_hostile_files(folder: Path) -> None:
    """The sample, a file with texts that are hard to look at, and one that is no parquet file from its end on."""
    for file in ensure_sample(folder / "cache").glob("*.parquet"):
        (folder / file.name).symlink_to(file)
    texts = [*TEXTS, "a" * (200 * MEGABYTE)]
    ids = [*range(FIRST_ID, FIRST_ID + len(TEXTS)), HUGE_ID]
    columns: dict[str, Any] = {
        "submission_id": ids, "leaderboard_id": [9000] * len(ids), "problem_name": ["hostile"] * len(ids),
        "user_id": [str(id_) for id_ in ids], "user_name": ["mallory"] * len(ids), "code_id": ids,
        "file_name": ["a.py"] * len(ids), "submission_time": pa.array([10**15] * len(ids), pa.timestamp("us")),
        "status": ["succeeded"] * len(ids), "score": [1e-3] * len(ids), "passed": [True] * len(ids),
        "mode": ["leaderboard"] * len(ids), "runner": ["H100"] * len(ids), "code": texts,
    }  # fmt: skip
    pq.write_table(pa.table(columns), folder / "hostile_submissions.parquet", compression="zstd", row_group_size=1)
    (folder / "endless.parquet").write_bytes(b"PAR1" + b"\x19" * MEGABYTE + (MEGABYTE).to_bytes(4, "little") + b"PAR1")


async def read_texts(server: Server) -> None:
    """Open every hostile text, again and again."""
    async with tab(server.port) as reader:
        while True:
            for id_ in range(FIRST_ID, FIRST_ID + len(TEXTS)):
                await reader.open("submission", f"id={id_}&competition=hostile")


async def read_huge_text(server: Server) -> None:
    """Four readers open a text of 200 MB that lies in a few kB, again and again."""

    async def one() -> None:
        async with tab(server.port) as reader:
            while True:
                await reader.open("submission", f"id={HUGE_ID}&competition=hostile")

    await asyncio.gather(*(one() for _ in range(4)))


async def flood(server: Server) -> None:
    """Ask for 500 runs a second over one connection, and a new one whenever that is closed."""
    ask = BackMsg(rerun_script=ClientState(page_name="nvfp4")).SerializeToString()
    address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    while True:
        with contextlib.suppress(WebSocketException, OSError):
            async with connect(address, subprotocols=[Subprotocol("streamlit")], max_size=None) as link:
                while True:
                    await link.send(ask)
                    await asyncio.sleep(0.002)


async def upload(server: Server) -> None:
    """Send files of a megabyte that no page asked for, without a pause."""

    def send(number: int) -> None:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        with contextlib.suppress(OSError, http.client.HTTPException):
            link.request("PUT", f"/_stcore/upload_file/a/{number}", b"x" * MEGABYTE)
            link.getresponse().read()
        link.close()

    for number in range(10**9):
        await asyncio.to_thread(send, number)


ATTACKS: dict[str, Attack] = {
    "nobody": lambda _: asyncio.sleep(10**6),
    "hostile texts": read_texts,
    "a hostile file": read_huge_text,
    "a flood of runs": flood,
    "uploads": upload,
}


async def waits(reader: Reader) -> list[float]:
    """Seconds that a reader waits for a page, again and again."""
    return [(await reader.open("nvfp4", "tab=submissions" if turn % 2 else "")).seconds for turn in range(TURNS)]


async def under(attack: Attack, server: Server) -> list[float]:
    """How long an ordinary reader waits meanwhile."""
    async with tab(server.port, patience=60) as reader:
        await reader.open("nvfp4")
        await reader.open("nvfp4", "tab=submissions")
        attacker = asyncio.ensure_future(attack(server))
        await asyncio.sleep(2)
        found = await waits(reader)
        assert not attacker.done(), f"the attack ended by itself: {attacker.exception()}"
        attacker.cancel()
        with contextlib.suppress(BaseException):
            await attacker
    return found


def main() -> None:
    """Measure each attack on a fresh server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_hostile_files(Path(folder))
        for name, attack in ATTACKS.items():
            with serving(folder, KBDASH_RUNS_PER_SECOND="") as server:
                found = asyncio.run(under(attack, server))
                verdict = "kept" if max(found) <= BUDGET_SECONDS else "**missed**"
                rows.append((name, milliseconds(statistics.median(found)), milliseconds(max(found)), verdict,
                             f"{server.peak_mb():,.0f} MB", server.tracebacks()))  # fmt: skip
                print(*rows[-1], sep="\t", flush=True)
    head = ("attack", "median wait", "longest wait", f"within {BUDGET_SECONDS:g} s", "peak memory", "errors logged")
    told = f"{__doc__.splitlines()[0]} One reader opens two views in turn, {TURNS} times. {machine()}."
    if arguments.write:
        replace_section(TITLE, f"{told}\n\n{table(head, rows)}\n")


if __name__ == "__main__":
    main()
