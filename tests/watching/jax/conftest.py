"""The tests of this folder need JAX; without it they are skipped, which pytest says."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="JAX is not installed: its programs cannot be watched")
