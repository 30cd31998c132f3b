"""What a text is written in, told from its own words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdash.language import embedded_cpp, outer_language, source_lines, techniques
from kbdash.sample import trap_code

PYTHON = "import torch\n\n\ndef custom_kernel(data):\n    return data[0]\n"
CUDA = (
    '#include <cuda_runtime.h>\n__global__ void k(float* a) { a[0] = 1; }\nextern "C" void run() { k<<<1, 1>>>(0); }\n'
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("\n", [""]),
        ("a\r\nb\rc\n", ["a", "b", "c"]),
        ("a\x0bb\x0cc\u2028d\x85e\n", ["a\x0bb\x0cc\u2028d\x85e"]),
    ],
)
def test_lines_end_where_an_editor_ends_them(text: str, lines: list[str]) -> None:
    assert source_lines(text) == lines


@given(st.text(alphabet="a \r\n\x0c", max_size=40))
def test_no_letter_is_lost_between_lines(text: str) -> None:
    assert "".join(source_lines(text)) == text.replace("\r", "").replace("\n", "")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (PYTHON, "python"),
        (CUDA, "cpp"),
        (f'import torch\nSOURCE = """{CUDA}"""\n', "python"),
        ("template <int N>\nclass Tile {\n public:\n  int n;\n};\n", "cpp"),
        (trap_code.ONE_LINE, "python"),
        ("", "text"),
        (" \n\t\n", "text"),
    ],
)
def test_the_file_itself(text: str, language: str) -> None:
    assert outer_language(text) == language


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (PYTHON, ("PyTorch",)),
        (CUDA, ("CUDA",)),
        ("#include <hip/hip_runtime.h>\n__global__ void k() {}", ("HIP", "CUDA")),
        ('asm volatile("mma.sync.aligned.m16n8k16");', ("PTX",)),
        ("import cutlass\nimport cutlass.cute as cute\n@cute.kernel\ndef k(): ...", ("CuTe",)),
        ("import helion\n@helion.kernel()\ndef k(): ...", ("Helion",)),
        ("import torch\nimport triton\n@triton.jit\ndef k(): ...", ("Triton", "PyTorch")),
        ("important = 'torch'", ()),
    ],
)
def test_what_it_uses(text: str, names: tuple[str, ...]) -> None:
    assert techniques(text) == names


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        (PYTHON, ()),
        (CUDA, ()),
        (f'import torch\nA = r"""\n{CUDA}"""\n', ((2, 6),)),
        ("import torch\r\nA = '''\r\n#include <a>\r\n'''\r\nB = 1\r\n", ((2, 4),)),
        ('import a\nA = """__global__"""; B = 1\nC = """\ntemplate <int N>\n"""\n', ((2, 2), (3, 5))),
        ('import a\n# it\'s """ only a comment\nA = """\n__global__\n"""\n', ((3, 5),)),
        ("import a\nA = '\"\"\"'\nB = '''\n__device__\n'''\n", ((3, 5),)),
        ('import a\nA = """ \\""" __global__\n"""\n', ((2, 3),)),
        ('import a\n"""no kernel here"""\nB = "__global__"\n', ()),
        ('import a\nA = """ never closed __global__\n', ()),
    ],
)
def test_cpp_inside_python_strings(text: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert embedded_cpp(text) == ranges


@given(st.text(alphabet="\"'\\#\n\ra_ ", max_size=80))
def test_ranges_lie_inside_the_text(text: str) -> None:
    whole = f'import torch\n{text}\nX = """\n__global__\n"""\n'
    lines = len(source_lines(whole))
    found = embedded_cpp(whole)
    assert all(1 <= first <= last <= lines for first, last in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
