"""Numbers that Python has: a static argument, and one that a newly created function closes over."""

from plan import Recipe

IMPORTS = "import flax.linen as nn\nimport optax"

# name, data, what n takes, what it is, and the expression
NUMBERS = """
multiply          | x: f32[8]      | 0.1 -> 0.2 | constant 0.1 -> 0.2  | x * n
add               | x: f32[8]      | 1.5 -> 2.5 | constant 1.5 -> 2.5  | x + n
subtract_from     | x: f32[8]      | 3 -> 5     | constant 3 -> 5      | n - x
compare           | x: f32[8]      | 0.5 -> 0.25 | constant 0.5 -> 0.25 | jnp.where(x > n, x, 0.0)
power_float       | x: f32[8]      | 1.5 -> 2.5 | constant 1.5 -> 2.5  | x ** n
power_two_three   | x: f32[8]      | 2 -> 3     | constant 2 -> 3      | x ** n
maximum           | x: f32[8]      | 0.1 -> 0.3 | constant 0.1 -> 0.3  | jnp.maximum(x, n)
clip_high         | x: f32[8]      | 2.0 -> 5.0 | constant 2 -> 5      | jnp.clip(x, -1.0, n)
leaky             | x: f32[8]      | 0.1 -> 0.2 | constant 0.1 -> 0.2  | jax.nn.leaky_relu(x, n)
elu               | x: f32[8]      | 1.5 -> 2.0 | constant 1.5 -> 2    | jax.nn.elu(x, n)
full_value        | x: f32[8]      | 2.0 -> 3.0 | constant 2 -> 3      | x + jnp.full(8, n)
where_fill        | x: f32[8]      | -1.0 -> -2.0 | constant -1 -> -2  | jnp.where(x > 0, x, n)
masked_fill       | x: f32[8]      | -1e9 -> -1e4 | constant -1e+09 -> -10000 | jnp.where(x > 0, x, n)
pad_value         | x: f32[8]      | 1.0 -> 2.0 | constant 1 -> 2      | jnp.pad(x, 1, constant_values=n)
ridge             | x: f32[8,4]    | 0.1 -> 0.2 | constant 0.1 -> 0.2  | x.T @ x + n * jnp.eye(4)
l2                | x: f32[8,4]    | 0.01 -> 0.02 | constant 0.01 -> 0.02 | jnp.sum(x ** 2) * n
temperature       | x: f32[8,4]    | 0.5 -> 0.7 | constant 0.5 -> 0.7  | jax.nn.softmax(x / n)
decay             | x: f32[8]; y: f32[8] | 0.9 -> 0.99 | constant 0.9 -> 0.99 | y + n * (x - y)
remainder         | x: i32[8]      | 3 -> 5     | constant 3 -> 5      | x % n
equal             | x: i32[8]      | 1 -> 2     | constant 1 -> 2      | (x == n).sum()
shift             | x: i32[8]      | 1 -> 2     | constant 1 -> 2      | x << n
seed              | x: f32[8]      | 1 -> 2     | constant 1 -> 2      | x + jax.random.normal(jax.random.PRNGKey(n), (8,))
fold              | key: u32[2]    | 1 -> 2     | constant 1 -> 2      | jax.random.fold_in(key, n)
scan_decay        | x: f32[8]      | 0.9 -> 0.8 | constant 0.9 -> 0.8  | jax.lax.scan(lambda c, v: (c * n + v, c), 0.0, x)[1]
grad_scale        | x: f32[8]      | 0.1 -> 0.2 | constant             | jax.grad(lambda x: n * jnp.sum(x ** 3))(x)
vmap_scale        | x: f32[8,4]    | 0.1 -> 0.2 | constant 0.1 -> 0.2  | jax.vmap(lambda row: row * n)(x)
fori              | x: f32[8]      | 3 -> 5     | constant 3 -> 5      | jax.lax.fori_loop(0, n, lambda i, v: jnp.sin(v), x)
while_bound       | x: f32[8]      | 3 -> 5     | constant 3 -> 5      | jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x))[1]
scan_steps        | x: f32[8]      | 3 -> 5     | constant 3 -> 5      | jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, length=n)[0]
axis_sum          | x: f32[8,4]    | 0 -> 1     | constant             | x.sum(n)
axis_softmax      | x: f32[8,4]    | 0 -> 1     | constant             | jnp.max(x, axis=n)
row               | x: f32[8,4]    | 1 -> 3     | constant             | jax.lax.dynamic_slice_in_dim(x, n, 2)
index             | x: f32[8,4]    | 1 -> 3     | constant             | x[n] * 2
window            | x: f32[8,4]    | 1 -> 3     | constant             | x[n:n + 2] * 2
head              | x: f32[8,4]    | 3 -> 5     | size 3 -> 5          | x[:n] * 2
tail              | x: f32[8,4]    | 3 -> 5     | size 3 -> 5          | x[-n:] * 2
skip_rows         | x: f32[8,4]    | 2 -> 4     | size or constant    | x[n:] * 2
stride            | x: f32[12]     | 2 -> 3     | size or constant    | x[::n] * 2
top_k             | x: f32[8,6]    | 2 -> 3     | size 2 -> 3          | jax.lax.top_k(x, n)
arange            | x: f32[8]      | 4 -> 6     | size 4 -> 6          | x[:, None] * jnp.arange(n)
linspace          | x: f32[8]      | 4 -> 6     | size                 | x[:, None] * jnp.linspace(0.0, 1.0, n)
one_hot           | x: i32[8]      | 4 -> 6     | size 4 -> 6          | jax.nn.one_hot(x, n)
zeros             | x: f32[8]      | 3 -> 5     | size 3 -> 5          | jnp.zeros((8, n)) + x[:, None]
eye               | x: f32[8]      | 3 -> 5     | size 3 -> 5          | jnp.eye(n) * x[0]
tile              | x: f32[8]      | 2 -> 3     | size                 | jnp.tile(x, n)
repeat            | x: f32[8]      | 2 -> 3     | size                 | jnp.repeat(x, n)
broadcast         | x: f32[8]      | 3 -> 5     | size 3 -> 5          | jnp.broadcast_to(x, (n, 8)) * 2
pad               | x: f32[8]      | 2 -> 3     | size 2 -> 3          | jnp.pad(x, (0, n))
pad_both          | x: f32[8]      | 2 -> 3     | size 2 -> 3          | jnp.pad(x, n)
heads             | x: f32[8,12]   | 2 -> 3     | size                 | x.reshape(8, n, -1).sum(1)
segments          | x: f32[8]; ids: i32[8] | 3 -> 5 | size 3 -> 5      | jax.ops.segment_sum(x, ids, n)
bincount          | x: i32[8]      | 4 -> 6     | size 4 -> 6          | jnp.bincount(x, length=n)
nonzero           | x: f32[8]      | 3 -> 5     | size 3 -> 5          | jnp.nonzero(x, size=n)[0]
unique            | x: i32[8]      | 3 -> 5     | size 3 -> 5          | jnp.unique(x, size=n)
samples           | key: u32[2]    | 4 -> 6     | size 4 -> 6          | jax.random.normal(key, (n,))
split             | key: u32[2]    | 4 -> 6     | size 4 -> 6          | jax.random.split(key, n)
dropout           | key: u32[2]; x: f32[8] | 0.1 -> 0.3 | constant     | nn.Dropout(n, deterministic=False).apply({}, x, rngs={'dropout': key})
roll              | x: f32[8]      | 2 -> 3     | size or constant    | jnp.roll(x, n)
roll_rows         | x: f32[8,4]    | 1 -> 2     | size or constant    | jnp.roll(x, n, axis=0)
flag_relu         | x: f32[8]      | False -> True | structure         | jax.nn.relu(x * 2) if n else x * 2
flag_norm         | x: f32[8,4]    | True -> False | structure         | x / x.sum(1, keepdims=True) if n else x
resize            | x: f32[6,6,3]  | 9 -> 12    | size 9 -> 12         | jax.image.resize(x, (n, n, 3), 'nearest')
label_smoothing   | x: f32[8,4]    | 0.1 -> 0.2 | constant             | optax.smooth_labels(x, n)
huber             | x: f32[8]; y: f32[8] | 1.0 -> 2.0 | constant       | optax.huber_loss(x, y, delta=n)
clip_norm         | x: f32[8]      | 1.0 -> 5.0 | constant 1 -> 5      | optax.clip_by_global_norm(n).update(x, optax.EmptyState())[0]
rate              | w: f32[8]; g: f32[8] | 0.1 -> 0.01 | constant      | optax.apply_updates(w, optax.sgd(n).update(g, optax.sgd(n).init(w))[0])
layers            | x: f32[8,4]    | 2 -> 3     | structure            | functools.reduce(lambda v, _: jnp.sin(v), range(n), x)
epsilon           | x: f32[8,4]    | 1e-6 -> 1e-5 | constant 1e-06 -> 1e-05 | x / jnp.sqrt(x.var(1, keepdims=True) + n)
momentum          | x: f32[8]; m: f32[8] | 0.9 -> 0.95 | constant 0.9 -> 0.95 | m * n + x
gamma_return      | x: f32[8]      | 0.99 -> 0.95 | constant 0.99 -> 0.95 | jax.lax.scan(lambda c, r: (r + n * c, r + n * c), 0.0, x, reverse=True)[1]
quantile          | x: f32[8]      | 0.25 -> 0.75 | constant           | jnp.quantile(x, n)
percentile        | x: f32[9]      | 25 -> 75   | constant             | jnp.percentile(x, n)
noise             | key: u32[2]; x: f32[8] | 0.1 -> 0.2 | constant 0.1 -> 0.2 | x + n * jax.random.normal(key, x.shape)
iterations        | x: f32[4]      | 2 -> 4     | constant             | jax.lax.fori_loop(0, n, lambda i, v: v - 0.1 * jax.grad(lambda u: jnp.sum(u ** 2))(v), x)
conv_dilation     | x: f32[2,12,3] | 1 -> 2     | size or constant    | jax.lax.conv_general_dilated(x, jnp.ones((3, 3, 2)), (1,), 'SAME', rhs_dilation=(n,), dimension_numbers=('NHC', 'HIO', 'NHC'))
"""


def recipes():
    for line in NUMBERS.strip().splitlines():
        name, data, values, expected, body = [word.strip() for word in line.split("|", 4)]
        kind, _, sides = expected.replace(" or ", "|").partition(" ")
        yield Recipe(f"number_{name}", f"{data}; n: {values} {kind}{' ' + sides.strip() if sides else ''}", body)


RECIPES = list(recipes())
