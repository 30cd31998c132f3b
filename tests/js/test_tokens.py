"""Colours of source texts, as the browser finds them: right on ordinary code, fast on any."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

TOKENS = """({ text, language, embedded }) => {
    const lines = linesOf(text);
    const tokens = new Tokens(lines, language, embedded);
    return lines.flatMap((line, at) => {
        const found = [];
        tokens.line(at, (kind, start, end) => found.push([kind, line.slice(start, end)]));
        return found;
    });
}"""
SECONDS = """({ opening, fragment, length, language, embedded }) => {
    // A line too long to be coloured is only read for what it opens, and only if another line follows.
    const text = `${(opening + fragment.repeat(Math.ceil(length / fragment.length))).slice(0, length)}\\nx`;
    const start = performance.now();
    const lines = linesOf(text);
    const tokens = new Tokens(lines, language, embedded);
    lines.forEach((_, at) => tokens.line(at, () => {}));
    widest(lines);
    return (performance.now() - start) / 1000;
}"""
MEGABYTE = 1_000_000
MOST_SECONDS = 3.0  # one on a quiet machine
FRAGMENTS = (
    r"'\'\'", r"\'", "'", '"', '"\\', '"""', "'''", r"\"", '"""/*', "/*", "*/", 'R"(', 'R"', "//", "#", "@", "1",
    "1'", ".", "0x", "a", "é", "\u0301", " ", "\n", "\r", "\\", "_", "\U0001f43a", "1.e", "u8", "rb", "rb'",
)  # fmt: skip


def tokens(
    page: Page, text: str, language: str = "python", embedded: tuple[tuple[int, int], ...] = ()
) -> list[list[str]]:
    return page.evaluate(TOKENS, {"text": text, "language": language, "embedded": embedded})


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("def f(x): return x  # why", [["keyword", "def"], ["keyword", "return"], ["comment", "# why"]]),
        ("@triton.jit", [["meta", "@triton.jit"]]),
        ("a = 'it\\'s' + rb\"x\"", [["string", "'it\\'s'"], ["string", 'rb"x"']]),
        ("a = 'never closed", [["string", "'never closed"]]),
        ("a = 'ends in a \\", [["string", "'ends in a \\"]]),
        ("x = 0xFF_00 + 1.5e-3j", [["number", "0xFF_00"], ["number", "1.5e-3j"]]),
        ("self.größe = None", [["type", "self"], ["type", "None"]]),
        ('"""a""" + 1', [["string", '"""'], ["string", 'a"""'], ["number", "1"]]),
        ('"""a\\"""b"""', [["string", '"""'], ["string", 'a\\"""b"""']]),
    ],
)
def test_python(page: Page, line: str, found: list[list[str]]) -> None:
    assert tokens(page, line) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("#include <a> // b", [["meta", "#include"], ["comment", "// b"]]),
        ("__global__ void k() {}", [["type", "__global__"], ["type", "void"]]),
        ("char c = '\\''; // q", [["type", "char"], ["string", "'\\''"], ["comment", "// q"]]),
        ("int n = 1'000'000;", [["type", "int"], ["number", "1'000'000"]]),
        ("#error don't", [["meta", "#error"]]),
        ('auto s = L"a\\"b";', [["keyword", "auto"], ["string", 'L"a\\"b"']]),
        ('R"x(a)" )x" 1', [["string", 'R"x('], ["string", 'a)" )x"'], ["number", "1"]]),
        ("/* a */ uint8_t", [["comment", "/*"], ["comment", " a */"], ["type", "uint8_t"]]),
    ],
)
def test_cpp(page: Page, line: str, found: list[list[str]]) -> None:
    assert tokens(page, line, "cpp") == found


def test_cpp_inside_a_python_string(page: Page) -> None:
    text = 'A = """\n__global__ /* a\nb */ int x;\n""" + 1\n'
    assert tokens(page, text, embedded=((1, 4),)) == [
        ["string", '"""'], ["type", "__global__"], ["comment", "/*"], ["comment", " a"], ["comment", "b */"],
        ["type", "int"], ["string", '"""'], ["number", "1"],
    ]  # fmt: skip


def test_a_very_long_line_is_left_uncoloured_and_what_it_opens_is_known_behind_it(page: Page) -> None:
    text = f"x = 1; y = '''{'1 ' * 6_000}\n2 + 2\n''' + 3\n"
    assert tokens(page, text) == [["string", "2 + 2"], ["string", "'''"], ["number", "3"]]


@pytest.mark.parametrize("language", ["python", "cpp"])
@pytest.mark.parametrize("opening", ["", "'", '"""', "/*"])
def test_known_traps_take_linear_time(page: Page, language: str, opening: str) -> None:
    facts = {"opening": opening, "length": MEGABYTE // 4, "language": language, "embedded": [[1, 1]]}
    taken = {fragment: page.evaluate(SECONDS, {**facts, "fragment": fragment}) for fragment in FRAGMENTS}
    assert {fragment: seconds for fragment, seconds in taken.items() if seconds > MOST_SECONDS / 3} == {}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    opening=st.sampled_from(["", "'", '"""', "/*", "x = '''"]),
    fragment=st.text(alphabet="\"'\\#/*()R@._ 0x1eua\n\r\t\u0301é", min_size=1, max_size=12)
    | st.text(min_size=1, max_size=8),
    language=st.sampled_from(["python", "cpp"]),
)
def test_any_repeated_fragment_is_coloured_in_time(page: Page, opening: str, fragment: str, language: str) -> None:
    facts = {"opening": opening, "fragment": fragment.encode("utf-8", "replace").decode(), "length": MEGABYTE}
    assert page.evaluate(SECONDS, {**facts, "language": language, "embedded": [[1, 1]]}) < MOST_SECONDS
