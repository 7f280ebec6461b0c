# expect: GT301
# cause: output_gradients has one number for each class, the target one for each example
# wrong: raises Exception
# cure: output_gradients=tf.ones(3) -> output_gradients=tf.ones(10)
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
x = tf.random.normal((10, 4))
with tf.GradientTape() as tape:
    best = tf.reduce_max(model(x), axis=1)
grads = tape.gradient(best, model.trainable_variables, output_gradients=tf.ones(3))  # <- here
