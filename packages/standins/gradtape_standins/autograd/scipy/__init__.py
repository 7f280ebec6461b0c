"""The stand-in for `autograd.scipy`: parts of SciPy whose functions take traced values."""

from gradtape_standins import names
from gradtape_standins.autograd.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]

__getattr__ = names.missing(
    __name__, reasons={"misc": "fix: logsumexp is in autograd.scipy.special, as SciPy has moved it there"}
)
