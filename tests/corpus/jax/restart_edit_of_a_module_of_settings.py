# cause: edit
# subject: Config
# old: rate: float = 0.1
# new: rate: float = 0.02
# run: 0.1
# run: 0.02

import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path("edited_settings")
(FOLDER / "conf").mkdir(parents=True, exist_ok=True)
(FOLDER / "conf" / "__init__.py").write_text("from .training import Config, EPOCHS\n")
(FOLDER / "conf" / "training.py").write_text(f"""
import dataclasses

EPOCHS = {sys.argv[1]} * 100


@dataclasses.dataclass
class Config:
    rate: float = {sys.argv[1]}
    seed: int = 0
""")
(FOLDER / "settled_model.py").write_text("""
import jax
import jax.numpy as jnp

import conf

config = conf.Config()


@jax.jit
def step(w, x):
    slope = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - config.rate * slope
""")
sys.path.insert(0, str(FOLDER.resolve()))
import settled_model  # noqa: E402

settled_model.step(np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))
