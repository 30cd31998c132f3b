// Tokenizers for Python, and for C++ with its CUDA and HIP dialects, also inside Python strings.
// A tokenizer takes one line and the state after the previous line, calls emit(kind, start, end), and returns
// the state for the next line. States are small plain values; null means "nothing open".
// The texts are untrusted, so the time is linear in the length of a line: a pattern only finds where a literal opens,
// without backtracking; a scan then finds where it ends.

const words = (text) => new Set(text.split(" "));

const PYTHON_KEYWORDS = words(
  "and as assert async await break class continue def del elif else except finally for from global if import in " +
    "is lambda nonlocal not or pass raise return try while with yield match case",
);
const PYTHON_VALUES = words("True False None self cls");
const CPP_KEYWORDS = words(
  "alignas alignof asm auto break case catch class concept const const_cast constexpr continue decltype default " +
    "delete do dynamic_cast else enum explicit export extern false final for friend goto if inline mutable " +
    "namespace new noexcept nullptr operator override private protected public register reinterpret_cast requires " +
    "return sizeof static static_assert static_cast struct switch template this thread_local throw true try " +
    "typedef typeid typename union using virtual volatile while",
);
const CPP_TYPES = words(
  "bool char double float int long short signed unsigned void size_t ssize_t half half2 __half __half2 " +
    "__nv_bfloat16 __nv_bfloat162 __hip_bfloat16 bfloat16_t float2 float4 int2 int4 uint uint2 uint4 dim3 " +
    "__global__ __device__ __host__ __shared__ __constant__ __forceinline__ __launch_bounds__ __restrict__ " +
    "__restrict __managed__ __grid_constant__ __cluster_dims__ __align__",
);
const MOST_COLOURED = 10_000; // characters; a longer line is data, not code to read
const CPP_SIZED_TYPE = /^u?int(?:8|16|32|64)_t$/;

const PYTHON = new RegExp(
  [
    "(?<comment>#.*)",
    "(?<decorator>^\\s*@[\\w.]+)",
    "(?<triple>[rRbBuUfFtT]{0,2}(?<quotes>\"\"\"|'''))",
    "(?<string>[rRbBuUfFtT]{0,2}[\"'])",
    "(?<number>0[xX][\\da-fA-F_]+|0[bBoO][\\d_]+|(?:\\d[\\d_]*\\.?[\\d_]*|\\.\\d[\\d_]*)(?:[eE][+-]?\\d+)?j?)",
    "(?<word>[\\p{L}_][\\p{L}\\p{N}_]*)",
  ].join("|"),
  "gu",
);
const CPP = new RegExp(
  [
    "(?<comment>//.*)",
    "(?<block>/\\*)",
    "(?<directive>^\\s*#\\s*\\w+)",
    "(?<raw>(?:u8|[uUL])?R\"(?<mark>[^\\s()\\\\]{0,16})\\()",
    "(?<string>(?:u8|[uUL])?\")",
    "(?<character>'(?:\\\\.|[^'\\\\]){1,16}')",
    "(?<number>(?:0[xX][\\da-fA-F']+|0[bB][01']+|(?:\\d[\\d']*\\.?[\\d']*|\\.\\d[\\d']*)(?:[eE][+-]?\\d+)?)[a-zA-Z]*)",
    "(?<word>[\\p{L}_][\\p{L}\\p{N}_]*)",
  ].join("|"),
  "gu",
);

/** Where a string of one line ends that opened before `from`: the column after its quote, or the line's end. */
function stringEnd(line, from, quote) {
  let place = from;
  while (place < line.length && line[place] !== quote) place += line[place] === "\\" ? 2 : 1;
  return Math.min(place + 1, line.length);
}

/** Tokens of a C++ line between two columns; the state is null, "comment" or the mark that ends a raw string. */
function cppLine(whole, from, to, state, emit) {
  const line = whole.slice(0, to); // no search goes beyond it
  let place = from;
  while (place < to) {
    if (state !== null) {
      const mark = state === "comment" ? "*/" : state;
      const found = line.indexOf(mark, place);
      const end = found < 0 ? to : found + mark.length;
      emit(state === "comment" ? "comment" : "string", place, end);
      if (found < 0) return state;
      state = null;
      place = end;
      continue;
    }
    CPP.lastIndex = place;
    const match = CPP.exec(line);
    if (match === null) return null;
    const { groups } = match;
    const start = match.index;
    let end = start + match[0].length;
    if (groups.string !== undefined) end = stringEnd(line, end, '"');
    if (groups.block !== undefined) {
      state = "comment";
      emit("comment", start, end);
    } else if (groups.raw !== undefined) {
      state = `)${groups.mark}"`;
      emit("string", start, end);
    } else {
      emitCpp(groups, start, end, emit);
    }
    place = end;
  }
  return state;
}

function emitCpp(groups, start, end, emit) {
  if (groups.comment !== undefined) emit("comment", start, end);
  else if (groups.string !== undefined || groups.character !== undefined) emit("string", start, end);
  else if (groups.number !== undefined) emit("number", start, end);
  else if (groups.directive !== undefined) emit("meta", start, end);
  else if (CPP_KEYWORDS.has(groups.word)) emit("keyword", start, end);
  else if (CPP_TYPES.has(groups.word) || CPP_SIZED_TYPE.test(groups.word)) emit("type", start, end);
}

/** Where a triple-quoted string ends in this line: the column after its quotes, or -1. A backslash escapes. */
function closing(line, from, quotes) {
  for (let place = line.indexOf(quotes, from); place >= 0; place = line.indexOf(quotes, place + 1)) {
    let slashes = 0;
    while (line[place - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return place + quotes.length;
  }
  return -1;
}

/** Tokens of a Python line; the state is null or an open triple-quoted string, which may hold C++. */
function pythonLine(line, state, holdsCpp, emit) {
  let place = 0;
  while (place < line.length) {
    if (state !== null) {
      const close = closing(line, place, state.quotes);
      const inside = close < 0 ? line.length : close - state.quotes.length;
      if (!state.cpp) {
        emit("string", place, close < 0 ? line.length : close);
      } else {
        const inner = cppLine(line, place, inside, state.inner, emit);
        if (close < 0) return { ...state, inner };
        emit("string", inside, close);
      }
      if (close < 0) return state;
      state = null;
      place = close;
      continue;
    }
    PYTHON.lastIndex = place;
    const match = PYTHON.exec(line);
    if (match === null) return null;
    const { groups } = match;
    let end = match.index + match[0].length;
    if (groups.string !== undefined) end = stringEnd(line, end, line[end - 1]);
    if (groups.triple !== undefined) {
      emit("string", match.index, end);
      state = { quotes: groups.quotes, cpp: holdsCpp, inner: null };
    } else {
      emitPython(groups, match.index, end, emit);
    }
    place = end;
  }
  return state;
}

function emitPython(groups, start, end, emit) {
  if (groups.comment !== undefined) emit("comment", start, end);
  else if (groups.string !== undefined) emit("string", start, end);
  else if (groups.number !== undefined) emit("number", start, end);
  else if (groups.decorator !== undefined) emit("meta", start, end);
  else if (PYTHON_KEYWORDS.has(groups.word)) emit("keyword", start, end);
  else if (PYTHON_VALUES.has(groups.word)) emit("type", start, end);
}

/** The tokens of a text, line by line; states are computed lazily, up to the line asked for. */
class Tokens {
  constructor(lines, language, embedded) {
    this.lines = lines;
    this.language = language;
    this.opens = new Set(embedded.map(([first]) => first - 1));
    this.states = [null];
  }

  /** Call emit(kind, start, end) for the tokens of a line, counted from 0; none for a line too long to be code. */
  line(at, emit) {
    if (this.language === "text" || this.lines[at].length > MOST_COLOURED) return;
    for (let next = this.states.length; next <= at; next += 1) this.states[next] = this.#scan(next - 1, () => {});
    this.#scan(at, emit);
  }

  #scan(at, emit) {
    const line = this.lines[at];
    const state = this.states[at];
    if (this.language === "cpp") return cppLine(line, 0, line.length, state, emit);
    return pythonLine(line, state, this.opens.has(at), emit);
  }
}
