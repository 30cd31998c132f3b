"""Techniques: every one found where it is used, not found where it is only talked about."""

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kbdash.content.findings.adoption import COLUMNS, techniques
from kbdash.content.store.layout import table_path
from kbdash.content.store.text_rows import Filters, TextRows
from kbdash.content.techniques import evidence, facets_of, rules
from kbdash.content.techniques.facets import TextFacets
from kbdash.content.techniques.lexer import START, read_line
from kbdash.content.techniques.table import TABLE, current_facets
from kbdash.errors import QueryRefused
from tests.content.files import Made, Sent


def cuda(code: str) -> str:
    """A Python text with C++ in a string."""
    return f'src = r"""\n#include <cuda_runtime.h>\n{code}\n"""\n'


def ptx(code: str) -> str:
    return cuda(f'void f() {{ asm volatile("{code};" :: "r"(x)); }}')


def hip(code: str) -> str:
    return f'src = r"""\n#include <hip/hip_runtime.h>\n{code}\n"""\n'


BLOB = "QUJD" * 40
HAS = {
    "triton": "@triton.jit\ndef k(x): pass",
    "gluon": "@gluon.jit\ndef k(x): pass",
    "cute_dsl": "@cute.kernel\ndef k(x): pass",
    "helion": "@helion.kernel(config=c)\ndef k(x): pass",
    "other_dsl": "@tilelang.jit\ndef k(x): pass",
    "cuda_cpp": cuda("__global__ void k() {}"),
    "hip_cpp": hip("__global__ void k() {}"),
    "cutlass_cpp": cuda("using G = cutlass::gemm::device::Gemm<float>;"),
    "thunderkittens": cuda("using namespace kittens; kittens::rt_bf<16> a;"),
    "gcn_asm": 'tl.inline_asm_elementwise("s_waitcnt vmcnt(0)", "=r", [x])',
    "inline_ptx": ptx("mov.u32 %0, %1"),
    "torch_only": "import torch\nx = torch.zeros(1)",
    "load_inline": "m = load_inline(name='x', cpp_sources=s)",
    "rtc": "p = nvrtc.nvrtcCreateProgram(src)",
    "module_load": "m = cuda.cuModuleLoadData(image)",
    "embedded_blob": f"x = base64.b64decode('{BLOB}')",
    "torch_compile": "f = torch.compile(g)",
    "cuda_graph": "g = torch.cuda.CUDAGraph()",
    "cluster_launch": cuda("__global__ void __cluster_dims__(2, 1, 1) k() {}"),
    "pdl": ptx("griddepcontrol.wait"),
    "cooperative": cuda("void f() { cudaLaunchCooperativeKernel(k, g, b, a); }"),
    "autotune": "@triton.autotune(configs=c, key=['n'])\ndef k(x): pass",
    "blas_call": "y = a @ b",
    "aiter": "import aiter",
    "solver_call": "q, r = torch.linalg.qr(a)",
    "cub_thrust": cuda("using R = cub::BlockReduce<float, 128>;"),
    "collective": "dist.all_reduce(x)",
    "cp_async": ptx("cp.async.cg.shared.global [%0], [%1], 16"),
    "tma": ptx("cp.async.bulk.tensor.2d.shared::cluster.global [%0], [%1]"),
    "multicast": ptx("cp.async.bulk.tensor.2d.shared::cluster.global.multicast::cluster [%0], [%1]"),
    "vector_load": cuda("float4 v = *reinterpret_cast<const float4*>(p);"),
    "ldmatrix": ptx("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%1]"),
    "buffer_load": hip("auto v = __builtin_amdgcn_raw_buffer_load_b128(r, o, 0, 0);"),
    "cache_hint": 'x = tl.load(p, eviction_policy="evict_first")',
    "shared": cuda("__shared__ float s[32];"),
    "swizzle": cuda("auto s = CU_TENSOR_MAP_SWIZZLE_128B;"),
    "tmem": ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512"),
    "mma_sync": ptx("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}"),
    "wgmma": ptx("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0}"),
    "tcgen05": "op = tcgen05.MmaMXF4NVF4Op(a, b)",
    "two_cta": ptx("tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2"),
    "mfma": hip("c = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, c, 0, 0, 0);"),
    "wmma_amd": hip("c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);"),
    "tl_dot": "acc = tl.dot(a, b, acc)",
    "block_scaled": "acc = tl.dot_scaled(a, s, 'e2m1', b, t, 'e2m1')",
    "mbarrier": ptx("mbarrier.init.shared::cta.b64 [%0], 1"),
    "warp_specialized": cuda("if (warp_id == 0) { load(); } else if (warp_id == 1) { mma(); }"),
    "persistent": "s = utils.StaticPersistentTileScheduler.create(p)",
    "split_k": "k[(grid, SPLIT_K)](a, b)",
    "stream_k": "k(a, b, stream_k=True)",
    "multistage": cuda("constexpr int NUM_STAGES = 4;"),
    "shuffle": cuda("v += __shfl_xor_sync(0xffffffff, v, 16);"),
    "atomics": cuda("atomicAdd(p, 1.0f);"),
    "multi_stream": "s = torch.cuda.Stream()\nwith torch.cuda.stream(s):\n    f()",
    "fp4": "x = a.view(torch.float4_e2m1fn_x2)",
    "fp8": "x = a.to(torch.float8_e4m3fnuz)",
    "scale_ue8m0": "s = Float8E8M0FNU",
    "scale_ue4m3": "x = a.view(torch.float4_e2m1fn_x2)\ns = b.view(torch.float8_e4m3fn)",
    "tf32": "torch.backends.cuda.matmul.allow_tf32 = True",
}


def test_every_technique_has_a_text_here_and_a_group_and_words() -> None:
    assert list(HAS) == [facet.name for facet in rules().facets]
    assert len({facet.group for facet in rules().facets}) == 7
    assert all(facet.text.endswith(".") for facet in rules().facets)


@pytest.mark.parametrize("name", HAS)
def test_a_text_that_uses_it_holds_it(name: str) -> None:
    text = "import os\n" + HAS[name] + "\n"
    shown = evidence(text)
    assert name in shown
    assert 1 <= shown[name] <= text.count("\n")
    assert facets_of(text) == frozenset(shown)


def talk(text: str) -> str:
    """The same words as docstring, comment, message, and comments of C++ in a string."""
    words = text.replace('"""', "").replace("'''", "").replace("*/", "")
    lines = words.split("\n")
    flat = " ".join(lines).replace("\\", "").replace('"', "").replace("'", "")
    return "\n".join(
        [
            f'"""A module.\n{words}\n"""',
            *(f"x = 1  # {line}" for line in lines),
            "def f():",
            f"    '''Says {flat}'''",
            f'    raise ValueError("no {flat} here")',
            'src = r"""',
            *(f"// {line}" for line in lines),
            f"/* first\n{words}\n*/",
            f'void f() {{ printf("{flat}"); }}',
            '"""',
        ]
    )


@pytest.mark.parametrize("name", [name for name in HAS if name != "torch_only"])
def test_a_text_that_only_talks_about_it_does_not(name: str) -> None:
    assert facets_of(talk(HAS[name])) == {"torch_only"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("triton", "import triton\ng = triton.cdiv(a, b)"),
        (
            "cuda_cpp",
            'src = """\n#include <hip/hip_runtime.h>\n__global__ void k() {}\n"""\nload_inline(cuda_sources=src)',
        ),
        ("gcn_asm", hip("__builtin_amdgcn_s_waitcnt(0);")),
        ("torch_only", f"x = base64.b64decode('{BLOB}')"),
        ("cluster_launch", cuda("__global__ void __cluster_dims__(1, 1, 1) k() {}")),
        ("cooperative", "g = pipeline.CooperativeGroup(pipeline.Agent.Thread)"),
        ("collective", cuda("using C = cutlass::gemm::collective::CollectiveBuilder<int>;")),
        ("cp_async", ptx("cp.async.bulk.commit_group")),
        ("cp_async", "x = cpasync.CopyBulkTensorTileG2SOp()\ny = cpasync.tma_partition(a)"),
        ("vector_load", "x = a.view(torch.float4_e2m1fn_x2)"),
        ("swizzle", cuda("auto s = CU_TENSOR_MAP_SWIZZLE_NONE;")),
        ("block_scaled", "y = torch._scaled_mm(a, b, s, t)"),
        ("mfma", "c = triton.Config({'matrix_instr_nonkdim': 16})"),
        ("persistent", "persistent_buffer = torch.empty(4)"),
        ("multistage", "c = triton.Config({}, num_stages=4)"),
        ("shuffle", "w = shuffle_weight(w)\nv = shufflevector(a, b)"),
        ("multi_stream", "s = torch.cuda.Stream()\ns.wait_stream(t)\ng = torch.cuda.CUDAGraph()"),
        ("fp8", "a = x.view(torch.float4_e2m1fn_x2)\ns = b.view(torch.float8_e4m3fn)"),
        ("fp8", "s = b.view(torch.float8_e8m0fnu)"),
        ("tf32", "torch.backends.cuda.matmul.allow_tf32 = False"),
        ("blas_call", "@decorated\ndef f(): pass"),
        ("embedded_blob", "y = zlib.decompress(data)"),
        ("vector_load", cuda("void f() { g((const uint8_t*)p, reinterpret_cast<int8_t *>(q)); }")),
        ("vector_load", hip("void f() { g((const hip_bfloat16*)p); }")),
        ("vector_load", hip("typedef float v4 __attribute__((ext_vector_type(4)));\nvoid f() { g((fp4x2_t*)&a); }")),
        ("split_k", "y = moe_stage(a, b, splitk=0)"),
        ("split_k", "config = {'BLOCK_M': 64, 'NUM_KSPLIT': 1}"),
        ("split_k", "was = fm.get_ksplit\nfm.get_ksplit = was"),
        ("split_k", "rows = 'tokens,experts,block_m,ksplit,us1'"),
        (
            "multistage",
            "num_ab_stage = 1\nnum_acc_stage = 1\np = pipeline.PipelineTmaUmma.create(num_stages=num_ab_stage)",
        ),
        ("multistage", "found = subprocess.run(['grep', 'PINGPONG', folder])"),
        ("multistage", cuda("phase ^= 1;")),
        ("rtc", "@cute.jit\ndef _compile_kernel(n, k): pass"),
        ("module_load", "if hasattr(hip, 'hipModuleLoad'): pass"),
        ("tcgen05", "from cutlass.cute.nvgpu import cpasync, tcgen05"),
        ("solver_call", "for name in ['hipblas', 'rocsolver']: print(name)"),
        ("scale_ue4m3", "a, s = dynamic_mxfp4_quant(x)\nb = (x / t).to(torch.float8_e4m3fn)"),
        (
            "fp8",
            hip("c = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a, b, c, 4, 4, 0, s, 0, t);\n// fp4\nfp4x2_t q;"),
        ),
    ],
)
def test_what_looks_like_it_and_is_not(name: str, text: str) -> None:
    assert name not in facets_of(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("solver_call", cuda("cublasSgeqrfBatched(h, m, n, a, m, t, i, b);")),
        ("blas_call", cuda("cublasSgeqrfBatched(h, m, n, a, m, t, i, b);")),
        ("tcgen05", ptx("tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2")),
        ("tma", "x = cpasync.CopyBulkTensorTileG2SOp()"),
        ("inline_ptx", 'llvm.inline_asm(t, [a], "add.f32 $0, $1, $2;", "=f,f,f")'),
        ("module_load", "subprocess.run(['nvcc', f])\nlib = ctypes.CDLL(path)"),
        ("persistent", "n = props.multi_processor_count\nfor t in tl.range(pid, tiles, NUM_SMS): pass"),
        ("triton", "code = '''\nimport triton\n@triton.jit\ndef k(x): pass\n'''\nopen(f).write(code)"),
        ("cuda_cpp", "// a file of C++\n#include <cuda.h>\n__global__ void k() {}"),
        ("blas_call", "x = foo(\n    a,\n    b @ c,\n)"),
        ("vector_load", cuda("auto v = reinterpret_cast<const fp16x8 *>(p)[0];")),
        ("vector_load", hip("typedef int v4i __attribute__((ext_vector_type(4)));\nv4i x = *(v4i*)p;")),
        ("split_k", "config = {'BLOCK_M': 64, 'NUM_KSPLIT': 8}"),
        ("split_k", "@triton.jit\ndef k(a, SPLIT_K: tl.constexpr): pass"),
        ("split_k", "for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)): pass"),
        ("split_k", "def splitk_reduce_kernel(a, b): pass"),
        ("split_k", cuda("int k0 = blockIdx.z * (K / SPLIT_K);")),
        ("multistage", "num_ab_stage = 3"),
        ("multistage", cuda("template <int NUM_STAGES> void f() {}")),
        ("multistage", cuda("buf ^= 1;")),
        ("rtc", "k = torch.cuda._compile_kernel(src, 'k')"),
        ("module_load", "lib.cuModuleLoadData.restype = ctypes.c_int"),
        ("fp8", "a, s = dynamic_mxfp4_quant(x)\nb = (x / t).to(torch.float8_e4m3fn)"),
        ("fp8", "kind = lib_dtypes.fp8\nkv, scale = data['mxfp4']"),
        ("fp4", "y = gemm_a16wfp4(x, w, scale)"),
    ],
)
def test_what_is_written_in_another_way(name: str, text: str) -> None:
    assert name in facets_of(text)


def test_the_line_that_shows_it() -> None:
    text = '"""tl.dot"""\nimport triton\n\n@triton.jit\ndef k(a, b):\n    # tl.dot(a, b)\n    return tl.dot(a, b)\n'
    assert evidence(text) == {"triton": 4, "tl_dot": 7}


def test_only_a_newline_ends_a_line() -> None:
    assert evidence("x = 1\r\u2028\x85\ny = torch.compile(f)")["torch_compile"] == 2


def test_a_docstring_that_never_ends_hides_the_rest_and_an_open_bracket_does_not() -> None:
    assert facets_of('"""open\n@triton.jit\n') == frozenset()
    assert "triton" in facets_of("x = foo((\ndef f(): pass\n@triton.jit\ndef k(): pass")


HOSTILE = [
    "/* */",
    '"',
    "'",
    '"""',
    "'''",
    "// x",
    "(",
    "\\",
    'R"x(',
    "a.b",
    "{",
    "#",
    '=r"""',
    " ",
    'asm("',
    ";",
    "A" * 600,
]


@pytest.mark.parametrize("inside", ["", 'x = """', "x = '''"])
@pytest.mark.parametrize("separator", ["", " ", "\n"])
def test_hostile_texts_take_linear_time(inside: str, separator: str) -> None:
    """Four times the text takes less than nine times as long, or no time to speak of."""

    def seconds(fragment: str, size: int) -> float:
        text = inside + (fragment + separator) * (size // len(fragment + separator))
        began = time.process_time()
        evidence(text)
        return time.process_time() - began

    for fragment in HOSTILE:
        small, large = seconds(fragment, 10_000), seconds(fragment, 40_000)
        assert large < 9 * small + 0.2, fragment[:10]


def test_a_megabyte_of_hostile_fragments_in_one_line_and_in_many() -> None:
    for separator in (" ", "\n"):
        text = separator.join(HOSTILE * (1_200_000 // sum(len(each) + 1 for each in HOSTILE)))
        assert len(text) > 1_000_000
        began = time.process_time()
        evidence(text)
        assert time.process_time() - began < 20


def test_what_counts_of_a_line_and_where() -> None:
    zones, after = read_line('x = """  // talk', read_line("import a", START)[1])
    assert zones["py"].startswith("x = ")
    assert after.mode == "cpp"
    assert "talk" not in zones["cpp"]


def all_texts() -> list[str]:
    """Texts that share long stretches of lines under different states."""
    body = "\n".join(f"x{n} = {n}" for n in range(300))
    return [f"{head}\n{body}\n{text}" for text in HAS.values() for head in ("import os", '"""doc', "x = 1")]


def test_the_table_of_a_store_is_what_each_text_says_by_itself(tmp_path: Path) -> None:
    texts = all_texts()
    store = Made([Sent(n, text.encode(), user=f"u{n % 7}", at=n) for n, text in enumerate(texts)]).store(tmp_path)
    held = TextFacets(store)
    for row, text in enumerate(texts):
        assert set(held.of(int(store.text_of_row[row]))) == facets_of(text)


def test_changed_rules_compute_the_table_again_from_the_lines(tmp_path: Path) -> None:
    store = Made([Sent(1, b"y = a @ b")]).store(tmp_path)
    path = table_path(store.folder, TABLE)
    whole = current_facets(store.folder)
    assert "blas_call" in whole.column("facet").to_pylist()
    pq.write_table(whole.slice(0, 0).replace_schema_metadata({b"techniques": b"older"}), path)
    assert current_facets(store.folder).equals(whole)
    assert pq.read_table(path).equals(whole)


def test_a_table_with_other_columns_is_computed_again(tmp_path: Path) -> None:
    store = Made([Sent(1, b"y = a @ b")]).store(tmp_path)
    whole = current_facets(store.folder)
    other = pa.schema([("text_id", pa.int32()), ("facet", pa.large_string())], whole.schema.metadata)
    pq.write_table(whole.cast(other), table_path(store.folder, TABLE))
    assert current_facets(store.folder).schema.equals(whole.schema)


def test_narrowing_by_techniques_and_a_name_that_is_none(tmp_path: Path) -> None:
    store = Made([Sent(1, b"y = a @ b"), Sent(2, b"y = torch.compile(a @ b)"), Sent(3, b"y = 1")]).store(tmp_path)
    held = TextFacets(store)
    row = store.text_of_row
    assert held.wanted(("blas_call", "!torch_compile"))[row].tolist() == [True, False, False]
    assert held.wanted(())[row].all()
    with pytest.raises(QueryRefused, match="no technique warp"):
        held.wanted(("warp",))


def test_techniques_of_a_board(tmp_path: Path) -> None:
    made = Made(
        [
            Sent(1, b"y = a @ b", user="ann", at=2, score=4.0),
            Sent(2, b"z = a @ b", user="bob", at=1, score=3.0),
            Sent(3, b"z = 1", user="bob", at=3, score=2.0),
            Sent(4, b"z = 2", user="cat", at=4, score=1.0),
            Sent(5, b"q = a @ b", user="dan", at=0, problem="other"),
        ]
    )
    store = made.store(tmp_path)
    held = TextRows(made.ask("made"), store.text_of_row, store.manifest.texts)
    answer = techniques(held, TextFacets(store), held.choose(Filters(problem="gemm")).mask)
    assert tuple(answer.columns) == COLUMNS
    row = answer[answer["facet"] == "blas_call"].iloc[0]
    assert (row["group"], row["users"], row["submissions"]) == ("Library", 2, 2)
    assert (row["first_user_name"], row["first_submission_id"]) == ("Bob", 2)
    assert row["share"] == pytest.approx(2 / 3)
    assert row["share_top10"] == pytest.approx(1 / 3)  # bob's best does without
    assert (row["best_score"], row["median_with"], row["median_without"]) == (4.0, 4.0, 1.5)
