# expect: GT115 or GT116
# cause: the vocabulary has 30 words, and the token at the end of each sentence is number 30
# wrong: raises InvalidArgumentError
# cure: tf.fill((4, 1), 30) -> tf.fill((4, 1), 29)
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
tokens = tf.concat([tf.random.uniform((4, 9), 0, maxval=30, dtype=tf.int32), tf.fill((4, 1), 30)], 1)  # <- here
embedding = keras.layers.Embedding(30, 4)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(embedding(tokens) ** 2)  # <- here
grads = tape.gradient(loss, embedding.trainable_variables)
