# cause: arguments
# pattern: growing
# advice: one array
# reason: the weights of each epoch go into a list, and the mean is taken of all of them

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


def predict(params, x):
    return (jnp.tanh(x @ params) ** 2).sum(axis=-1)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(lambda p: optax.l2_loss(predict(p, x), y).mean())(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def soup_error(ingredients, x, y):
    mean = sum(ingredients) / len(ingredients)
    return optax.l2_loss(predict(mean, x), y).mean()


class Averager:
    def __init__(self):
        self.ingredients = []

    def add(self, params):
        self.ingredients.append(params)

    def evaluate(self, x, y):
        return float(soup_error(self.ingredients, x, y))  # <- cause


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(24, 5)).astype(np.float32)
    y = np.abs(x).sum(axis=1)
    params = rng.normal(size=(5, 7)).astype(np.float32)
    opt_state = jax.jit(optimizer.init)(params)
    averager = Averager()
    for epoch in range(5):
        for start in range(0, 24, 8):
            params, opt_state, loss = train_step(params, opt_state, x[start:start + 8], y[start:start + 8])
        averager.add(params)
        print(epoch, float(loss), averager.evaluate(x, y))


main()
