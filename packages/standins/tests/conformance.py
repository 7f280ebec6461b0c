"""Run every snippet under the real library and under its stand-in, and print where the three outputs differ.

    python packages/standins/tests/conformance.py                    every library that is installed here
    python packages/standins/tests/conformance.py torch --details    one, with the lines that differ
    python packages/standins/tests/conformance.py torch --write      store what the real library prints

The exit status is 1 if an output differs from another.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from snippet_comparison import SOURCES, differences, snippets

LIBRARIES = ("autograd", "tensorflow", "torch")


def main() -> int:
    """Compare, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="*", choices=[*LIBRARIES, []], help="which; all if none is named")
    parser.add_argument("--details", action="store_true", help="show the lines that differ")
    parser.add_argument("--write", action="store_true", help="store what the real library prints")
    arguments = parser.parse_args()
    status = 0
    for library in arguments.library or LIBRARIES:
        if importlib.util.find_spec(library) is None:
            print(f"{library}: not installed here, only the stored output is compared")
        for script in snippets(library):
            status |= _compare(library, script, arguments.details, arguments.write)
    return status


def _compare(library: str, script: Path, details: bool, write: bool) -> int:
    """One row of the table; 1 if something differs."""
    stored = script.with_suffix(".txt")
    installed = importlib.util.find_spec(library) is not None
    real = _output([sys.executable, "-W", "ignore", str(script)]) if installed else None
    if write and real is not None:
        stored.write_text(real)
    ours = _output([sys.executable, "-W", "ignore", "-m", "gradtape", "run", "--quiet", "--stand-in", str(script)])
    pairs = {"stand-in and stored": (ours, stored.read_text() if stored.exists() else "")}
    if real is not None:
        pairs = {"stand-in and real": (ours, real), "stored and real": (pairs["stand-in and stored"][1], real)}
    found = {what: differences(*texts) for what, texts in pairs.items()}
    row = ", ".join(f"{what}: {f'{len(lines)} differ' if lines else 'same'}" for what, lines in found.items())
    print(f"{library}/{script.stem:<34} {row}")
    if details:
        for lines in found.values():
            print("\n".join(lines), end="\n" if lines else "")
    return int(any(found.values()))


def _output(command: list[str]) -> str:
    """What a command prints; its last error line stands for the output it did not give."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    environment = os.environ | quiet | {"PYTHONPATH": SOURCES}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        return done.stdout + f"ended with status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}\n"
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
