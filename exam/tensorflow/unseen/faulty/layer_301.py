# expect: GT116 or GT111 or GT110 or GT314
# cause: the encoder's state has 16 numbers, and the decoder's cell has 24 units
# wrong: raises Exception
# cure: keras.layers.GRU(24, return_sequences=True) -> keras.layers.GRU(16, return_sequences=True)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
source, target = tf.random.normal((8, 7, 3)), tf.random.normal((8, 6, 3))
encoder = keras.layers.GRU(16, return_state=True)
decoder = keras.layers.GRU(24, return_sequences=True)  # <- here
with tf.GradientTape() as tape:
    _, state = encoder(source)
    out = decoder(target, initial_state=state)  # <- here
    loss = tf.reduce_mean(out**2)
grads = tape.gradient(loss, encoder.trainable_variables)
