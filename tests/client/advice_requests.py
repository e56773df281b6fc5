"""Pairs as those of advice_programs.py: random keys, where and how a program runs, and what has a
function traced again.

    advice_requests.py FUNCTION...
"""

import dataclasses
import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

W = 4  # another width for each function, so that none finds the programs of another


def ones(*shape):
    return np.ones(shape, np.float32)


def mesh_of(count):
    return Mesh(np.array(jax.devices()[:count]), ("data",))


def square(x):
    return (x * x).sum()


# ---- random numbers ----------------------------------------------------------------------------


def noisy(key, x):
    return jnp.tanh(x) * jax.random.bernoulli(key, 0.9, x.shape)


def drawn_accident():
    @functools.partial(jax.jit, static_argnames="train")
    def step(x, key, train):
        x = jnp.tanh(x)
        if train:
            x = x * jax.random.bernoulli(key, 0.9, x.shape)  # <- here
        return x.sum()

    for train in (True, False, True, False):
        step(ones(8, W), jax.random.key(0), train=train)


def drawn_mended_each():
    @jax.jit
    def train_step(x, key):
        return noisy(key, x).sum()

    @jax.jit
    def eval_step(x):
        return jnp.tanh(x).sum()

    for train in (True, False, True, False):
        if train:
            train_step(ones(8, W), jax.random.key(0))
        else:
            eval_step(ones(8, W))


def drawn_mended_fixed():
    @functools.partial(jax.jit, static_argnames="train")
    def step(x, key, train):
        return noisy(key, x).sum() if train else jnp.tanh(x).sum()

    for _ in range(4):
        step(ones(8, W), jax.random.key(0), train=True)


def generator_accident():
    step = jax.jit(lambda key, x: noisy(key, x))
    for implementation in ("threefry2x32", "rbg"):
        key = jax.random.key(0, impl=implementation)
        step(key, ones(W))  # <- here


def generator_mended_passed():
    step = jax.jit(lambda key, x: noisy(key, x))
    for seed in range(2):
        step(jax.random.key(seed, impl="rbg"), ones(W))


def generator_mended_default():
    jax.config.update("jax_default_prng_impl", "rbg")
    step = jax.jit(lambda key, x: noisy(key, x))
    for seed in range(2):
        step(jax.random.key(seed), ones(W))
    jax.config.update("jax_default_prng_impl", "threefry2x32")


def key_style_accident():
    step = jax.jit(lambda key, x: noisy(key, x))
    step(jax.random.PRNGKey(0), ones(W))
    step(jax.random.key(0), ones(W))  # <- here


def key_style_mended():
    step = jax.jit(lambda key, x: noisy(key, x))
    step(jax.random.key(0), ones(W))
    step(jax.random.key(1), ones(W))


# ---- where and how -----------------------------------------------------------------------------


def sharding_accident_put():
    mesh, step = mesh_of(4), jax.jit(lambda x: square(x))
    for spec in (P("data"), P(None, "data")):
        step(jax.device_put(ones(8, 4 * W), NamedSharding(mesh, spec)))  # <- here


def sharding_mended_put():
    mesh, step = mesh_of(4), jax.jit(lambda x: square(x))
    for _ in range(2):
        step(jax.device_put(ones(8, 4 * W), NamedSharding(mesh, P("data"))))


def sharding_accident_result():
    rows = NamedSharding(mesh_of(4), P("data"))
    step = jax.jit(lambda state, x: state + x)
    state = jax.device_put(ones(8, W), NamedSharding(mesh_of(4), P()))
    for _ in range(3):
        state = step(state, jax.device_put(ones(8, W), rows))  # <- here


def sharding_mended_result():
    mesh = mesh_of(4)
    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    step = jax.jit(lambda state, x: state + x, in_shardings=(whole, rows), out_shardings=whole)
    state = jax.device_put(ones(8, W), whole)
    for _ in range(3):
        state = step(state, jax.device_put(ones(8, W), rows))


def constrained_accident():
    rows = NamedSharding(mesh_of(4), P("data"))

    @functools.partial(jax.jit, static_argnames="split")
    def step(x, split):
        x = x * 2
        if split:
            x = lax.with_sharding_constraint(x, rows)  # <- here
        return jnp.tanh(x).sum()

    x = jax.device_put(ones(8, W), NamedSharding(mesh_of(4), P()))
    for split in (False, True):
        step(x, split=split)


def constrained_mended_every():
    rows = NamedSharding(mesh_of(4), P("data"))

    @jax.jit
    def step(x):
        return jnp.tanh(lax.with_sharding_constraint(x * 2, rows)).sum()

    x = jax.device_put(ones(8, W), NamedSharding(mesh_of(4), P()))
    for _ in range(2):
        step(x)


def constrained_mended_none():
    step = jax.jit(lambda x: jnp.tanh(x * 2).sum())
    x = jax.device_put(ones(8, W), NamedSharding(mesh_of(4), P()))
    for _ in range(2):
        step(x)


def committed_accident():
    step = jax.jit(lambda x: square(x))
    x = jnp.ones((8, W))
    step(x)
    step(jax.device_put(x, jax.devices()[0]))  # <- here


def committed_mended_before():
    step = jax.jit(lambda x: square(x))
    x = jax.device_put(jnp.ones((8, W)), jax.devices()[0])
    step(x)
    step(jax.device_put(x, jax.devices()[0]))


def committed_mended_never():
    step = jax.jit(lambda x: square(x))
    x = jnp.ones((8, W))
    step(x)
    step(x)


def other_device_accident():
    step = jax.jit(lambda x: square(x))
    for device in jax.devices()[:2]:
        step(jax.device_put(ones(8, W), device))  # <- here


def other_device_mended():
    step = jax.jit(lambda x: square(x))
    for device in jax.devices()[:2]:
        x = jax.device_put(ones(8, W), device)
        step(jax.device_put(x, jax.devices()[0]))


def donation_accident():
    def step(state, x):
        return state + x

    state = jax.jit(step)(jnp.zeros(W), ones(W))
    jax.jit(step, donate_argnums=0)(state, ones(W))  # <- here


def donation_mended():
    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, x):
        return state + x

    state = step(jnp.zeros(W), ones(W))
    step(state, ones(W))


def layout_accident():
    def step(x):
        return (x * 2).sum()

    device = SingleDeviceSharding(jax.devices()[0])
    for order in ((0, 1), (1, 0)):
        layout = Format(Layout(order), device)
        jax.jit(step, in_shardings=layout)(jax.device_put(ones(8, W), layout))  # <- here


def layout_mended_none():
    step = jax.jit(lambda x: (x * 2).sum())
    for _ in range(2):
        step(jax.device_put(ones(8, W)))


def layout_mended_same():
    layout = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
    step = jax.jit(lambda x: (x * 2).sum(), in_shardings=layout)
    for _ in range(2):
        step(jax.device_put(ones(8, W), layout))


def precision_accident():
    step = jax.jit(lambda x: x @ x)  # <- here
    step(ones(W, W))
    with jax.default_matmul_precision("highest"):
        step(ones(W, W))


def precision_mended():
    jax.config.update("jax_default_matmul_precision", "highest")
    step = jax.jit(lambda x: x @ x)
    for _ in range(2):
        step(ones(W, W))
    jax.config.update("jax_default_matmul_precision", None)


def option_accident():
    def step(x):
        return jnp.exp(x) / 3

    for fast in (False, True):
        jax.jit(step, compiler_options={"xla_cpu_enable_fast_math": fast})(ones(W))  # <- here


def option_mended():
    def step(x):
        return jnp.exp(x) / 3

    for _ in range(2):
        jax.jit(step, compiler_options={"xla_cpu_enable_fast_math": True})(ones(W))


# ---- asked for again ---------------------------------------------------------------------------


def retrace_accident_lambda():
    for _ in range(3):
        jax.jit(lambda x: square(x) * 2)(ones(W))  # <- here


def retrace_accident_partial():
    def scaled(x, scale):
        return square(x) * scale

    for _ in range(3):
        jax.jit(functools.partial(scaled, scale=2.0))(ones(W))  # <- here


def retrace_mended():
    step = jax.jit(lambda x: square(x) * 2)
    for _ in range(3):
        step(ones(W))


def argument_tree_accident():
    step = jax.jit(lambda batch: sum(map(square, batch.values())))
    step({"x": ones(W)})
    step({"tokens": ones(W)})  # <- here


def argument_tree_mended():
    step = jax.jit(lambda batch: sum(map(square, batch.values())))
    step({"x": ones(W)})
    step({"x": ones(W)})


def reordered_accident():
    step = jax.jit(lambda weights, batch: square(batch @ weights))
    step(ones(W, 2), ones(3, W))
    step(weights=ones(W, 2), batch=ones(3, W))  # <- here


def reordered_mended():
    step = jax.jit(lambda weights, batch: square(batch @ weights))
    for _ in range(2):
        step(weights=ones(W, 2), batch=ones(3, W))


def result_tree_accident():
    @functools.partial(jax.jit, static_argnames="nested")
    def step(x, nested):
        return {"metrics": {"loss": square(x)}} if nested else {"loss": square(x)}

    for nested in (False, True):
        step(ones(W), nested=nested)  # <- here


def result_tree_mended():
    step = jax.jit(lambda x: {"metrics": {"loss": square(x)}})
    for _ in range(2):
        step(ones(W))


@jax.jit
def of_a_counter(state, x):
    return {"step": state["step"] + 1, "w": state["w"] - x}


def number_accident():
    of_a_counter({"step": 0, "w": ones(W)}, ones(W))
    of_a_counter({"step": np.int32(3), "w": ones(W)}, ones(W))  # <- here


def number_mended_start():
    of_a_counter({"step": jnp.asarray(0, jnp.int32), "w": ones(W)}, ones(W))
    of_a_counter({"step": np.int32(3), "w": ones(W)}, ones(W))


def container_accident():
    step = jax.jit(lambda pair: square(pair[0]) + square(pair[1]))
    step((ones(W), ones(W)))
    step([ones(W), ones(W)])  # <- here


def container_mended():
    step = jax.jit(lambda pair: square(pair[0]) + square(pair[1]))
    step((ones(W), ones(W)))
    step(tuple([ones(W), ones(W)]))


def optional_accident_key():
    step = jax.jit(lambda batch: square(batch["x"]))
    step({"x": ones(W)})
    step({"x": ones(W), "id": ones(W)})  # <- here


def optional_mended_every():
    step = jax.jit(lambda batch: square(batch["x"]))
    for _ in range(2):
        step({"x": ones(W), "id": ones(W)})


def optional_mended_none():
    step = jax.jit(lambda batch: square(batch["x"]))
    for _ in range(2):
        step({"x": ones(W)})


def optional_accident_none():
    step = jax.jit(lambda x, unused: square(x))
    step(ones(W), ones(3))
    step(ones(W), None)  # <- here


def unused_accident():
    step = jax.jit(lambda x, unused: square(x))
    step(ones(W), ones(3))
    step(ones(W), ones(5))  # <- here


def unused_mended_one_shape():
    step = jax.jit(lambda x, unused: square(x))
    step(ones(W), ones(3))
    step(ones(W), ones(3))


def unused_mended_left_out():
    step = jax.jit(lambda x: square(x))
    for _ in range(2):
        step(ones(W))


@jax.tree_util.register_pytree_node_class
class State:
    """As flax's TrainState: arrays, and what is static."""

    def __init__(self, w, apply):
        self.w, self.apply = w, apply

    def tree_flatten(self):
        return (self.w,), self.apply

    @classmethod
    def tree_unflatten(cls, apply, children):
        return cls(*children, apply)


@jax.jit
def of_a_state(state):
    return state.apply(state.w)


def held_accident():
    for _ in range(2):
        of_a_state(State(ones(W), lambda x: square(x) * 3))  # <- here


def held_mended():
    def apply(x):
        return square(x) * 3

    for _ in range(2):
        of_a_state(State(ones(W), apply))


class Bare:
    rate = 0.5


@dataclasses.dataclass(frozen=True)
class Comparable:  # with __eq__ and __hash__
    rate: float = 0.5


@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights"], meta_fields=["round"])
@dataclasses.dataclass
class Rounds:
    weights: np.ndarray
    round: int


@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights", "round"],
                   meta_fields=[])
@dataclasses.dataclass
class CountedRounds:
    weights: np.ndarray
    round: np.ndarray


@jax.jit
def step_of_rounds(state, x):
    return (x * state.weights).sum()


def metadata_accident():
    for number in range(4):
        step_of_rounds(Rounds(ones(W), number), ones(8, W))  # <- here


def metadata_mended():
    for number in range(4):
        step_of_rounds(CountedRounds(ones(W), np.int32(number)), ones(8, W))


@jax.jit
def of_a_kernel(x):
    from jax.experimental import pallas

    def kernel(x, out):
        out[...] = x[...] * 2

    return pallas.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)


def imported_accident():
    for _ in range(3):
        of_a_kernel(ones(W))  # <- here


def imported_mended():
    import jax.experimental.pallas.fuser  # noqa: F401
    for _ in range(3):
        of_a_kernel(ones(W))


def static_object_accident():
    step = jax.jit(lambda x, config: square(x) * config.rate, static_argnames="config")
    for _ in range(2):
        step(ones(W), config=Bare())  # <- here


def static_object_mended_once():
    step = jax.jit(lambda x, config: square(x) * config.rate, static_argnames="config")
    config = Bare()
    for _ in range(2):
        step(ones(W), config=config)


def static_object_mended_equal():
    step = jax.jit(lambda x, config: square(x) * config.rate, static_argnames="config")
    for _ in range(2):
        step(ones(W), config=Comparable())


def static_function_accident_lambda():
    step = jax.jit(lambda x, function: function(x) + 1, static_argnums=1)
    for _ in range(2):
        step(ones(W), lambda x: square(x))  # <- here


def scaled(x, scale):
    return square(x) * scale


def static_function_accident_partial():
    step = jax.jit(lambda x, function: function(x) + 1, static_argnums=1)
    for _ in range(2):
        step(ones(W), functools.partial(scaled, scale=11.0))  # <- here


def static_function_mended():
    step = jax.jit(lambda x, function: function(x) + 1, static_argnums=1)
    function = functools.partial(scaled, scale=11.0)
    for _ in range(2):
        step(ones(W), function)


def static_value_accident():
    step = jax.jit(lambda x, number: square(x) * 13, static_argnames="number")
    for number in (1, 2):
        step(ones(W), number=number)  # <- here


def static_value_mended_left_out():
    step = jax.jit(lambda x: square(x) * 13)
    for _ in range(2):
        step(ones(W))


def static_value_mended_array():
    step = jax.jit(lambda x, number: square(x) * 13)
    for number in (1, 2):
        step(ones(W), jnp.asarray(number))


def passing_accident_default():
    step = jax.jit(lambda x, train=False: square(x) * (1 if train else 2), static_argnames="train")
    step(ones(W))
    step(ones(W), train=False)  # <- here


def passing_accident_name():
    step = jax.jit(lambda x, y: square(x) + square(y))
    step(ones(W), ones(3))
    step(ones(W), y=ones(3))  # <- here


def passing_mended_name():
    step = jax.jit(lambda x, train=False: square(x) * (1 if train else 2), static_argnames="train")
    for _ in range(2):
        step(ones(W), train=False)


def passing_mended_position():
    step = jax.jit(lambda x, train=False: square(x) * (1 if train else 2), static_argnames="train")
    for _ in range(2):
        step(ones(W), False)


def passing_mended_default():
    step = jax.jit(lambda x, train=False: square(x) * (1 if train else 2), static_argnames="train")
    for _ in range(2):
        step(ones(W))


@jax.jit
def of_a_setting(x):
    return square(x) * 19


def config_accident():
    for promotion in ("standard", "strict"):
        with jax.numpy_dtype_promotion(promotion):
            of_a_setting(ones(W))  # <- here


def config_mended():
    with jax.numpy_dtype_promotion("strict"):
        for _ in range(2):
            of_a_setting(ones(W))


@dataclasses.dataclass(frozen=True)
class Named:
    name: str
    rate: float = 0.5


def same_function_accident():
    step = jax.jit(lambda x, config: square(x) * config.rate, static_argnames="config")
    for name in ("first", "second"):
        step(ones(W), config=Named(name))  # <- here


def same_function_mended_once():
    step = jax.jit(lambda x, config: square(x) * config.rate, static_argnames="config")
    config = Named("first")
    for _ in range(2):
        step(ones(W), config=config)


def same_function_mended_equal():
    step = jax.jit(lambda x, config: square(x) * config.rate, static_argnames="config")
    for _ in range(2):
        step(ones(W), config=Named("first"))


def retrace_accident_above():
    for _ in range(2):
        step = jax.jit(functools.partial(scaled, scale=3.0))
        step(ones(W))  # <- here


def doubled(x, scale):
    return square(x) * scale + x


def retrace_accident_in_one_line():
    for _ in range(2):
        jax.jit(functools.partial(doubled, scale=2.0))(ones(W))  # <- here


def retrace_mended_in_one_line():
    step = jax.jit(functools.partial(doubled, scale=2.0))
    for _ in range(2):
        step(ones(W))


@jax.jit
def of_an_array(x):
    return square(x) * 5


def cleared_accident():
    of_an_array(ones(W))
    jax.clear_caches()
    of_an_array(ones(W))  # <- here


@jax.jit
def of_another_array(x):
    return square(x) * 6


def cleared_accident_own():
    of_another_array(ones(W))
    of_another_array.clear_cache()
    of_another_array(ones(W))  # <- here


def cleared_mended():
    for _ in range(2):
        of_an_array(ones(W))


# ---- loops outside jit -------------------------------------------------------------------------


def rollout(w, state):
    def body(state, _):
        state = jnp.tanh(state @ w)
        return state, state.sum()
    return lax.scan(body, state, None, length=5)


def loose_loop_accident():
    for _ in range(3):
        rollout(ones(W, W), ones(W))  # <- here


def loose_loop_accident_while():
    for _ in range(3):
        lax.while_loop(lambda x: x < W, lambda x: x + 2, jnp.float32(0))  # <- here


def loose_loop_mended_jitted():
    jitted = jax.jit(rollout)
    for _ in range(3):
        jitted(ones(W, W), ones(W))


def double(state, _):
    return state * 2, state.sum()


def loose_loop_mended_once():
    for _ in range(3):
        lax.scan(double, ones(W), None, length=5)


for name in sys.argv[1:]:
    globals()[name]()
    W += 1
