# cause: dtype
# new: bf16...
# advice: mu_dtype
# reason: the optimizer of the second stage keeps its first moments in bfloat16

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def ranker(features):
    return hk.nets.MLP([16, 1], activation=jax.nn.swish)(features)[..., 0]


model = hk.without_apply_rng(hk.transform(ranker))


def pairwise_loss(params, better, worse):
    return jnp.mean(jax.nn.softplus(model.apply(params, worse) - model.apply(params, better)))


class Stage:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.step = jax.jit(self._step)

    def _step(self, params, opt_state, better, worse):
        loss, grads = jax.value_and_grad(pairwise_loss)(params, better, worse)
        updates, opt_state = self.optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    def run(self, params, pairs):
        opt_state = self.optimizer.init(params)
        for better, worse in pairs:
            params, opt_state, loss = self.step(params, opt_state, better, worse)  # <- cause
        return params, float(loss)


def pairs(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        better, worse = rng.normal(size=(2, 8, 10)).astype(np.float32)
        yield better + 0.5, worse


params = jax.jit(model.init)(jax.random.key(0), np.zeros((8, 10), np.float32))
params, loss = Stage(optax.adam(1e-3)).run(params, pairs(3, 0))
print("clicks", loss)
params, loss = Stage(optax.adam(1e-3, mu_dtype=jnp.bfloat16)).run(params, pairs(3, 1))
print("purchases", loss)
