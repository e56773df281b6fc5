# cause: stable
# reason: one factory makes a function for each of two heads; each is compiled once

import distrax
import jax
import jax.numpy as jnp
import numpy as np


class LogitsHead:
    def __call__(self, params, x):
        return distrax.Categorical(logits=x @ params)


class SimplexHead:
    def __call__(self, params, x):
        return distrax.Categorical(probs=jax.nn.softplus(x @ params))


def make_evaluate(head):
    @jax.jit
    def evaluate(params, x, labels):
        return -head(params, x).log_prob(labels).mean()

    return evaluate


params, x, labels = np.ones((4, 3), np.float32), np.ones((5, 4), np.float32), np.array([0, 1, 2, 0, 1], np.int32)
for head in (LogitsHead(), SimplexHead()):
    evaluate = make_evaluate(head)
    for _ in range(2):
        evaluate(params, x, labels)
