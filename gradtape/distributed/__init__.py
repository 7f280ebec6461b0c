"""Gradients beyond one process: over rows of Dask arrays that exceed memory, and tasks, on threads or on a cluster.

`pip install gradtape[dask]` brings what it needs; nothing of Dask is imported before it is used. docs/distributed.md is
the guide.

    from gradtape import distributed as gd

    f = gd.value_and_grad(loss)        # loss(w, X, y) is a sum or a mean over the rows of X and y
    value, gradient = f(w, X, y)       # X and y are Dask arrays, w is NumPy's
    gd.map(run, tasks, seed=0)         # run(task, rng) for each of them, wherever there are cores
"""

from gradtape.distributed.fitting import fit
from gradtape.distributed.mapping import TaskError, map
from gradtape.distributed.shards import Shards
from gradtape.distributed.transforms import gauss_newton, grad, hessian, hvp, value_and_grad

__all__ = ["Shards", "TaskError", "fit", "gauss_newton", "grad", "hessian", "hvp", "map", "value_and_grad"]
