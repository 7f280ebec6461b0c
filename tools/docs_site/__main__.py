"""Build the site: `python -m tools.docs_site [--source-url URL] [--fresh]`; see `make docs`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time

from sphinx.cmd.build import main as sphinx

from tools.docs_site import assemble, check, codes, names, programs, reference


def main() -> int:
    """Build and check the site; 0 if nothing is wrong with it."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs_site", description=__doc__)
    parser.add_argument(
        "--source-url",
        default=os.environ.get("GRADTAPE_SOURCE_URL", ""),
        help="where files of the repository are shown, for links to them (by default they are no links)",
    )
    parser.add_argument("--fresh", action="store_true", help="build everything anew")
    options = parser.parse_args()
    began = time.monotonic()
    if options.fresh:
        shutil.rmtree(assemble.BUILD, ignore_errors=True)
    written = assemble.assemble(options.source_url)
    written |= programs.write_pages()
    written |= reference.write_pages()
    codes.write_index()
    public = [name for group in names.groups() for name in group.names]
    lacking = [f"{name}: {lack}" for name in public if (lack := reference.incomplete(name))]
    unrun = [line for path in assemble.written_pages() for line in check.unrun_blocks(path)]
    if lacking or unrun:
        print("\n".join([*lacking, *unrun]), file=sys.stderr)
        return 1
    assemble.remove_others(written)
    # -a: the navigation of every page has what has changed in the tree of pages
    arguments = ["-b", "html", "-a", "-W", "--keep-going", "-n", "-q", "-j", "auto", "-c", str(assemble.DOCS)]
    if status := int(sphinx([*arguments, str(assemble.SOURCE), str(assemble.HTML)])):
        return status
    mistakes = check.mistakes(assemble.HTML)
    print("\n".join(mistakes), file=sys.stderr, end="\n" * bool(mistakes))
    count = len(list(assemble.HTML.glob("**/*.html")))
    print(f"{count} pages in {assemble.HTML}, built in {time.monotonic() - began:.0f} s")
    print(f"open {assemble.HTML / 'index.html'}")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
