"""TensorFlow's warnings on the standard error stream: the logger `tensorflow`, and at most five of a kind."""

from __future__ import annotations

import logging
import sys
from collections import Counter

_FIRST_TIMES = 5
_said: Counter[str] = Counter()


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to whatever the standard error stream is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def get_logger() -> logging.Logger:
    """The logger that TensorFlow's warnings go through.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.get_logger().name
    'tensorflow'
    """
    logger = logging.getLogger("tensorflow")
    if not logger.handlers:
        handler = _Handler()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
        logger.propagate = False
    return logger


def warn_first_times(text: str) -> None:
    """Log a warning, the first few times that there is reason to."""
    _said[text] += 1
    if _said[text] <= _FIRST_TIMES:
        get_logger().warning(text)
