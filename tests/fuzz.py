"""A long run of the tests that change files at random: `python -m tests.fuzz 20000`, the number of changes to try."""

import os
import sys

import pytest

if __name__ == "__main__":
    os.environ["KBDASH_FUZZ_EXAMPLES"] = sys.argv[1] if len(sys.argv) > 1 else "20000"
    sys.exit(pytest.main(["tests/unit/test_parquet_fuzz.py", "-q", "--timeout=0"]))
