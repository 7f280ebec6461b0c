"""Runs the programs of `examples/`, each in a fresh process, and prints a table: program, seconds, result.

Programs of the gallery have `solve(compiled) -> dict`, whose "result" is one line, and `draw(found)`. They are run
twice, without and with `gt.jit`; the seconds are those of `solve`, compiling included, importing and drawing not. Of
the other programs, the seconds are those of the whole process, and the result is the last line that they print, or the
last one that has the text in `RESULTS`.

    python tools/run_examples.py --only heat,tour
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PARTS = {"progress.py"}  # imported by the other programs
RESULTS = {"fit_sine.py": "mean squared error", "tour.py": "loss after", "rows_beyond_memory.py": "largest error"}


def load(path: Path) -> Any:
    """The program as a module, which is not run as a script: nothing is computed yet."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def run_here(path: Path, compiled: bool) -> dict[str, Any]:
    """The seconds and the result of a gallery program, in this process; the pictures are drawn, and thrown away."""
    module = load(path)
    started = time.perf_counter()
    found = module.solve(compiled=compiled)
    seconds = time.perf_counter() - started
    module.draw(found)
    return {"seconds": seconds, "result": found["result"]}


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Another Python, which finds this checkout and has no display."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)


def last_line(text: str, part: str = "") -> str:
    """The last line that is not empty and has `part` in it."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip() and part in line), "")


def row(path: Path) -> tuple[list[str], bool]:
    """The row of one program (name, eager seconds, compiled seconds, result), and whether it ended well."""
    name = str(path.relative_to(EXAMPLES))
    if path.parent == EXAMPLES:
        started = time.perf_counter()
        done = python(str(path))
        seconds = f"{time.perf_counter() - started:.1f}"
        failed = done.returncode != 0
        result = last_line(done.stderr) if failed else last_line(done.stdout, RESULTS.get(name, ""))
        return [name, seconds, "", result], not failed
    seconds_of: list[str] = []
    result = ""
    for mode in ("--eager", "--compiled"):
        done = python(__file__, "--here", str(path), mode)
        if done.returncode != 0:
            return [name, *seconds_of, *[""] * (2 - len(seconds_of)), last_line(done.stderr)], False
        answer = json.loads(last_line(done.stdout))
        seconds_of.append(f"{answer['seconds']:.1f}")
        result = answer["result"]
    return [name, *seconds_of, result], True


def main() -> int:
    """Run what the command line asks for; 1 if a program failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose names contain one of these, with commas")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--eager", action="store_true", help=argparse.SUPPRESS)
    mode.add_argument("--compiled", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here is not None:
        print(json.dumps(run_here(options.here, options.compiled)))
        return 0
    chosen = [part for part in options.only.split(",") if part]
    programs = [*sorted(EXAMPLES.glob("*.py")), *sorted((EXAMPLES / "gallery").glob("*.py"))]
    programs = [path for path in programs if path.name not in PARTS]
    programs = [path for path in programs if not chosen or any(part in path.name for part in chosen)]
    if not programs:
        parser.error(f"--only {options.only}: no program in examples/ has such a name")
    width = max(len(str(path.relative_to(EXAMPLES))) for path in programs)
    print(f"{'program':{width}}  {'eager s':>8}  {'compiled s':>10}  result")
    failures = 0
    for path in programs:
        (name, eager, compiled, result), well = row(path)
        failures += not well
        print(f"{name:{width}}  {eager:>8}  {compiled:>10}  {'' if well else 'FAILED: '}{result}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
