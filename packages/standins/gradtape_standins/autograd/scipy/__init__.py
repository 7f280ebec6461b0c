"""The stand-in for `autograd.scipy`: parts of SciPy whose functions take traced values."""

from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]

__getattr__ = missing_names.missing(
    __name__, reasons={"misc": "fix: logsumexp is in autograd.scipy.special, as SciPy has moved it there"}
)
