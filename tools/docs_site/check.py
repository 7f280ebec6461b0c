"""The built pages, read again: every link and anchor leads somewhere, and nothing is loaded from the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "audio": "src", "video": "src"}


class Page(HTMLParser):
    """The anchors, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        if tag == "a" and (target := found.get("href")):
            self.links.append(target)
        if (name := LOADED.get(tag)) and (target := found.get(name)):
            self.loads.append(target)
        if tag == "link" and "stylesheet" in (found.get("rel") or "") and (target := found.get("href")):
            self.loads.append(target)


RUN = {"python", "text"}
NOT_PYTHON = {"", "sh", "console", "mermaid"}
OTHER_LIBRARIES = {"pytorch", "tensorflow", "jax", "questions", "distributed", "interoperability"}
"""Pages with programs (`py`) for other libraries or a cluster, which have tests where these are installed."""


def unrun_blocks(path: Path) -> list[str]:
    """The blocks of a page that may hold Python and that tests/test_docs.py does not run, a line for each language."""
    text = path.read_text(encoding="utf-8")
    languages = set(re.findall(r"^```([\w{}+-]*)\n", text, re.MULTILINE)) - RUN - NOT_PYTHON
    unrun = sorted(languages - ({"py"} if path.stem in OTHER_LIBRARIES else set()))
    return [f"{path.name}: a block of {language!r} is not run by the tests; write ```python" for language in unrun]


def mistakes(folder: Path) -> list[str]:
    """What is wrong with the pages in `folder`, a line for each mistake."""
    pages = {path: Page(path) for path in sorted(folder.glob("**/*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        shown = path.relative_to(folder)
        loaded = [target for target in page.loads if re.match(r"(https?:)?//", target)]
        found += [f"{shown}: loads {target} from the network" for target in loaded]
        for target in sorted({*page.links, *page.loads}):
            parts = urlsplit(target)
            if parts.scheme or target.startswith("//"):
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                found.append(f"{shown}: {target} leads to a file that is not there")
            elif file in pages and unquote(parts.fragment) not in pages[file].anchors:
                found.append(f"{shown}: {target} leads to an anchor that is not there")
    return found
