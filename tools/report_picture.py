"""Takes the picture of a report that the README shows, with a headless Chromium.

    python -m tools.report_picture

runs docs/images/programs/train.py with `gradtape run --report`, opens the page at the width of a laptop and writes its
source and its graph to docs/images/report.png. Without Chromium it says so and leaves the picture as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.message_picture import IMAGES, PROGRAM

PICTURE = IMAGES / "report.png"
WIDTH, HEIGHT = 1180, 1320
SHOWN = "#verdicts,.training{display:none}"
"""What is left out of the picture: the message has a picture of its own."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]


def main() -> int:
    """Write the picture; 0 where there is no browser, too, as the other pictures do not need one."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"{PICTURE.name} is left as it is: none of {', '.join(BROWSERS)} is on this machine")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        run = [sys.executable, "-m", "gradtape", "run", str(PROGRAM), "--report", str(page)]
        subprocess.run(run, check=True, capture_output=True, cwd=PROGRAM.parent)
        page.write_text(page.read_text("utf-8").replace("</head>", f"<style>{SHOWN}</style></head>"), "utf-8")
        size = f"--window-size={WIDTH},{HEIGHT}"
        places = [f"--user-data-dir={folder}/profile", f"--screenshot={PICTURE}", page.as_uri()]
        subprocess.run([browser, *QUIET, size, *places], check=True, capture_output=True)
    print(f"{PICTURE.relative_to(IMAGES.parents[1])} is taken, {PICTURE.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
