"""What a source text is written in, as far as its own words tell. Nothing is ever run."""

import re

# What gives a way of writing kernels away, the most telling first.
_SIGNS = (
    ("HIP", re.compile(r"hip_runtime\.h|hipLaunchKernelGGL|__builtin_amdgcn|hip_bfloat16|hip_fp8")),
    ("CUDA", re.compile(r"__global__|cuda_runtime\.h|<<<.*>>>|load_inline|cuda_sources")),
    ("PTX", re.compile(r"\basm\s+volatile|\btcgen05\.|\bcp\.async|\bmma\.sync")),
    ("CuTe", re.compile(r"\bimport cutlass\b|\bcutlass\.cute\b|@cute\.(?:jit|kernel)|cute/tensor\.hpp")),
    ("Helion", re.compile(r"\bimport helion\b|@helion\.kernel")),
    ("Triton", re.compile(r"@triton\.jit|\bimport triton\b")),
    ("PyTorch", re.compile(r"\bimport torch\b|\bfrom torch\b")),
)
_C_LIKE = re.compile(r"#include\s*[<\"]|__global__|__device__|\btemplate\s*<|\bextern\s+\"C\"")
_PYTHON = re.compile(r"(?m)^\s*(?:def |import |from \w[\w.]* import |class |@\w)")
_TRIPLE = re.compile(r"(?s)(\"\"\"|''')(.*?)\1")


def techniques(text: str) -> tuple[str, ...]:
    """Names of what the text uses, such as ("CUDA", "PTX", "PyTorch"); () when nothing gives it away."""
    return tuple(name for name, sign in _SIGNS if sign.search(text))


def outer_language(text: str) -> str:
    """`python`, `cpp` or `text`: what the file itself is."""
    if _PYTHON.search(text):
        return "python"
    return "cpp" if _C_LIKE.search(text) else "text"


def embedded_cpp(text: str) -> tuple[tuple[int, int], ...]:
    """Line ranges (first, last; from 1) of C++, CUDA or HIP inside string literals of a Python text."""
    if outer_language(text) != "python":
        return ()
    found = []
    for literal in _TRIPLE.finditer(text):
        if _C_LIKE.search(literal[2]):
            first = text.count("\n", 0, literal.start(2)) + 1
            found.append((first, first + literal[2].count("\n")))
    return tuple(found)
