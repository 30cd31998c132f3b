"""What is known about the competitions, as data: no code path depends on a single competition.

Facts are from the dataset card, the task definitions in gpu-mode/reference-kernels and the files themselves.
Floors are the roofline bounds of gpu-mode/kernelguard: heuristics, so a hint and never a verdict.
To add a competition, add a `Competition`. A file that is not listed here shows up anyway, without names and caveats.
"""

from datetime import UTC, datetime

from kbdash.dataset.model import Board, Caveat, Competition, FlagCase, Runner

IMPOSSIBLE_SECONDS = 1e-7
"""No kernel launch is faster than this; a lower score is a broken measurement."""

CARD = "dataset card"
RANKING_SOURCE = "KernelBot export history"

RUNNERS = {
    runner.id: runner
    for runner in (
        Runner("NVIDIA", "B200 (on-prem)"),
        Runner("B200", "B200 (Modal)"),
        Runner("B200_Nebius", "B200 (Nebius)"),
        Runner("H100", "H100"),
        Runner("A100", "A100"),
        Runner("L4", "L4"),
        Runner("MI300", "MI300X"),
        Runner("MI325", "MI325X"),
        Runner("MI300x8", "8 × MI300X"),
        Runner("MI325x8", "8 × MI325X"),
        Runner("MI355X", "MI355X"),
    )
}

OTHER_HARDWARE = (
    ("AMD Instinct MI325X", "MI300", "MI325"),
    ("AMD Instinct MI325X", "MI300x8", "MI325x8"),
)
"""(GPU name prefix, runner of the board, actual runner): a run on such a GPU counts for the actual runner."""

SUBSETS = (
    "successful_submissions.parquet",
    "deduplicated_submissions.parquet",
    "deduplicated_successful_submissions.parquet",
)
"""Subsets of submissions.parquet: their rows are in it already, so they are neither added nor ranked."""

DEFINITIONS = "leaderboards.parquet"

SECRET_MIXED = Caveat(
    "Public and secret ranked runs are mixed in this export and cannot be told apart; "
    "the score of a submission is its lowest passing ranked run.",
    RANKING_SOURCE,
)
ANONYMOUS = Caveat(
    "Users are anonymous numbers, shuffled at export: they cannot be linked to names or to other competitions.",
    RANKING_SOURCE,
)
BRITTLE = Caveat("Measurements on B200 (Nebius) are brittle: treat these scores with extra caution.", CARD)
ON_PREM = Caveat(
    "On-prem timing became unreliable during the contest; the Modal board (modal_nvfp4_dual_gemm, 697) "
    "is more trustworthy.",
    CARD,
)
MODAL_TWIN = Caveat(
    "Opened midway because on-prem timing of nvfp4_dual_gemm (598) became unreliable; prefer this board.",
    CARD,
)
DEGENERATE = Caveat(
    "This benchmark can be passed without moving data between the GPUs: a kernel that does so placed 7th.",
    "study of the MI300x8 boards",
)
LAST_SHAPE = Caveat(
    "The score is the mean time of the last benchmark shape only, not a mean over all shapes.",
    "task definition",
)
PRACTICE = Caveat("A practice board that never closes: results keep moving after this export.", "task definition")
ONE_RANKED_SHAPE = Caveat("Only one of the two shapes is timed in ranked runs.", "task definition")
NO_POINTS = Caveat("A test of the submission system; it gave no points.", "task definition")
STAYED_OPEN = Caveat(
    "The board stayed open after the prizes of 2025-09-30; set the end date to 2025-09-30 for the official result.",
    "GPU MODE news of 2025-10-07",
)


def _utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


_AMD_2025 = _utc(2025, 9, 2)
_AMD_DISTRIBUTED = _utc(2025, 10, 15, 7)
_AMD_2026 = _utc(2026, 4, 7, 7, 59)
_HELION = _utc(2026, 3, 15, 1)
_DUAL = _utc(2026, 1, 20, 7, 59)

NVFP4 = Competition(
    slug="nvfp4",
    title="NVIDIA NVFP4",
    vendor="NVIDIA",
    summary="Block-scaled FP4 GEMV and GEMM kernels on Blackwell (November 2025 to February 2026).",
    family="flat",
    files=("nvidia_nvfp4_submissions.parquet",),
    unfiltered=True,
    boards=(
        Board(
            595,
            "nvfp4_gemv",
            "gemv",
            "Batched block-scaled FP4 matrix-vector product.",
            ("NVIDIA",),
            _utc(2025, 11, 29, 6, 59),
            speed_of_light=8.631164113809362e-06,
            floor=8.27e-06,
        ),
        Board(
            597,
            "nvfp4_gemm",
            "gemm",
            "Block-scaled FP4 matrix-matrix product.",
            ("NVIDIA",),
            _utc(2025, 12, 21, 7, 59),
            speed_of_light=3.0445971070773814e-06,
            floor=4.27e-06,
        ),
        Board(
            598,
            "nvfp4_dual_gemm",
            "dual_gemm",
            "Two FP4 products with a fused SiLU gate, on-prem machines.",
            ("NVIDIA",),
            _DUAL,
            speed_of_light=4.885563180838721e-06,
            floor=7.20e-06,
            caveats=(ON_PREM,),
            twin="modal_nvfp4_dual_gemm",
            machines="on-prem",
        ),
        Board(
            697,
            "modal_nvfp4_dual_gemm",
            "dual_gemm (Modal)",
            "The same dual GEMM measured on Modal.",
            ("B200",),
            _DUAL,
            speed_of_light=4.885563180838721e-06,
            floor=7.20e-06,
            caveats=(MODAL_TWIN,),
            twin="nvfp4_dual_gemm",
            machines="Modal",
            aliases=("modal_dual_gemm",),
        ),
        Board(
            730,
            "nvfp4_group_gemm",
            "group_gemm",
            "Grouped FP4 products of several sizes in one call.",
            ("B200", "NVIDIA"),
            _utc(2026, 2, 21, 7, 30),
            speed_of_light=5.2105289960786725e-06,
            floor=1.203e-05,
        ),
    ),
)

AMD_MI300 = Competition(
    slug="amd-mi300",
    title="AMD MI300",
    vendor="AMD",
    summary="AMD Developer Challenge 2025: single-GPU kernels (spring) and eight-GPU kernels (autumn).",
    family="legacy",
    files=("submissions.parquet", "successful_submissions.parquet"),
    caveats=(SECRET_MIXED, ANONYMOUS),
    unfiltered=True,
    linkable=False,
    has_runs=True,
    has_shapes=True,
    anonymous=True,
    boards=(
        Board(
            399,
            "amd-fp8-mm",
            "fp8-mm",
            "FP8 block-scaled matrix product with DeepSeek-R1 shapes.",
            ("MI300",),
            _AMD_2025,
            aliases=("fp8-gemm",),
        ),
        Board(
            430,
            "amd-mixture-of-experts",
            "moe",
            "A whole mixture-of-experts layer.",
            ("MI300",),
            _AMD_2025,
            aliases=("moe",),
        ),
        Board(
            463,
            "amd-mla-decode",
            "mla-decode",
            "Multi-head latent attention, decode step.",
            ("MI300",),
            _AMD_2025,
            caveats=(ONE_RANKED_SHAPE,),
            aliases=("mla-decode",),
        ),
        Board(
            398,
            "amd-identity",
            "identity",
            "Copy a tensor.",
            ("MI300",),
            _utc(2025, 12, 30),
            caveats=(NO_POINTS,),
        ),
        Board(
            563,
            "amd-all2all",
            "all2all",
            "Expert dispatch and combine across eight GPUs.",
            ("MI300x8",),
            _AMD_DISTRIBUTED,
            speed_of_light=2.1416721890337898e-05,
            caveats=(DEGENERATE,),
            aliases=("all2all",),
        ),
        Board(
            564,
            "amd-gemm-rs",
            "gemm-rs",
            "Matrix product fused with reduce-scatter.",
            ("MI300x8",),
            _AMD_DISTRIBUTED,
            speed_of_light=3.9797584738920694e-05,
            aliases=("gemm+reducescatter",),
        ),
        Board(
            565,
            "amd-ag-gemm",
            "ag-gemm",
            "All-gather fused with a matrix product.",
            ("MI300x8",),
            _AMD_DISTRIBUTED,
            speed_of_light=6.858442862772551e-05,
            aliases=("allgather+gemm",),
        ),
    ),
)

AMD_1_1M = Competition(
    slug="amd-1-1m",
    title="AMD $1.1M",
    vendor="AMD",
    summary="MXFP4 kernels for the MI355X (March and April 2026).",
    family="flat",
    files=("amd_1_1m_competition_submissions.parquet",),
    unfiltered=True,
    boards=(
        Board(
            763,
            "amd-mxfp4-mm",
            "mxfp4-mm",
            "MXFP4 matrix product.",
            ("MI355X",),
            _AMD_2026,
            floor=4.0e-06,
            aliases=("mxfp4-mm",),
        ),
        Board(
            764,
            "amd-moe-mxfp4",
            "moe-mxfp4",
            "Mixture of experts with MXFP4 weights.",
            ("MI355X",),
            _AMD_2026,
            floor=6.2e-06,
            aliases=("moe-mxfp4",),
        ),
        Board(
            765,
            "amd-mixed-mla",
            "mixed-mla",
            "Latent attention with mixed-precision cache.",
            ("MI355X",),
            _AMD_2026,
            floor=8.86e-06,
            aliases=("mixed-mla",),
        ),
    ),
)

TRIMUL = Competition(
    slug="trimul",
    title="TriMul",
    vendor="Community",
    summary="The triangle multiplicative update of protein-folding models, on four kinds of GPU.",
    family="flat",
    files=("trimul_submissions.parquet",),
    unfiltered=True,
    boards=(
        Board(
            496,
            "trimul",
            "trimul",
            "Triangle multiplicative update, forward pass.",
            ("B200", "H100", "A100", "MI300"),
            _utc(2026, 5, 9),
            caveats=(STAYED_OPEN,),
        ),
    ),
)

HELION = Competition(
    slug="helion",
    title="Helion",
    vendor="Community",
    summary="One day of kernels written in Helion, measured on Nebius B200 machines (14 March 2026).",
    family="flat",
    files=("helion_b200_nebius_submissions.parquet",),
    caveats=(BRITTLE,),
    unfiltered=True,
    boards=tuple(
        Board(number, name, label, summary, ("B200_Nebius",), _HELION)
        for number, name, label, summary in (
            (766, "causal_conv1d", "causal_conv1d", "Causal depthwise convolution."),
            (767, "fp8_quant", "fp8_quant", "Quantise a tensor to FP8."),
            (768, "gated_deltanet_chunk_fwd_h", "deltanet chunk_fwd_h", "Gated DeltaNet: chunk states."),
            (769, "gated_deltanet_chunk_fwd_o", "deltanet chunk_fwd_o", "Gated DeltaNet: chunk outputs."),
            (
                770,
                "gated_deltanet_recompute_w_u",
                "deltanet recompute_w_u",
                "Gated DeltaNet: recompute W and U.",
            ),
        )
    ),
)

PMPP = Competition(
    slug="pmpp-v2",
    title="PMPP v2",
    vendor="Community",
    summary="Practice problems after the book Programming Massively Parallel Processors.",
    family="flat",
    files=("pmpp_v2_submissions.parquet",),
    caveats=(LAST_SHAPE, PRACTICE),
    unfiltered=True,
    boards=tuple(
        Board(
            number,
            f"{label}_v2",
            label,
            summary,
            ("B200", "H100", "A100", "L4"),
        )
        for number, label, summary in (
            (537, "conv2d", "Two-dimensional convolution."),
            (538, "grayscale", "Colour image to grey."),
            (539, "histogram", "Histogram of bytes."),
            (540, "matmul", "Half-precision matrix product."),
            (541, "prefixsum", "Inclusive prefix sum."),
            (542, "sort", "Sort floats."),
            (543, "vectoradd", "Add two vectors."),
            (544, "vectorsum", "Sum of a vector."),
        )
    ),
)

LINALG = Competition(
    slug="linalg",
    title="Linear algebra",
    vendor="Community",
    summary="Batched QR, symmetric eigenvalues and Cholesky on B200 (summer 2026).",
    family="flat",
    files=("linalg_submissions.parquet",),
    boards=(
        Board(774, "qr_v2", "qr", "QR factorisation.", ("B200",), _utc(2026, 6, 30)),
        Board(775, "eigh", "eigh", "Symmetric eigenvalues.", ("B200",), _utc(2026, 7, 15)),
        Board(776, "cholesky", "cholesky", "Cholesky factorisation.", ("B200",), _utc(2026, 7, 30)),
    ),
)

COMPETITIONS = (NVFP4, AMD_MI300, AMD_1_1M, TRIMUL, HELION, PMPP, LINALG)

FAILURES_UNKNOWN = Caveat(
    "Only the passing submissions are in this dataset: failures and pass rates are unknown.", "files present"
)

_BATCHING = "its user has told that a submission of that day batched all timed calls into one launch"
_REWARD_HACK = "GPU MODE news of 2026-03-09"
FLAG_CASES = (
    FlagCase(730, 506336, _BATCHING, _REWARD_HACK),
    FlagCase(730, 506188, _BATCHING, _REWARD_HACK),
)


def runner_name(runner: str | None) -> str:
    """Display name of a runner label; the label itself when it is not in the catalog, – for no label."""
    if not runner:
        return "–"
    known = RUNNERS.get(runner)
    return known.name if known else runner
