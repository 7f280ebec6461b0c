# expect: GT113
# cause: the context has no axis of time, (5, 8), and is joined to the embedded word, (5, 1, 4)
# wrong: raises Exception
# cure: tf.concat([context, embedded], axis=-1) -> tf.concat([context[:, None, :], embedded], axis=-1)
import tensorflow as tf

tf.keras.utils.set_random_seed(39)
table = tf.keras.layers.Embedding(25, 4)
cell = tf.keras.layers.GRU(8, return_state=True)
head = tf.keras.layers.Dense(25)


def decode(word, memory, state):
    weights = tf.nn.softmax(tf.einsum("bth,bh->bt", memory, state), axis=1)
    context = tf.einsum("bt,bth->bh", weights, memory)
    embedded = table(word[:, None])
    step = tf.concat([context, embedded], axis=-1)  # <- here
    output, state = cell(step, initial_state=state)
    return head(output), state


memory, state = tf.random.normal((5, 6, 8)), tf.zeros((5, 8))
words = tf.random.uniform((5, 3), maxval=25, dtype=tf.int32)
with tf.GradientTape() as tape:
    loss = 0.0
    for t in range(2):
        logits, state = decode(words[:, t], memory, state)  # <- asked
        loss += tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words[:, t + 1], logits=logits))
gradients = tape.gradient(loss, table.trainable_variables + head.trainable_variables)
