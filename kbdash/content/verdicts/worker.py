"""A process that runs KernelGuard on one text after the other: JSON lines in, JSON lines out.

A process, because a single expression of KernelGuard can run for minutes and only a process can be killed; because its
settings are global; and because the text is untrusted. It is read here, never run.
"""

import importlib
import json
import os
import resource
import sys

_MEMORY_BYTES = 2 << 30


def main() -> None:
    """Answer until standard input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what the package prints must not be taken for a reply
    kernelguard = importlib.import_module("kernelguard")  # optional, and only this process needs it

    for question in sys.stdin.buffer:
        try:
            found = kernelguard.analyze_code(json.loads(question), compute_structural_hash=False)["matched_patterns"]
            answer: object = [{name: str(each[name]) for name in ("pattern", "severity", "evidence")} for each in found]
        except Exception as error:  # any failure of the package is a result for this text
            answer = {"failed": f"{type(error).__name__}: {error}"[:500]}
        answers.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
