"""The command `gradtape`: run a script with explanations, look up a code, check a function."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

DESCRIPTION = """\
gradtape explains gradients: it runs a script and says what is wrong with them,
looks up the codes of its messages, and checks the derivatives of a function.

  gradtape run train.py            run a script with explanations on
  gradtape why GT101               the page of a code; without a code, all of them
  gradtape check model.py:predict  gradcheck and batch audit of a function

`gradtape run --help` and so on say more.
"""
EXIT_CODES = """\
exit status:
  0  fine
  1  something was found (see above), or the script failed
  2  the command was not used as it can be
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv` (what was typed behind `gradtape`); the exit status.

    >>> from gradtape.commands import main
    >>> main(["why", "GT305"])  # doctest: +ELLIPSIS
    # GT305: the target was never recorded
    ...
    0
    """
    from gradtape import __version__
    from gradtape.commands import check, run, why

    parser = argparse.ArgumentParser(
        "gradtape", description=DESCRIPTION, epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"gradtape {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)
    for module in (run, why, check):
        added = module.add(commands)
        added.set_defaults(main=module.main)
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["run"]:
        given = run.separated(given)
    arguments = parser.parse_args(given)
    arguments.owns_process = argv is None
    try:
        status: int = arguments.main(arguments)
        if arguments.main is not run.main:  # after a script, Python itself does this, and says what went wrong
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status
