# expect: GT509
# cause: kl_div takes the logarithm of the student's probabilities
# wrong: abs(value - right) > 1e-6
# cure: F.softmax(logits, axis=1) -> F.log_softmax(logits, axis=1)
import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
start, teacher = rng.normal(size=(6, 4)), gt.softmax(rng.normal(size=(6, 4)), axis=1)


def distil(logits):
    student = F.softmax(logits, axis=1)  # <- here
    return F.kl_div(student, teacher, reduction="sum")  # <- here


value, gradient = gt.value_and_grad(distil)(start)
right = np.sum(teacher * (np.log(teacher) - gt.log_softmax(start, axis=1)))
