# expect: GT514
# cause: both kernels start at the constant 0.1, so the eight hidden units stay copies
# wrong: np.allclose(net.layers[0].get_weights()[0], net.layers[0].get_weights()[0][:, :1])
# cure: init = keras.initializers.Constant(0.1) -> init = keras.initializers.GlorotNormal(seed=1)
import keras
import numpy as np

keras.utils.set_random_seed(3)
init = keras.initializers.Constant(0.1)  # <- here
net = keras.Sequential(
    [
        keras.layers.Input((3,)),
        keras.layers.Dense(8, activation="tanh", kernel_initializer=init),  # <- here
        keras.layers.Dense(1, kernel_initializer=init),
    ]
)
net.compile("sgd", "mse")
points = np.random.rand(40, 3).astype("float32")
net.fit(points, np.sin(points.sum(axis=1, keepdims=True)), epochs=2, verbose=0)  # <- here
