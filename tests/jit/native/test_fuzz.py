"""Some of the random programs of `fuzz`, which runs for as long as one likes."""

import pytest

from .fuzz import CHECKS, run


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value", "ignore:.*encountered in")
@pytest.mark.parametrize("name", ["agrees with the kernels", "loops are their steps", "loops in tiles are their steps"])
@pytest.mark.parametrize("mode", ["memory", pytest.param("off", marks=pytest.mark.production)])
def test_random_programs(name, mode):
    """What `fuzz` checks holds for a few dozen random programs, with and without the checking mode."""
    strategy, check = CHECKS[name]
    run(strategy, check, 2024, 15)
