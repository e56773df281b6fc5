# cause: option
# subject: xla_cpu_enable_fast_math
# old: unset
# new: true
# reason: the service tries a compile option for speed, for the function that the check before it used without

import haiku as hk
import jax
import numpy as np


def forward(images):
    net = hk.Sequential([
        hk.Conv2D(4, 3, padding="SAME"), jax.nn.relu,
        hk.AvgPool((1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        hk.Conv2D(6, 3, stride=2), jax.nn.relu,
        hk.Flatten(), hk.Linear(3)])
    return jax.nn.softmax(net(images))


net = hk.without_apply_rng(hk.transform(forward))
images = np.ones((2, 8, 8, 1), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), images)


class Service:
    def __init__(self, params, options=None):
        self.params = params
        self.classify = jax.jit(net.apply, compiler_options=options)

    def answer(self, images):
        return np.asarray(self.classify(self.params, images)).argmax(-1)  # <- cause


check = Service(params)
assert len(check.answer(images)) == 2
service = Service(params, options={"xla_cpu_enable_fast_math": True})
for _ in range(2):
    service.answer(images)
