# cause: constant
# subject: distillation.temperature
# old: 2.0
# new: 4.0
# reason: the temperature is a static field of the module that holds the loss

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Distillation(eqx.Module):
    student: eqx.nn.Linear
    temperature: float = eqx.field(static=True)

    def loss(self, x, teacher):
        wanted = jax.nn.softmax(teacher)
        got = jax.nn.log_softmax(jax.vmap(self.student)(x) / self.temperature)  # <- cause
        return -jnp.mean(jnp.sum(wanted * got, axis=-1))


@eqx.filter_jit
def value(distillation, x, teacher):
    return distillation.loss(x, teacher)


student = eqx.filter_jit(lambda key: eqx.nn.Linear(4, 3, key=key))(jax.random.key(0))
x, teacher = np.ones((5, 4), np.float32), np.zeros((5, 3), np.float32)
for temperature in (2.0, 4.0):
    distillation = Distillation(student, temperature)
    for _ in range(2):
        value(distillation, x, teacher)  # <- call
