"""The version of the stand-ins when they are built: gradtape's, which they need in exactly that version.

It is read from the checkout. A source distribution has no checkout around it; there hatchling takes the two fields from
PKG-INFO, and this hook has nothing to do.
"""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class SharedVersion(MetadataHookInterface):
    """Fills `version` and `dependencies` from gradtape/version.py."""

    def update(self, metadata: dict[str, object]) -> None:
        """Write the two fields into `metadata`, which is the table [project]."""
        file = Path(self.root).parents[1] / "gradtape" / "version.py"
        if not file.exists():
            return
        found = re.search(r'^__version__ = "(.+)"$', file.read_text(encoding="utf-8"), re.MULTILINE)
        if found is None:
            raise ValueError(f'{file} has no line of the form __version__ = "1.2.3", which names the version')
        metadata["version"] = found[1]
        metadata["dependencies"] = [f"gradtape=={found[1]}"]
