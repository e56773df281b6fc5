# cause: shape
# subject: models.layers[0].weight
# old: f32[3,8,4]
# new: f32[5,8,4]
# program: jit_evaluate
# reason: the ensemble is one model whose arrays have a dimension for the members

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_vmap
def make(key):
    return eqx.nn.MLP(4, 2, 8, 1, key=key)


@eqx.filter_jit
def evaluate(models, x, y):
    @eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
    def predict(model, x):
        return jax.vmap(model)(x)

    answers = predict(models, x)
    return jnp.mean((answers.mean(0) - y) ** 2), answers.std(0)


x, y = np.ones((6, 4), np.float32), np.zeros((6, 2), np.float32)
for members in (3, 5):
    models = make(jax.random.split(jax.random.key(0), members))
    evaluate(models, x, y)  # <- cause
