# expect: GT116 or GT111 or GT110
# cause: the decoder was built for codes of width 4 and gets the concatenation of width 6
# wrong: raises ValueError
# cure: keras.Input((4,)) -> keras.Input((6,))
import keras
import tensorflow as tf

keras.utils.set_random_seed(25)
encoder = keras.Sequential([keras.Input((10,)), keras.layers.Dense(4)])
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10)])  # <- here
x, condition = tf.random.normal((5, 10)), tf.random.normal((5, 2))


def conditional_autoencoder(x, condition):
    code = encoder(x)
    return decoder(tf.concat([code, condition], axis=1))  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean((conditional_autoencoder(x, condition) - x) ** 2)
grads = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
