"""Guess the language and techniques of a source text from its words. Nothing is ever run."""

import re
from bisect import bisect_right
from typing import Literal

Language = Literal["python", "cpp", "text"]

# These texts are untrusted, and matching holds the GIL. So every pattern here takes linear time, without backtracking:
# no part of a pattern can match what the next part matches too, and a literal, once opened, always matches.
MOST_READ = 1 << 20  # characters; the rest of a longer text is not needed to recognise it

# Marks of each way to write kernels, the clearest first. No pattern begins with a word boundary: the search
# would then try every character of a long text instead of jumping to the words.
_SIGNS = (
    ("HIP", re.compile(r"hip_runtime\.h|hipLaunchKernelGGL|__builtin_amdgcn|hip_bfloat16|hip_fp8")),
    ("CUDA", re.compile(r"__global__|cuda_runtime\.h|load_inline|cuda_sources")),
    ("PTX", re.compile(r"asm\s+volatile|tcgen05\.|cp\.async|mma\.sync")),
    ("CuTe", re.compile(r"import cutlass\b|cutlass\.cute\b|@cute\.(?:jit|kernel)|cute/tensor\.hpp")),
    ("Helion", re.compile(r"import helion\b|@helion\.kernel")),
    ("Triton", re.compile(r"@triton\.jit|import triton\b")),
    ("PyTorch", re.compile(r"import torch\b|from torch\b")),
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_C_LIKE = re.compile(r"#include\s*[<\"]|__global__|__device__|template\s*<|extern\s+\"C\"")
_PYTHON = re.compile(r"(?m)^[ \t]*(?:def \w+\s*\(|import \w[\w., ]*\r?$|from \w[\w.]* import |class \w[^{;\n]*:|@\w)")
# Comments and short strings are matched only so that quotes inside them open nothing. The repeats are possessive
# and the closing quotes optional, so that an unterminated literal is scanned once, not again from each of its quotes.
_LITERALS = re.compile(
    r"""(?sx) \#[^\r\n]*+
    | \"{3} (?P<double>(?:[^"\\]|\\.|"(?!""))*+) (?P<double_end>\"{3})?
    | '{3} (?P<single>(?:[^'\\]|\\.|'(?!''))*+) (?P<single_end>'{3})?
    | "(?:[^"\\\r\n]|\\.)*+ "? | '(?:[^'\\\r\n]|\\.)*+ '?
    """
)


def source_lines(text: str) -> list[str]:
    """The lines as an editor numbers them: only \\n, \\r\\n and \\r end one, and a last end starts no other."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def techniques(text: str) -> tuple[str, ...]:
    """Names of what the text uses, such as ("CUDA", "PTX", "PyTorch"); () when nothing is recognised."""
    start = text[:MOST_READ]
    return tuple(name for name, sign in _SIGNS if sign.search(start) or (name == "CUDA" and _launches_kernels(start)))


def outer_language(text: str) -> Language:
    """The language of the file itself; submissions are Python unless they clearly are not."""
    start = text[:MOST_READ]
    if not start.strip():
        return "text"
    return "cpp" if _C_LIKE.search(start) and not _PYTHON.search(start) else "python"


def embedded_cpp(text: str) -> tuple[tuple[int, int], ...]:
    """Line ranges (first, last; from 1) of C++, CUDA or HIP inside string literals of a Python text."""
    start = text[:MOST_READ]
    if not _C_LIKE.search(start) or outer_language(start) != "python":
        return ()
    bodies = [
        literal.span(quotes)
        for literal in _LITERALS.finditer(start)
        for quotes in ("double", "single")
        if literal[f"{quotes}_end"] and _C_LIKE.search(literal[quotes])
    ]
    ends = [end.start() for end in _LINE_END.finditer(start)] if bodies else []
    return tuple((bisect_right(ends, first - 1) + 1, bisect_right(ends, last - 1) + 1) for first, last in bodies)


def _launches_kernels(text: str) -> bool:
    """Whether a line holds <<<…>>>, the way CUDA and HIP start a kernel."""
    opened = text.find("<<<")
    while opened >= 0:
        line_end = text.find("\n", opened)
        line_end = len(text) if line_end < 0 else line_end
        if text.find(">>>", opened + 3, line_end) >= 0:
            return True
        opened = text.find("<<<", line_end)
    return False
