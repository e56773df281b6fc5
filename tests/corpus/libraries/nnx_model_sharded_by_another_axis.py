# cause: sharding
# subject: model.layer.kernel...
# old: P('data', None)
# new: P(None, 'data')

import jax
import numpy as np
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(8, 8, use_bias=False, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


def placed(model, spec):
    graphdef, state = nnx.split(model)
    return nnx.merge(graphdef, jax.device_put(state, NamedSharding(mesh, spec)))


@nnx.jit
def forward(model, x):
    return model(x).sum()


x = np.ones((4, 8), np.float32)
model = nnx.jit(Net)(nnx.Rngs(0))
forward(placed(model, P("data", None)), x)
forward(placed(model, P(None, "data")), x)  # <- cause
