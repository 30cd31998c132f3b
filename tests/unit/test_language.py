"""What a text is written in, told from its own words."""

from itertools import pairwise
from time import thread_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbdash.code.language import MOST_READ, embedded_cpp, outer_language, source_lines, techniques
from kbdash.code.reader import decoded
from kbdash.dataset.sample import trap_code

PYTHON = "import torch\n\n\ndef custom_kernel(data):\n    return data[0]\n"
CUDA = (
    '#include <cuda_runtime.h>\n__global__ void k(float* a) { a[0] = 1; }\nextern "C" void run() { k<<<1, 1>>>(0); }\n'
)


# The browser has to find the same lines.
LINES = [
    ("", []),
    ("a", ["a"]),
    ("a\n", ["a"]),
    ("a\n\n", ["a", ""]),
    ("\n", [""]),
    ("a\r\nb\rc\n", ["a", "b", "c"]),
    ("a\x0bb\x0cc\u2028d\x85e\n", ["a\x0bb\x0cc\u2028d\x85e"]),
    ("e\u0301 \u0915\u094d\u0937", ["e\u0301 \u0915\u094d\u0937"]),
]


@pytest.mark.parametrize(("text", "lines"), LINES)
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
        ("k<<<1,\n2>>>(a)", ()),
        ("a <<< b\nk<<<1, 2>>>(a);", ("CUDA",)),
        ("<<<>>", ()),
        ("<<<1>>>", ("CUDA",)),
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


MEGABYTE = 1_000_000
MOST_SECONDS = 1.0  # of this thread's own processor time: others on the machine must not decide
ESCAPES_WITHOUT_END = 'import torch\n__global__\nx = """'
FROZE_EVERYBODY = ESCAPES_WITHOUT_END + r"\a" * 40
FRAGMENTS = (
    FROZE_EVERYBODY, r"\a", "<", "<<<", "'\\", '"\\', '"""\\', '\\"""', '"""', "'''", "class a",
    "class a\n", "def a", "def a\n", "import a, ", "from a.", " ", "\n", "\r", "asm ", "#include ", "template ",
    "extern ", '"""__global__\n"""\n', "#", "@a", "__global__ '", "\\", "\ufffd", "\u0301", "a", '\\"""\n', "\\'''\n",
)  # fmt: skip
OPENINGS = (
    "", "__global__\nclass ", "import torch\n__global__\n", 'import torch\n__global__\nx = """', "__global__ '", "asm ",
)  # fmt: skip


@pytest.mark.parametrize("escapes", [20, 22, 24, 26, 40])
def test_the_111_bytes_that_froze_everybody(escapes: int) -> None:
    """Fewer come first, before all other tests here: where each two of them double the time, this ends and says so."""
    text = ESCAPES_WITHOUT_END + r"\a" * escapes
    start = thread_time()
    assert techniques(text) == ("CUDA", "PyTorch")
    assert embedded_cpp(text) == ()
    assert thread_time() - start < MOST_SECONDS


def seconds_to_classify(opening: str, fragment: str, length: int = MEGABYTE) -> float:
    text = (opening + fragment * (length // len(fragment) + 1))[:length]
    raw = text.encode("utf-8", "replace")
    start = thread_time()
    decoded(raw)
    return thread_time() - start


@pytest.mark.parametrize("opening", OPENINGS)
def test_known_traps_for_patterns_take_linear_time(opening: str) -> None:
    taken = {fragment: seconds_to_classify(opening, fragment, MEGABYTE // 10) for fragment in FRAGMENTS}
    assert {fragment: seconds for fragment, seconds in taken.items() if seconds > MOST_SECONDS / 3} == {}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(OPENINGS) | st.text(max_size=20),
    st.text(alphabet="\"'\\#<>:;{}()@._, \n\r\taclsdefimport\u0301", min_size=1, max_size=12)
    | st.text(min_size=1, max_size=8),
)
def test_any_repeated_fragment_is_classified_in_a_second(opening: str, fragment: str) -> None:
    assert seconds_to_classify(opening, fragment) < MOST_SECONDS


def test_what_stands_far_behind_is_not_looked_at() -> None:
    assert techniques("x" * MOST_READ + "\nimport torch\n") == ()
    assert techniques("x" * (MOST_READ - 20) + "\nimport torch\n") == ("PyTorch",)
