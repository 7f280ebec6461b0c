"""What the finder of error messages searches: each code with its title and the words of its page.

It is a script, and no file of data, because a page that is read from disk may not fetch one.
"""

from __future__ import annotations

import json
import re

from gradtape.explain.model.codes import CODES
from gradtape.explain.model.pages import page
from tools.docs_site import assemble

FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def entries() -> list[dict[str, str]]:
    """For each code: its title, gradtape's own message, and the messages of other libraries in the same situation."""
    found = []
    for code, row in CODES.items():
        text, _, others = page(code).partition("## What others say")
        ours = [fence for fence in FENCE.findall(text) if f"[{code}]" in fence]
        found.append(
            {
                "code": code,
                "title": row.title,
                "ours": " ".join("\n".join(ours).split()),
                "others": " ".join(others.replace("```", " ").split()),
            }
        )
    return found


def write_index() -> None:
    """Write the script into the folder of the site's static files."""
    folder = assemble.BUILD / "static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "codes.js").write_text(f"window.gradtapeCodes = {json.dumps(entries())};\n", encoding="utf-8")
