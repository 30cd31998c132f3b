"""Source texts of the sample: templates with a level, and parameters that authors tune between submissions.

A template is a text in `templates/`. A line `%% 3+`, `%% 0-2` or `%% 4+ dual` gives the levels, and the feature
of the problem, for which the lines after it are included; `@tile_m@` is a field. A higher level is a better
kernel, so the diff of two submissions shows what the author changed.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

TOP_LEVEL = 9
# Short templates always have the author's test bench below them, the others only sometimes.
_SHORT = ("torch_wrapper", "triton_stream", "helion_kernel", "hip_stream")
BANNER = "# Synthetic sample kernel made by the kbdash generator: plausible, never run, nobody's work.\n"

_FIELD = re.compile(r"@([a-z_]+)@")
_MARKER = re.compile(r"%% (?:(?P<low>\d)(?P<open>\+|-(?P<high>\d))|all)(?: (?P<feature>\w+))?")

KNOBS: dict[str, tuple[int, ...]] = {
    "tile_m": (16, 32, 64, 128, 256),
    "tile_n": (32, 64, 96, 128, 256),
    "tile_k": (32, 64, 128, 256),
    "stages": (2, 3, 4, 5, 6, 8),
    "warps": (2, 4, 8, 16),
    "vector": (1, 2, 4, 8, 16),
    "unroll": (1, 2, 4, 8),
    "split": (1, 2, 4, 8),
}
_KNOB_NAMES = tuple(KNOBS)

Style = tuple[str, frozenset[str]]


def _style(template: str, *features: str) -> Style:
    return template, frozenset(features)


# What people write for each kind of problem, the plain wrapper first.
STYLES: dict[str, tuple[Style, ...]] = {
    "gemv": (
        _style("torch_wrapper"),
        _style("cuda_gemv"),
        _style("triton_stream", "reduce"),
        _style("cuda_gemv"),
    ),
    "scaled_gemm": (
        _style("torch_wrapper"),
        _style("cute_tiled", "scaled"),
        _style("cuda_tiled", "scaled"),
        _style("triton_tiled", "scaled"),
    ),
    "dual_gemm": (
        _style("torch_wrapper"),
        _style("cute_tiled", "scaled", "dual"),
        _style("cuda_tiled", "scaled", "dual"),
        _style("triton_tiled", "scaled", "dual"),
    ),
    "group_gemm": (
        _style("torch_wrapper"),
        _style("cute_tiled", "scaled", "group"),
        _style("cuda_tiled", "scaled"),
    ),
    "gemm": (_style("torch_wrapper"), _style("triton_tiled"), _style("cuda_tiled")),
    "trimul": (_style("torch_wrapper"), _style("triton_tiled", "dual"), _style("cuda_tiled", "dual")),
    "stream": (_style("torch_wrapper"), _style("cuda_stream", "point"), _style("triton_stream", "point")),
    "reduce": (_style("torch_wrapper"), _style("cuda_stream", "reduce"), _style("triton_stream", "reduce")),
    "helion": (_style("helion_kernel"), _style("helion_kernel"), _style("triton_stream", "point")),
    "factor": (_style("torch_wrapper"), _style("cuda_factor", "qr", "eigh", "cholesky")),
    "hip_gemm": (_style("torch_wrapper"), _style("hip_tiled"), _style("triton_tiled", "scaled")),
    "hip_moe": (_style("torch_wrapper"), _style("triton_tiled", "dual"), _style("hip_tiled")),
    "hip_attention": (_style("torch_wrapper"), _style("hip_attention")),
    "hip_stream": (
        _style("torch_wrapper"),
        _style("hip_stream", "point", "many"),
        _style("triton_stream", "point"),
    ),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """One revision of one author's kernel: everything its text depends on."""

    kind: str
    problem: str
    author: str
    style: int
    level: int = 0
    revision: int = 1
    note: str = "first version"
    tile_m: int = 64
    tile_n: int = 64
    tile_k: int = 64
    stages: int = 2
    warps: int = 4
    vector: int = 4
    unroll: int = 2
    split: int = 2


def revised(draft: Draft, level: int, knob: int, step: int) -> Draft:
    """The same author's next draft: one parameter changed, at the level reached by now."""
    name = _KNOB_NAMES[knob % len(_KNOB_NAMES)]
    choices = KNOBS[name]
    old: int = getattr(draft, name)
    new = choices[(choices.index(old) + 1 + step % (len(choices) - 1)) % len(choices)]
    note = f"{name} {old} -> {new}" if level == draft.level else f"{_LEVEL_NOTES[level]}; {name} {old} -> {new}"
    turned: dict[str, Any] = {name: new}
    return replace(draft, level=level, revision=draft.revision + 1, note=note, **turned)


_LEVEL_NOTES = (
    "back to the simple version",
    "cleaned up",
    "wider loads",
    "tiles in shared memory",
    "matrix instructions",
    "copies overlap with arithmetic",
    "bank conflicts gone",
    "launch bounds and split work",
    "persistent blocks",
    "last few percent",
)


def render(draft: Draft, header: str = "") -> str:
    """The source text of a draft; `header` goes below the banner."""
    template, features = STYLES[draft.kind][draft.style % len(STYLES[draft.kind])]
    fields = _fields(draft)
    body = _filled(_compiled(template, draft.level, _narrowed(features, draft.problem)), fields)
    if draft.style % 2 == 0 or template in _SHORT:
        body += _filled(_compiled("harness", draft.level, frozenset()), fields)
    return f"{BANNER}{header}# {draft.kind} {draft.author} r{draft.revision}: {draft.note}\n\n{body}"


def starting_template(kind: str) -> str:
    """The unchanged example that many people submit first: the same text for everybody."""
    body = _filled(_compiled("torch_wrapper", 0, frozenset()), {})
    return f"{BANNER}# {kind}: the example that everybody starts from.\n\n{body}"


def _filled(pieces: tuple[str, ...], fields: dict[str, str]) -> str:
    return "".join(fields[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _narrowed(features: frozenset[str], problem: str) -> frozenset[str]:
    """Of mutually exclusive features, the one the problem has."""
    if "qr" in features:
        return frozenset({problem.removesuffix("_v2")})
    if "many" in features:
        return frozenset({"many" if "all2all" in problem else "point"})
    return features


def _fields(draft: Draft) -> dict[str, str]:
    library = {"qr_v2": "qr", "eigh": "eigh"}.get(draft.problem, "cholesky")
    named = {
        "module": f"{draft.kind}_{draft.author}",
        "group": str(4 * draft.split),
        "block": str(256 * draft.vector),
        "library": library,
        "compile_mode": "max-autotune" if draft.warps > 4 else "reduce-overhead",
        "arch_flag": ', "-gencode=arch=compute_100a,code=sm_100a"' if draft.level > 3 else "",
        "rocm_arch": "gfx950" if "mx" in draft.problem else "gfx942",
        "indexing": "tensor_descriptor" if draft.stages > 3 else "pointer",
        "pid_type": "persistent_interleaved" if draft.split > 2 else "flat",
    }
    return named | {name: str(getattr(draft, name)) for name in _KNOB_NAMES}


@lru_cache(maxsize=512)
def _compiled(template: str, level: int, features: frozenset[str]) -> tuple[str, ...]:
    """The template at a level, cut at its fields: literal, field name, literal, …"""
    text = files(__package__).joinpath("templates", f"{template}.txt").read_text("utf-8")
    shown, kept = True, []
    for line in text.splitlines(keepends=True):
        marker = _MARKER.fullmatch(line.rstrip("\n"))
        if marker:
            shown = _is_shown(marker, level, features)
        elif shown:
            kept.append(line)
    return tuple(_FIELD.split("".join(kept)))


def _is_shown(marker: re.Match[str], level: int, features: frozenset[str]) -> bool:
    feature = marker["feature"]
    if feature and feature not in features:
        return False
    if marker["low"] is None:
        return True
    high = TOP_LEVEL if marker["open"] == "+" else int(marker["high"])
    return int(marker["low"]) <= level <= high
