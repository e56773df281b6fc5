# cause: layout
# subject: x
# old: unset
# new: {0,1}

import jax
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding


@jax.jit
def step(x):
    return x * 2.0 + 1.0


place = SingleDeviceSharding(jax.devices()[0])
x = np.ones((256, 512), np.float32)
step(jax.device_put(x, place))
step(jax.device_put(x, Format(Layout(major_to_minor=(1, 0)), place)))  # <- cause
