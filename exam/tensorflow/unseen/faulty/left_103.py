# expect: GT210 or GT312
# cause: inside tf.function there are no numbers yet, and numpy() is asked for them
# wrong: raises AttributeError
# cure: tf.square(model(x).numpy() - y) -> tf.square(model(x) - y)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
x, y = tf.random.normal((20, 3)), tf.random.normal((20, 1))


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x).numpy() - y))  # <- here
    return tape.gradient(loss, model.trainable_variables)


step()
