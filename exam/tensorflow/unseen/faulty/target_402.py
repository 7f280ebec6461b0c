# expect: GT305 or GT314 or GT201
# cause: no layer has a regulariser, so that the sum of the model's losses is the number 0
# wrong: raises Exception
# cure: keras.layers.Dense(1)] -> keras.layers.Dense(1, kernel_regularizer="l2")]
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])  # <- here
x = tf.random.normal((16, 3))
with tf.GradientTape() as tape:
    model(x)
    penalty = sum(model.losses)  # <- here
grads = tape.gradient(penalty, model.trainable_variables)  # <- here
