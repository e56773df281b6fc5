# cause: edit
# subject: Net
# old: features: int = 16
# new: features: int = 24
# program: jit_step
# run: 16
# run: 24

import pathlib
import sys

FOLDER = pathlib.Path("edited_width")
FOLDER.mkdir(exist_ok=True)
(FOLDER / "narrow_model.py").write_text(f"""
import flax.linen as nn


class Net(nn.Module):
    features: int = {sys.argv[1]}
    rate: float = 0.5

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.features)(x)
        return nn.relu(x) * self.rate
""")
(FOLDER / "narrow_training.py").write_text("""
import jax
import jax.numpy as jnp
import narrow_model

net = narrow_model.Net()
x = jnp.ones((4, 8))
params = jax.jit(net.init)(jax.random.key(0), x)


@jax.jit
def step(params, x):
    return net.apply(params, x).sum()


for _ in range(2):
    step(params, x)
""")
sys.path.insert(0, str(FOLDER.resolve()))
import narrow_training  # noqa: E402, F401
