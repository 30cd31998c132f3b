"""The boards of the sample: real ids and names, invented times, sizes and shapes."""

from dataclasses import dataclass
from datetime import UTC, datetime

NVFP4 = "nvidia_nvfp4_submissions.parquet"
AMD_1_1M = "amd_1_1m_competition_submissions.parquet"
TRIMUL = "trimul_submissions.parquet"
HELION = "helion_b200_nebius_submissions.parquet"
PMPP = "pmpp_v2_submissions.parquet"
LINALG = "linalg_submissions.parquet"
LEGACY = "submissions.parquet"
LEGACY_PASSED = "successful_submissions.parquet"
LEGACY_DEDUPLICATED = "deduplicated_submissions.parquet"
LEGACY_DEDUPLICATED_PASSED = "deduplicated_successful_submissions.parquet"
LEADERBOARDS = "leaderboards.parquet"

FLAT_FILES = (AMD_1_1M, TRIMUL, HELION, NVFP4, PMPP, LINALG)
LEGACY_FILES = (LEGACY, LEGACY_PASSED, LEGACY_DEDUPLICATED, LEGACY_DEDUPLICATED_PASSED)
ALL_FILES = (*LEGACY_FILES, *FLAT_FILES, LEADERBOARDS)

NEVER = datetime(2100, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Lane:
    """One runner of a board and its best time there, in seconds."""

    runner: str
    best: float


@dataclass(frozen=True, slots=True)
class SampleBoard:
    """What the generator needs to fill one board."""

    id: int
    name: str
    file: str
    kernel: str
    lanes: tuple[Lane, ...]
    opens: datetime
    ends: datetime
    deadline: datetime
    rows: int
    users: int
    pass_rate: float
    head_start: float
    echo: float = 0.0
    shared: float = 0.0


def day(text: str) -> datetime:
    """An ISO day or minute as a UTC datetime."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _nvfp4() -> tuple[SampleBoard, ...]:
    onprem, modal = "NVIDIA", "B200"
    close = day("2026-01-20T07:59")
    return (
        SampleBoard(
            595,
            "nvfp4_gemv",
            NVFP4,
            "gemv",
            (Lane(onprem, 19.2e-6),),
            day("2025-11-10"),
            day("2025-11-30T07:30"),
            day("2025-11-29T06:59"),
            1450,
            64,
            0.34,
            60.0,
        ),
        SampleBoard(
            597,
            "nvfp4_gemm",
            NVFP4,
            "scaled_gemm",
            (Lane(onprem, 10.4e-6),),
            day("2025-11-29T12:00"),
            day("2025-12-21T08:20"),
            day("2025-12-21T07:59"),
            1650,
            46,
            0.54,
            40.0,
        ),
        SampleBoard(
            598,
            "nvfp4_dual_gemm",
            NVFP4,
            "dual_gemm",
            (Lane(onprem, 13.3e-6),),
            day("2025-12-21T12:00"),
            day("2026-01-20T08:10"),
            close,
            2700,
            48,
            0.64,
            15.0,
        ),
        SampleBoard(
            697,
            "modal_nvfp4_dual_gemm",
            NVFP4,
            "dual_gemm",
            (Lane(modal, 13.2e-6),),
            day("2026-01-18"),
            day("2026-01-20T07:59"),
            close,
            420,
            30,
            0.6,
            12.0,
        ),
        SampleBoard(
            730,
            "nvfp4_group_gemm",
            NVFP4,
            "group_gemm",
            (Lane(modal, 13.6e-6), Lane(onprem, 16.1e-6)),
            day("2026-01-20T10:00"),
            day("2026-02-21T08:00"),
            day("2026-02-21T07:30"),
            1250,
            44,
            0.38,
            120.0,
            echo=0.25,
        ),
    )


def _amd_1_1m() -> tuple[SampleBoard, ...]:
    opens, ends, deadline = day("2026-03-06"), day("2026-04-07T08:30"), day("2026-04-07T07:59")
    facts = (
        (763, "amd-mxfp4-mm", "hip_gemm", 7.6e-6, 720, 0.5, 3.5),
        (764, "amd-moe-mxfp4", "hip_moe", 71e-6, 420, 0.46, 2.8),
        (765, "amd-mixed-mla", "hip_attention", 15.1e-6, 380, 0.42, 90.0),
    )
    return tuple(
        SampleBoard(id_, name, AMD_1_1M, kernel, (Lane("MI355X", best),), opens, ends, deadline, rows, 36, rate, start)
        for id_, name, kernel, best, rows, rate, start in facts
    )


def _helion() -> tuple[SampleBoard, ...]:
    opens, ends, deadline = day("2026-03-14T16:30"), day("2026-03-15T01:12"), day("2026-03-15T01:00")
    facts = (
        (766, "causal_conv1d", 10.3e-6, 86),
        (767, "fp8_quant", 8.5e-6, 52),
        (768, "gated_deltanet_chunk_fwd_h", 7.8e-6, 74),
        (769, "gated_deltanet_chunk_fwd_o", 5.9e-6, 48),
        (770, "gated_deltanet_recompute_w_u", 6.7e-6, 72),
    )
    return tuple(
        SampleBoard(
            id_,
            name,
            HELION,
            "helion",
            (Lane("B200_Nebius", best),),
            opens,
            ends,
            deadline,
            rows,
            14,
            0.42,
            20.0,
        )
        for id_, name, best, rows in facts
    )


def _pmpp() -> tuple[SampleBoard, ...]:
    # Best times per runner in the order B200, H100, A100, L4.
    facts = (
        (537, "conv2d_v2", "stream", (6.6e-3, 45e-3, 3.9e-3, 0.117), 60.0),
        (538, "grayscale_v2", "stream", (0.6e-3, 1.17e-3, 2.38e-3, 16.8e-3), 9.0),
        (539, "histogram_v2", "reduce", (11.4e-6, 12.7e-6, 18.2e-6, 63.9e-6), 90.0),
        (540, "matmul_v2", "gemm", (108e-6, 221e-6, 631e-6, 2.09e-3), 40.0),
        (541, "prefixsum_v2", "reduce", (482e-6, 749e-6, 1.33e-3, 9.1e-3), 300.0),
        (542, "sort_v2", "reduce", (1.67e-3, 1.92e-3, 0.64e-3, 10.4e-3), 5.0),
        (543, "vectoradd_v2", "stream", (233e-6, 524e-6, 893e-6, 6.3e-3), 3.0),
        (544, "vectorsum_v2", "reduce", (41e-6, 77.6e-6, 136e-6, 868e-6), 8.0),
    )
    runners = ("B200", "H100", "A100", "L4")
    return tuple(
        SampleBoard(
            id_,
            name,
            PMPP,
            kernel,
            tuple(map(Lane, runners, bests)),
            day("2025-09-01"),
            day("2026-05-15T02:00"),
            NEVER,
            195,
            26,
            0.66,
            start,
            echo=0.3,
            shared=0.2,
        )
        for id_, name, kernel, bests, start in facts
    )


def _linalg() -> tuple[SampleBoard, ...]:
    facts = (
        (774, "qr_v2", 640e-6, day("2026-05-20"), day("2026-06-30"), 430),
        (775, "eigh", 88e-6, day("2026-06-01"), day("2026-07-15"), 330),
        (776, "cholesky", 152e-6, day("2026-06-10"), day("2026-07-30"), 430),
    )
    return tuple(
        SampleBoard(id_, name, LINALG, "factor", (Lane("B200", best),), opens, closes, closes, rows, 32, 0.47, 80.0)
        for id_, name, best, opens, closes, rows in facts
    )


def _trimul() -> SampleBoard:
    lanes = (Lane("A100", 2.24e-3), Lane("H100", 1.09e-3), Lane("B200", 0.57e-3), Lane("MI300", 2.71e-3))
    return SampleBoard(
        496,
        "trimul",
        TRIMUL,
        "trimul",
        lanes,
        day("2025-06-24"),
        day("2026-05-10"),
        day("2026-05-09"),
        960,
        44,
        0.62,
        14.0,
        echo=0.55,
    )


FLAT_BOARDS: tuple[SampleBoard, ...] = (*_nvfp4(), *_amd_1_1m(), _trimul(), *_helion(), *_pmpp(), *_linalg())
