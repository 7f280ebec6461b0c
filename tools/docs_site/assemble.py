"""The pages of docs/ as the site has them: copied, with links that lead somewhere in the site.

A page keeps its lines, so that a warning of Sphinx names the line of the file that was written. A link to a page leads
to that page; a link to a program of examples/ to the page of that program; a link to any other file of the repository
to `source_url`, or is the plain text of the link while there is no such address.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILD = DOCS / "_build"
SOURCE = BUILD / "source"
HTML = BUILD / "html"

OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
"""Files outside docs/ that a page stands for."""

COPIED_OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md")

FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()#\s]*)(#[^()\s]*)?\)")
SITE_ONLY = re.compile(r"^<!-- site\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
HOST_ONLY = re.compile(r"^<!-- host -->\n.*?^<!-- /host -->$", re.MULTILINE | re.DOTALL)


GALLERY = ROOT / "examples" / "gallery"
"""The programs that sphinx-gallery runs and makes pages of, with their plots."""

GALLERY_LINK = """[All of them at a glance](gallery/index.rst), by their pictures.

:::{toctree}
:hidden:

All pictures <gallery/index>
:::"""
"""What stands for `<!-- gallery -->` where there are such programs."""


def written_pages() -> list[Path]:
    """The pages in docs/, which are written by hand or by `make outputs`, and not by a build of the site."""
    return [path for path in sorted(DOCS.glob("**/*.md")) if BUILD not in path.parents]


def pages() -> dict[str, Path]:
    """The files of the site that are written by hand, by their places in it."""
    found = {path.relative_to(DOCS).as_posix().replace("README.md", "index.md"): path for path in written_pages()}
    return found | {OUTSIDE[name]: ROOT / name for name in COPIED_OUTSIDE}


def programs() -> dict[str, Path]:
    """The programs of examples/, by the places of their pages."""
    return {f"examples/{path.stem}.md": path for path in sorted((ROOT / "examples").glob("*.py"))}


def place_of(target: Path) -> str | None:
    """Where a file of the repository is found in the site; None if it has no page there."""
    by_file = {path: place for place, path in {**pages(), **programs()}.items()}
    by_file |= {ROOT / name: place for name, place in OUTSIDE.items()}
    by_file |= {ROOT / "examples": "examples.md", DOCS / "errors": "errors/index.md"}
    by_file |= {path: f"gallery/{path.stem}.rst" for path in GALLERY.glob("*.py")}
    return by_file.get(target)


def for_the_site(text: str, place: str, path: Path, source_url: str = "") -> str:
    """The text of the page at `place`, which was read from `path`, as Sphinx is to read it."""
    text = SITE_ONLY.sub(lambda found: f"\n{found[1]}", text)
    text = text.replace("<!-- gallery -->", GALLERY_LINK if GALLERY.is_dir() else "")
    text = text.replace("```mermaid\n", "```text\n")  # drawn by code hosts; needs a program of the network's elsewhere
    text = HOST_ONLY.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = re.sub(r"\n\n```$", "\n```\n", text, flags=re.MULTILINE)  # a doctest ends with an empty line
    if place == "api.md":
        text = with_full_names(text)
    folder = Path(place).parent

    def rewritten(found: re.Match[str]) -> str:
        image, words, target, anchor = found[1], found[2], found[3], found[4] or ""
        if image or not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        file = Path(os.path.normpath(path.parent / target))
        there = place_of(file)
        if there is not None:
            return f"[{words}]({os.path.relpath(there, folder)}{anchor})"
        if DOCS in file.parents or not file.is_relative_to(ROOT):
            return found[0]  # a picture, or a mistake that Sphinx reports
        inside = file.relative_to(ROOT).as_posix()
        if source_url:
            return f"[{words}]({source_url.rstrip('/')}/{inside}{anchor})"
        plain = words.strip("`")
        return f"`{inside}`" if plain in (inside, file.name) else f"{words} (`{inside}`)"

    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(rewritten, text[last : fence.start()]), fence[0]]
        last = fence.end()
    text = "".join([*parts, LINK.sub(rewritten, text[last:])])
    return text.lstrip("\n") if text.lstrip("\n").startswith("---\n") else text


def with_full_names(text: str) -> str:
    """The list of all names with the namespace in front of each, by which it is a link to its entry."""
    space, lines = "gt", []
    for line in text.splitlines():
        if line.startswith("## "):
            found = re.fullmatch(r"## In `(gt\.[\w.]+)`", line)
            space = found[1] if found else "gt"
        lines.append(re.sub(r"^\| `(\w+)` \|", rf"| `{space}.\1` |", line))
    return "\n".join(lines) + "\n"


def write(place: str, text: str) -> None:
    """Write a page of the assembled source; a file that has this text already keeps its date."""
    path = SOURCE / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def assemble(source_url: str = "") -> set[str]:
    """Copy all pages and pictures; the places that were written."""
    written = set()
    for place, path in pages().items():
        write(place, for_the_site(path.read_text(encoding="utf-8"), place, path, source_url))
        written.add(place)
    shutil.copytree(DOCS / "images", SOURCE / "images", dirs_exist_ok=True)
    return written


def remove_others(written: set[str]) -> None:
    """Remove pages of an earlier build that are no more; what sphinx-gallery writes is its own."""
    for path in SOURCE.glob("**/*.md"):
        place = path.relative_to(SOURCE).as_posix()
        if place not in written and not place.startswith("gallery/"):
            path.unlink()


def normalised(place: str) -> str:
    """A place without `.` and `..`."""
    return Path(os.path.normpath(place)).as_posix()


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as code hosts and MyST make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.*)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        base = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        count = 1
        anchor = base
        while anchor in found:
            anchor, count = f"{base}-{count}", count + 1
        found.add(anchor)
    return found
