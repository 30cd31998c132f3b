"""A lexer for single lines: which parts are Python, embedded C++ or assembly, and which are only prose.

CUDA is inside Python strings, and PTX inside C strings inside those. `read_line` takes a line and the state after the
previous line, and returns the code in it, zone by zone, and the next state. Comments, docstrings and messages are
skipped. Every step moves forward, so the time is linear in the length of the line.
"""

import re
from functools import lru_cache
from typing import NamedTuple

VERSION = "1"
PYTHON, CPP, ASM = "py", "cpp", "asm"
ZONES = (PYTHON, CPP, ASM)
LONGEST_WORD = 512
MOST_DEPTH = 15


class State(NamedTuple):
    """The state at the start of a line.

    `mode`: py, cpp, doc (a docstring), or new (a string or a file whose language is not known yet). `quote` ends
    the string that the line starts in, `outer` the string around it when Python code is inside a string. `depth`: open
    brackets. `joined`: the previous line ended in a backslash. `comment`: inside `/* */`. `duty`: what strings of
    this statement are for, asm or message. `raw` ends a raw string of C++.
    """

    mode: str = "new"
    quote: str = ""
    outer: str = ""
    depth: int = 0
    joined: bool = False
    comment: bool = False
    duty: str = ""
    raw: str = ""


START = State()
_GLUE = {PYTHON: "", CPP: "", ASM: " "}
_PY_TOKEN = re.compile(r"#|\"\"\"|'''|\"|'|\\$")
_BRACKET = re.compile(r"[()\[\]{}]")
_CPP_TOKEN = re.compile(r"//|/\*|\"\"\"|'''|R\"[^\s()\\\"]{0,16}\(|\"|'(?:\\.|[^'\\])'|;|\\.")
_STRING_END = {'"': re.compile(r'(?:[^"\\]|\\.)*"'), "'": re.compile(r"(?:[^'\\]|\\.)*'")}
_PREFIX = re.compile(r"\s*[rRbBfFuU]{0,2}")
_STARTS_PYTHON = re.compile(
    r"\s*(?:import |from [\w.]+ import|@\w|(?:async )?def |class |#!|#(?!\s*(?:include|define|pragma|if|undef|error)))"
)
STATEMENT = r"(?:def|class|import|from|@\w+)\b"
_STATEMENT = re.compile(STATEMENT)
_STARTS_CPP_FILE = re.compile(
    r"\s*(?://|/\*|#\s*(?:include|define|pragma|ifn?def|if)\b|(?:template|namespace|using|extern)\b)"
)
_PY_ASM = re.compile(r"inline_asm|\basm\b")
_PY_MESSAGE = re.compile(r"\b(?:print|raise|assert|warn\w*|log(?:ger|ging)?|\w*Error|\w*Exception|description|help)\b")
_C_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_C_MESSAGE = re.compile(
    r"\b(?:f?printf|TORCH_CHECK\w*|TORCH_WARN\w*|static_assert|assert|throw|cerr|cout|AT_ERROR|perror)\b"
)
STARTS_DUTY = "|".join(each.pattern for each in (_PY_ASM, _PY_MESSAGE, _C_ASM, _C_MESSAGE))
_ASM_TEXT = re.compile(
    r"(?:\\[nt]|[\s{])*(?:@!?[%$\w]+\s+)?"
    r"(?:[a-z]\w*(?:\.[\w:]+)+[\s;\\]|[a-z]\w*(?:\.[\w:]+)+$|\.reg\b|(?:s|v|ds|buffer|global|flat)_[a-z]\w*\s)"
)
_WORD = re.compile(r"[^\s\"']+")
_INK = re.compile(r"\S")


class Reading:
    """The code of one line, collected zone by zone, and the current state."""

    def __init__(self, line: str, state: State) -> None:
        self.line = line
        self.zones: dict[str, list[str]] = {zone: [] for zone in ZONES}
        self.mode, self.quote, self.outer, self.depth, self.joined, self.comment, self.duty, self.raw = state
        self.fresh = self.mode == "py" and not self.depth and not self.joined  # at the start of a statement

    def run(self) -> None:
        """Go through the line."""
        if self.mode == "py" and self.depth and _STATEMENT.match(self.line):
            self.depth, self.duty, self.fresh = 0, "", True  # a bracket is missing: a line at the margin starts anew
        at = 0
        steps = {"py": self._python, "cpp": self._cpp, "doc": self._doc, "new": self._undecided}
        self.joined = False
        while at < len(self.line):
            at = steps[self.mode](at)
        if self.mode == "py" and not self.depth and not self.joined:
            self.duty = ""

    def state(self) -> State:
        """The state for the next line."""
        depth = min(self.depth, MOST_DEPTH)
        return State(self.mode, self.quote, self.outer, depth, self.joined, self.comment, self.duty, self.raw)

    def _decide(self, at: int) -> None:
        """Guess the language of a string or a file from its first non-empty line."""
        if not self.quote:
            self.mode = "cpp" if _STARTS_CPP_FILE.match(self.line, at) else "py"
        elif not self.outer and _STARTS_PYTHON.match(self.line, at):
            self.mode, self.outer, self.quote, self.depth = "py", self.quote, "", 0
        else:
            self.mode = "cpp"
        self.fresh = True

    def _undecided(self, at: int) -> int:
        ink = _INK.search(self.line, at)
        if ink is None:
            return len(self.line)
        if self.quote and self.line.startswith(self.quote, ink.start()):
            return self._close(ink.start() + len(self.quote))
        self._decide(ink.start())
        return at

    def _close(self, at: int) -> int:
        """Continue after the string that ends here."""
        self.mode, self.quote, self.comment, self.raw, self.fresh = "py", "", False, "", False
        self.duty = ""
        return at

    def _leave(self, at: int) -> int:
        """Continue after the outer string, which contained Python."""
        self.outer, self.depth = "", 0
        return self._close(at)

    def _to(self, marks: tuple[str, ...], at: int) -> tuple[int, str]:
        """The position of the first of the marks, and which one; the end of the line if there is none."""
        found = _any_of(marks).search(self.line, at)
        return (found.start(), found.group()) if found else (len(self.line), "")

    def _doc(self, at: int) -> int:
        end, mark = self._to((self.quote, self.outer), at)
        if not mark:
            return end
        return self._close(end + 3) if mark == self.quote else self._leave(end + 3)

    def _python(self, at: int) -> int:
        token = _PY_TOKEN.search(self.line, at)
        code = self.line[at : token.start() if token else len(self.line)]
        self._python_code(code)
        if token is None:
            return len(self.line)
        sign, end = token.group(), token.end()
        if sign == self.outer:
            return self._leave(end)
        if sign == "#":
            place, mark = self._to((self.outer,), end)
            return self._leave(place + 3) if mark else place
        if sign[0] in "\"'":
            return self._python_string(sign, end)
        self.joined = True  # a backslash at the end of the line
        return end

    def _python_code(self, code: str) -> None:
        self.zones[PYTHON].append(code)
        for bracket in _BRACKET.findall(code):
            self.depth = max(0, self.depth + (1 if bracket in "([{" else -1))
        if _PY_ASM.search(code):
            self.duty = "asm"
        elif not self.duty and _PY_MESSAGE.search(code):
            self.duty = "message"
        if _PREFIX.fullmatch(code) is None:
            self.fresh = False

    def _python_string(self, sign: str, at: int) -> int:
        talk = self.fresh or (self.duty == "message" and len(sign) == 3)
        if len(sign) == 3:
            self.mode, self.quote = "doc" if talk else "new", sign
            self.zones[PYTHON].append('""')
            return at
        match = _STRING_END[sign].match(self.line, at)
        end = match.end() if match else len(self.line)
        content = self.line[at : end - 1 if match else end]
        self.zones[PYTHON].append('""' if talk else f'"{self._short(content)}"')
        self.fresh = False
        return end

    def _short(self, content: str) -> str:
        """Handle a one-line string: embedded source and assembly go to their zones."""
        if self.duty == "asm":
            self.zones[ASM].append(content)
            return ""
        if self.duty == "message":
            return ""
        if _ASM_TEXT.match(content) and (" " in content or ";" in content):
            self.zones[ASM].append(content)
        elif ";" in content or content.startswith(("#include", "#define")):
            self.zones[CPP].append(content)
        return "" if " " in content else content

    def _cpp(self, at: int) -> int:
        if self.comment:
            end, mark = self._to(("*/", self.quote, self.outer), at)
            self.comment = mark != "*/"
            return self._ended(mark, end) if self.comment else end + 2
        if self.raw:
            end, mark = self._to((self.raw, self.quote, self.outer), at)
            self._c_string(self.line[at:end])
            if mark != self.raw:
                return self._ended(mark, end)
            self.raw = ""
            return end + len(mark)
        token = _CPP_TOKEN.search(self.line, at)
        code = self.line[at : token.start() if token else len(self.line)]
        self._cpp_code(code)
        return len(self.line) if token is None else self._cpp_token(token.group(), token.end())

    def _ended(self, mark: str, end: int) -> int:
        """The position after the mark if it ends the Python string."""
        if not mark:
            return end
        return self._close(end + len(mark)) if mark == self.quote else self._leave(end + len(mark))

    def _cpp_code(self, code: str) -> None:
        self.zones[CPP].append(code)
        if _C_ASM.search(code):
            self.duty = "asm"
        elif not self.duty and _C_MESSAGE.search(code):
            self.duty = "message"

    def _cpp_token(self, sign: str, end: int) -> int:
        if sign in ('"""', "'''"):
            # Three quotes that end nothing are an empty string and the start of the next.
            return self._ended(sign, end - 3) if sign in (self.quote, self.outer) else end
        if sign == "//":
            place, mark = self._to((self.quote, self.outer), end)
            return self._ended(mark, place)
        if sign == "/*":
            self.comment = True
        elif sign == ";":
            self.duty = ""
            self.zones[CPP].append(sign)
        elif sign.startswith('R"'):
            self.raw = f'){sign[2:-1]}"'
        elif sign == '"':
            return self._cpp_string(end)
        else:
            self.zones[CPP].append(sign)
        return end

    def _cpp_string(self, at: int) -> int:
        match = _STRING_END['"'].match(self.line, at)
        end = match.end() if match else len(self.line)
        around = _any_of(tuple(each for each in (self.quote, self.outer) if each != '"""')).search(self.line, at, end)
        if around:
            return self._ended(around.group(), around.start())
        self._c_string(self.line[at : end - 1 if match else end])
        self.zones[CPP].append('""')
        return end

    def _c_string(self, content: str) -> None:
        if self.duty == "asm" or (self.duty != "message" and _ASM_TEXT.match(content)):
            self.zones[ASM].append(content)


def read_line(line: str, state: State) -> tuple[dict[str, str], State]:
    """The code of a line, by zone, and the state for the next line; words over 512 letters are cut."""
    if len(line) > LONGEST_WORD:
        line = _WORD.sub(lambda word: word.group()[:LONGEST_WORD], line)
    reading = Reading(line, state)
    reading.run()
    return {zone: _GLUE[zone].join(parts) for zone, parts in reading.zones.items()}, reading.state()


@lru_cache(maxsize=256)
def _any_of(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(mark) for mark in marks if mark) or r"(?!)")
