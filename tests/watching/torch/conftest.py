"""The tests of this folder need PyTorch; without it they are skipped, which pytest says."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: its programs cannot be watched")
