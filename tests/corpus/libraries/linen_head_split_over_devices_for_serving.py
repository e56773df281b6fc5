# cause: sharding
# subject: params['params']['head']['kernel']
# new: P(None, 'model')
# program: jit_predict
# advice: device_put | in_shardings
# reason: the trainer keeps all weights on every device, the server splits the large head

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("model",))


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(8, name="body")(x))
        return nn.Dense(16, use_bias=False, name="head")(x)


model = Tagger()


@jax.jit
def predict(params, x):
    return jax.nn.softmax(model.apply(params, x))


def replicated(params):
    return jax.device_put(params, NamedSharding(mesh, P()))


def for_serving(params):
    def place(path, leaf):
        name = jax.tree_util.keystr(path)
        spec = P(None, "model") if "head" in name else P()
        return jax.device_put(leaf, NamedSharding(mesh, spec))

    return jax.tree_util.tree_map_with_path(place, params)


x = jax.device_put(np.ones((4, 5), np.float32), NamedSharding(mesh, P()))
params = replicated(jax.jit(model.init)(jax.random.key(0), np.ones((4, 5), np.float32)))
for phase, place in (("validation", replicated), ("serving", for_serving)):
    params = place(params)
    for _ in range(2):
        probabilities = predict(params, x)  # <- cause
    print(phase, np.asarray(probabilities).sum())
