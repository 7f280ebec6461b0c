# expect: GT513
# cause: the matrix inside the Lambda layer is a tf.Variable that the model does not know
# wrong: np.array_equal(mixing.numpy(), np.eye(4))
# cure: variables = model.trainable_variables -> variables = [*model.trainable_variables, mixing]
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(9)
mixing = tf.Variable(np.eye(4, dtype="float32"))  # <- here
inputs = tf.keras.Input((4,))
mixed = layers.Lambda(lambda t: tf.matmul(t, mixing))(inputs)
model = tf.keras.Model(inputs, layers.Dense(1)(mixed))
opt = tf.keras.optimizers.SGD(0.1)
data = np.random.rand(20, 4).astype("float32")
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(data) - data[:, :1] * data[:, 1:2]))
    variables = model.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))  # <- here
