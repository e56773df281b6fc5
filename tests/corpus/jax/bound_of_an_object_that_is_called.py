# program: jit__lambda
# cause: constant
# subject: method.rounds
# old: 10
# new: 20
# advice: lax.fori_loop

import jax, jax.numpy as jnp, numpy as np


class PowerIteration:
    rounds: int = 10

    def __call__(self, a):
        v = jnp.ones(a.shape[0])
        v = jax.lax.fori_loop(0, self.rounds, lambda _, v: a @ v / jnp.linalg.norm(a @ v), v)  # <- cause
        return v @ a @ v


a = np.eye(4, dtype=np.float32)
method = PowerIteration()
for n in (10, 20):
    method.rounds = n
    step = jax.jit(lambda a: method(a))
    step(a)
    step(a)
