"""What the C library is asked to do with freed memory: in a process of its own, because it holds for all of it."""

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from kbdash.cache import BYTES, SharedCache
from kbdash.dataset.model import Page
from kbdash.web.server.memory import forget_dead_views

# Sixteen threads allocate and free at once; by default that leaves a heap for nearly each of them.
SCRIPT = """
import ctypes, os, tempfile, threading, xml.etree.ElementTree as tree
from kbdash.web.server.memory import keep_flat

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p

def heaps():
    path = os.path.join(tempfile.mkdtemp(), "heaps.xml")
    file = ctypes.c_void_p(libc.fopen(path.encode(), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)
    return len(tree.parse(path).findall("heap"))

told, before, barrier = keep_flat(), heaps(), threading.Barrier(16)

def fill():
    barrier.wait()
    parts = [bytearray(20_000) for _ in range(500)]
    barrier.wait()

threads = [threading.Thread(target=fill) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(told, before, heaps())
"""


def test_many_threads_share_few_heaps() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    told, before, after = done.stdout.split()
    assert told == "True"
    assert int(after) <= max(int(before), 2), "numpy and others may have had threads before"


@pytest.mark.parametrize(
    "held", [lambda frame: frame, lambda frame: Page(frame, 10, 1, 1), lambda frame: {"a": (frame,)}]
)
def test_a_shared_frame_does_not_grow_with_those_who_look_at_it(held: Callable[[pd.DataFrame], object]) -> None:
    frame = pd.DataFrame({"rank": range(10)})
    cache: SharedCache[str, object] = SharedCache(10, lambda _: 1, BYTES)
    cache.get("answer", lambda: held(frame))
    kept = frame["rank"]
    for _ in range(100):
        frame["rank"].head(3)
    notes = frame._mgr.blocks[0].refs
    assert len(notes.referenced_blocks) > 100
    forget_dead_views()
    assert len(notes.referenced_blocks) == 2, f"the frame itself, and {kept.name}"


def test_what_other_threads_are_making_is_left_alone() -> None:
    """A tuple that is still growing cannot be finished once somebody else holds it: pages failed with SystemError."""

    def forget() -> None:
        for _ in range(20):
            forget_dead_views()
            time.sleep(0.001)  # so that the other thread has begun a tuple

    with ThreadPoolExecutor(1) as pool:
        forgetting = pool.submit(forget)
        while not forgetting.done():
            assert len(tuple(number for number in range(10_000))) == 10_000
        forgetting.result()
