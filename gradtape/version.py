"""The version of both distributions, gradtape and gradtape-standins. It is written here and nowhere else."""

__version__ = "0.1.0"
