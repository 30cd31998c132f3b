"""What the C library is asked to do with freed memory: in a process of its own, because it holds for all of it."""

import subprocess
import sys

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
