# cause: edit
# old: slope: float = 0.01
# new: slope: float = 0.2
# program: jit_train_step
# run: write 0.01
# run: train
# run: write 0.2
# run: train
# reason: the default of a field of the configuration is edited in its module

import pathlib
import sys

if sys.argv[1] == "write":
    folder = pathlib.Path("experiment")
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text("")
    (folder / "config.py").write_text(f'''import dataclasses


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    width: int = 8
    slope: float = {sys.argv[2]}
    actions: int = 3


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    rate: float = 1e-2
    model: ModelConfig = dataclasses.field(default_factory=ModelConfig)
''')
    (folder / "network.py").write_text('''import haiku as hk
import jax


def build(config):
    def q_values(observation):
        x = hk.Linear(config.width)(observation)
        x = jax.nn.leaky_relu(x, config.slope)
        return hk.Linear(config.actions)(x)

    return hk.without_apply_rng(hk.transform(q_values))
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import jax
import jax.numpy as jnp
import numpy as np
from experiment import network
from experiment.config import TrainConfig

config = TrainConfig()
q_network = network.build(config.model)


@jax.jit
def train_step(params, observation, action, target):
    def loss_fn(params):
        q = q_network.apply(params, observation)
        chosen = jnp.take_along_axis(q, action[:, None], axis=1)[:, 0]
        return jnp.mean((chosen - target) ** 2)

    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - config.rate * g, params, grads)


observation = np.ones((5, 4), np.float32)
action, target = np.array([0, 1, 2, 1, 0]), np.ones(5, np.float32)
params = jax.jit(q_network.init)(jax.random.key(0), observation)
for _ in range(3):
    params = train_step(params, observation, action, target)  # <- call
