"""The table of operations, one file a chapter. Importing it gives tensors their operators."""

import sys

from gradtape import methods, protocols
from gradtape.core.rules import TABLE
from gradtape.ops.creation import *  # noqa: F403
from gradtape.ops.elementwise import *  # noqa: F403
from gradtape.ops.indexing import *  # noqa: F403
from gradtape.ops.linalg import *  # noqa: F403
from gradtape.ops.nn import *  # noqa: F403
from gradtape.ops.reductions import *  # noqa: F403
from gradtape.ops.shaping import *  # noqa: F403

protocols.register_table()
methods.bind(sys.modules[__name__])
