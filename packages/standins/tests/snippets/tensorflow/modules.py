"""tf.Module: variables and submodules found through attributes."""

import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([in_features, out_features]), name="w")
        self.b = tf.Variable(tf.zeros([out_features]), name="b")

    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class Sequence(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.others = [Dense(in_features=3, out_features=2, name="last")]
        self.step = tf.Variable(0, trainable=False, name="step")

    def __call__(self, x):
        self.step.assign_add(1)
        return self.others[0](self.dense_1(x))


model = Sequence(name="the_model")
print(model.name, model.dense_1.name, [m.name for m in model.submodules])
print(model(tf.constant([[2.0, 2.0, 2.0]])))
for var in model.trainable_variables:
    print(var.name, var.shape)
print(len(model.variables), model.step)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.ones([2, 3])))
for g in tape.gradient(loss, model.trainable_variables):
    print(g.numpy().tolist())
