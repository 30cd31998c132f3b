"""What a source text is written in, as far as its own words tell. Nothing is ever run."""

import re
from bisect import bisect_right
from typing import Literal

Language = Literal["python", "cpp", "text"]

# What gives a way of writing kernels away, the most telling first. No pattern begins with a word boundary: the
# search would then try every letter of a long text instead of leaping to the words.
_SIGNS = (
    ("HIP", re.compile(r"hip_runtime\.h|hipLaunchKernelGGL|__builtin_amdgcn|hip_bfloat16|hip_fp8")),
    ("CUDA", re.compile(r"__global__|cuda_runtime\.h|<<<.*>>>|load_inline|cuda_sources")),
    ("PTX", re.compile(r"asm\s+volatile|tcgen05\.|cp\.async|mma\.sync")),
    ("CuTe", re.compile(r"import cutlass\b|cutlass\.cute\b|@cute\.(?:jit|kernel)|cute/tensor\.hpp")),
    ("Helion", re.compile(r"import helion\b|@helion\.kernel")),
    ("Triton", re.compile(r"@triton\.jit|import triton\b")),
    ("PyTorch", re.compile(r"import torch\b|from torch\b")),
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_C_LIKE = re.compile(r"#include\s*[<\"]|__global__|__device__|template\s*<|extern\s+\"C\"")
_PYTHON = re.compile(r"(?m)^[ \t]*(?:def \w+\s*\(|import \w[\w., ]*\r?$|from \w[\w.]* import |class \w+[^{;\n]*:|@\w)")
# Comments and short strings are looked at only so that quotes inside them open nothing.
_LITERALS = re.compile(
    r"""(?sx) \#[^\r\n]*
    | (?P<quotes>\"{3}|'{3}) (?P<body>(?:\\.|.)*?) (?P=quotes)
    | "(?:\\.|[^"\\\r\n])*" | '(?:\\.|[^'\\\r\n])*'
    """
)


def source_lines(text: str) -> list[str]:
    """The lines as an editor numbers them: only \\n, \\r\\n and \\r end one, and a last end starts no other."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def techniques(text: str) -> tuple[str, ...]:
    """Names of what the text uses, such as ("CUDA", "PTX", "PyTorch"); () when nothing gives it away."""
    return tuple(name for name, sign in _SIGNS if sign.search(text))


def outer_language(text: str) -> Language:
    """What the file itself is; submissions are Python unless they clearly are not."""
    if not text.strip():
        return "text"
    return "cpp" if _C_LIKE.search(text) and not _PYTHON.search(text) else "python"


def embedded_cpp(text: str) -> tuple[tuple[int, int], ...]:
    """Line ranges (first, last; from 1) of C++, CUDA or HIP inside string literals of a Python text."""
    if not _C_LIKE.search(text) or outer_language(text) != "python":
        return ()
    bodies = [found.span("body") for found in _LITERALS.finditer(text) if _C_LIKE.search(found["body"] or "")]
    ends = [end.start() for end in _LINE_END.finditer(text)] if bodies else []
    return tuple((bisect_right(ends, start - 1) + 1, bisect_right(ends, stop - 1) + 1) for start, stop in bodies)
