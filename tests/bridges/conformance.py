"""Whether gradtape gets on with the libraries that are installed here: a table, a line for each property.

    python tests/bridges/conformance.py [library ...]

Each `<library>_checks.py` beside this file has functions `check_...(library)`, whose docstrings are the properties. A
library that cannot be imported is listed as not installed. The exit status is 1 if a check fails.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import time
import traceback
import warnings
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent
LIBRARIES = sorted(path.stem.removesuffix("_checks") for path in FOLDER.glob("*_checks.py"))


def imported(library: str) -> ModuleType | None:
    """The library, or None where it is not installed."""
    try:
        return importlib.import_module(library)
    except ImportError:
        return None


def run(library: str, module: ModuleType) -> int:
    """Run the checks of one library, print a line for each, and return how many failed."""
    failed = 0
    checks = runpy.run_path(str(FOLDER / f"{library}_checks.py"))
    for name, check in checks.items():
        if not name.startswith("check_"):
            continue
        start = time.perf_counter()
        problem = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(module)
        except Exception:
            problem = traceback.format_exc()
            failed += 1
        took = time.perf_counter() - start
        print(f"  {'FAILED' if problem else 'ok':<8}{check.__doc__:<100} {took:6.2f} s", flush=True)
        if problem:
            print("".join(f"      {line}\n" for line in problem.splitlines()))
    return failed


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in LIBRARIES]
    if unknown:
        print(f"no checks for {', '.join(unknown)}; there are some for {', '.join(LIBRARIES)}", file=sys.stderr)
        return 2
    failed = 0
    for library in chosen or LIBRARIES:
        module = imported(library)
        if module is None:
            print(f"{library}: not installed, not checked")
            continue
        print(f"{library} {getattr(module, '__version__', '')}")
        failed += run(library, module)
    print(f"{failed} failed" if failed else "all that could be checked is well")
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it, before SciPy is imported
    sys.exit(main(sys.argv[1:]))
