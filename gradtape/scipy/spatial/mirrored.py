"""The module that `gradtape.scipy.spatial` mirrors; the files beside this one add their functions to it."""

from gradtape.mirror import Original

original = Original("scipy.spatial")
