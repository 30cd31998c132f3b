"""The AMD legacy boards of the sample: real ids and names, invented shapes and times."""

from dataclasses import dataclass
from datetime import datetime

from kbdash.dataset.sample.boards import day


@dataclass(frozen=True, slots=True)
class LegacyBoard:
    """One AMD legacy board: what is timed, and how many submissions the sample holds."""

    id: int
    name: str
    kernel: str
    best: float
    opens: datetime
    ends: datetime
    deadline: datetime
    submissions: int
    users: int
    head_start: float
    shapes: tuple[str, ...]
    ranked_shapes: int
    devices: int = 1


def _gemm_specs(m: tuple[int, ...], n: tuple[int, ...], k: tuple[int, ...]) -> tuple[str, ...]:
    sizes = [(a, b, c) for a in m for b, c in zip(n, k, strict=True)]
    return tuple(f"k: {c}; m: {a}; n: {b}; seed: {4001 + 37 * i}" for i, (a, b, c) in enumerate(sizes))


_IDENTITY = tuple(f"seed: {5003 + 11 * i}; size: {1280 << i}" for i in range(7))
_FP8 = _gemm_specs(
    (1152, 5760),
    (1408, 2944, 640, 6912, 7040, 4480, 6784, 448, 3968),
    (6912, 1408, 7040, 384, 1920, 6784, 2176, 6912, 640),
)
_MOE = tuple(
    f"bs: 1; dexpert: 1920; dhidden: 6912; nexpertspertoken: 4; nroutedexperts: 32; nsharedexperts: 1; "
    f"routing: softmax; seed: {seed}; seqlen: {length}"
    for seed, length in ((3307, 1920), (3313, 7680))
)
_MLA = tuple(
    f"batchsize: 120; dim: 6912; dq: 1408; prefill: {length}; seed: {seed}"
    for length, seed in ((3968, 2203), (5888, 2207))
)
_ALL2ALL = tuple(
    f"experts_per_token: {top}; hidden_dim: {dim}; max_num_tokens: {tokens}; num_experts: {experts}; "
    f"seed: {seed}; skew: {[1, top, experts]}; world_size: 8"
    for experts, top, dim, tokens, seed in (
        (8, 2, 5888, 16, 601),
        (64, 6, 1920, 32, 607),
        (128, 4, 2816, 96, 613),
        (128, 8, 3968, 224, 617),
        (256, 8, 6912, 240, 619),
    )
)
_GEMM_RS = tuple(
    f"has_bias: {bias}; k: {k}; m: {m}; n: {n}; seed: {seed}; world_size: 8"
    for m, n, k, bias, seed in (
        (96, 6912, 17920, False, 701),
        (480, 3968, 11776, True, 709),
        (1920, 2816, 2816, True, 719),
        (3968, 3968, 3968, False, 727),
        (7936, 3968, 13824, True, 733),
        (7936, 7936, 28672, False, 739),
    )
)

_SPRING = (day("2025-04-15"), day("2025-08-23"), day("2025-09-02"))
_AUTUMN = (day("2025-08-30"), day("2025-10-15T08:00"), day("2025-10-15T07:00"))

LEGACY_BOARDS: tuple[LegacyBoard, ...] = (
    LegacyBoard(398, "amd-identity", "hip_stream", 8.4e-6, *_SPRING[:2], day("2025-12-30"), 90, 30, 6.0, _IDENTITY, 7),
    LegacyBoard(399, "amd-fp8-mm", "hip_gemm", 106e-6, *_SPRING, 420, 60, 30.0, _FP8, 18),
    LegacyBoard(430, "amd-mixture-of-experts", "hip_moe", 6.8e-3, *_SPRING, 190, 40, 90.0, _MOE, 2),
    LegacyBoard(463, "amd-mla-decode", "hip_attention", 1.83e-3, *_SPRING, 170, 36, 60.0, _MLA, 1),
    LegacyBoard(563, "amd-all2all", "hip_stream", 205e-6, *_AUTUMN, 160, 34, 60.0, _ALL2ALL, 5, 8),
    LegacyBoard(564, "amd-gemm-rs", "hip_gemm", 421e-6, *_AUTUMN, 130, 30, 4.0, _GEMM_RS, 6, 8),
    LegacyBoard(565, "amd-ag-gemm", "hip_gemm", 381e-6, *_AUTUMN, 130, 30, 4.0, _GEMM_RS, 6, 8),
)
