"""The tests of this folder need TensorFlow; without it they are skipped, which pytest says."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytest.importorskip("tensorflow", reason="TensorFlow is not installed: its programs cannot be watched")
