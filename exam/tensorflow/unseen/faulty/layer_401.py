# expect: GT116 or GT110
# cause: the mask of the words is (batch, words), and attention wants (batch, queries, keys)
# wrong: raises Exception
# cure: attention_mask=real) -> attention_mask=real[:, None, :])
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
attention = keras.layers.MultiHeadAttention(num_heads=2, key_dim=8)
words = tf.random.normal((6, 9, 16))
real = tf.sequence_mask([9, 4, 7, 5, 9, 2], 9)
with tf.GradientTape() as tape:
    out = attention(words, words, attention_mask=real)  # <- here
    loss = tf.reduce_mean(out**2)
grads = tape.gradient(loss, attention.trainable_variables)
