"""Functions of jax.numpy and jax.nn, on a vector, a matrix, or two of them."""

from plan import Recipe

IMPORTS = ""

VECTOR = "x: f32[n]"
MATRIX = "x: f32[n,4]"
INTEGERS = "x: i32[n]"
PAIR = "x: f32[n,4]; y: f32[n,4]"

BODIES = {
    VECTOR: """
        sort: jnp.sort(x)
        sort_down: jnp.sort(x, descending=True)
        argsort: jnp.argsort(x)
        cumsum: jnp.cumsum(x)
        cumprod: jnp.cumprod(x)
        cummax: jax.lax.cummax(x)
        diff: jnp.diff(x, prepend=0.0)
        roll: jnp.roll(x, 2)
        flip: jnp.flip(x)
        median: jnp.median(x)
        percentile: jnp.percentile(x, 30.0)
        quantile: jnp.quantile(x, jnp.array([0.25, 0.75]))
        nanmean: jnp.nanmean(x)
        histogram: jnp.histogram(x, bins=5, range=(0.0, 1.0))[0]
        searchsorted: jnp.searchsorted(jnp.linspace(0, 1, 6), x)
        digitize: jnp.digitize(x, jnp.array([0.2, 0.4, 0.6]))
        interp: jnp.interp(x, jnp.linspace(0, 1, 6), jnp.arange(6.0))
        outer: jnp.outer(x, x)
        vander: jnp.vander(x, 3)
        diag: jnp.diag(x)
        tri: x[:, None] * jnp.tri(x.shape[0])
        pad: jnp.pad(x, 2)
        pad_reflect: jnp.pad(x, 1, mode='reflect')
        pad_edge: jnp.pad(x, (0, 3), mode='edge')
        pad_wrap: jnp.pad(x, 2, mode='wrap')
        repeat: jnp.repeat(x, 2)
        repeat_total: jnp.repeat(x, jnp.arange(x.shape[0]) % 3, total_repeat_length=10)
        tile: jnp.tile(x, 3)
        convolve: jnp.convolve(x, jnp.array([1.0, 2.0, 1.0]), mode='same')
        convolve_full: jnp.convolve(x, jnp.array([1.0, 2.0]))
        correlate: jnp.correlate(x, jnp.array([1.0, 2.0, 1.0]), mode='same')
        unique: jnp.unique(x, size=4, fill_value=0)
        nonzero: jnp.nonzero(x > 0.5, size=3)[0]
        where: jnp.where(x > 0.5, x, 0.0)
        argmax: jnp.argmax(x)
        max_minus_min: jnp.max(x) - jnp.min(x)
        ptp: jnp.ptp(x)
        var: jnp.var(x)
        std: jnp.std(x, ddof=1)
        trapezoid: jnp.trapezoid(x)
        gradient: jnp.gradient(x)
        fft: jnp.abs(jnp.fft.fft(x))
        rfft: jnp.abs(jnp.fft.rfft(x))
        irfft: jnp.fft.irfft(jnp.fft.rfft(x), x.shape[0])
        fftshift: jnp.fft.fftshift(x)
        logsumexp: jax.nn.logsumexp(x)
        softmax: jax.nn.softmax(x)
        log_softmax: jax.nn.log_softmax(x)
        standardize: jax.nn.standardize(x)
        gelu: jax.nn.gelu(x)
        silu: jax.nn.silu(x)
        top_k: jax.lax.top_k(x, 2)
        pairwise: jnp.abs(x[:, None] - x[None, :])
        shifted: x.at[1:].add(-x[:-1])
        set_first: x.at[0].set(1.0)
        every_other: x[::2].sum()
        last: x[-1] * 2
        normalised: x / jnp.linalg.norm(x)
        weights_of_rank: x * jnp.arange(x.shape[0])
        reversed_cumsum: jnp.cumsum(x[::-1])[::-1]
        moving_average: jnp.convolve(x, jnp.ones(3) / 3, mode='valid')
        split_in_half: x[:x.shape[0] // 2].sum() - x[x.shape[0] // 2:].sum()
        nan_to_num: jnp.nan_to_num(x)
        polyval: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x)
        clip: jnp.clip(x, 0.2, 0.6)
        round: jnp.round(x, 1)
        partition: jnp.partition(x, 2)
        select: jnp.select([x > 0.5, x > 0.2], [x, -x], 0.0)
        piecewise: jnp.piecewise(x, [x < 0.5], [lambda v: v * 2, lambda v: v + 1])
        corrcoef: jnp.corrcoef(x, x[::-1])
        ema: jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x * 0 + 0.9, x * 0.1))[1]
        blackman: x * jnp.blackman(x.shape[0])
        geomspace: x * jnp.geomspace(1.0, 2.0, x.shape[0])
        linspace: x * jnp.linspace(0.0, 1.0, x.shape[0])
    """,
    INTEGERS: """
        bincount: jnp.bincount(x, length=4)
        one_hot: jax.nn.one_hot(x, 4)
        take: jnp.take(jnp.arange(5.0), x)
        cumsum_int: jnp.cumsum(x)
        mod: x % 3
        floor_divide: x // 2
        power: x ** 2
        mean_of_int: jnp.mean(x)
        sort_int: jnp.sort(x)
        isin: jnp.isin(x, jnp.array([1, 2]))
        shift_left: x << 1
        equal_pairs: (x[:, None] == x[None, :]).sum()
        float_of_int: x.astype(jnp.float32) / x.shape[0]
        segment_sum: jax.ops.segment_sum(jnp.ones(x.shape[0]), x, 3)
        segment_max: jax.ops.segment_max(jnp.arange(x.shape[0]), x, 3)
        unique_counts: jnp.unique(x, size=3, return_counts=True)[1]
        popcount: jax.lax.population_count(x)
        argmin_int: jnp.argmin(x)
        scatter_counts: jnp.zeros(4, jnp.int32).at[x].add(1)
        gather_positions: jnp.arange(12).reshape(4, 3)[x]
    """,
    MATRIX: """
        matmul: x @ jnp.ones((4, 3))
        gram: x.T @ x
        outer_gram: x @ x.T
        einsum_trace: jnp.einsum('ij,ij->', x, x)
        einsum_rows: jnp.einsum('ij,kj->ik', x, x)
        mean_rows: x.mean(0)
        mean_columns: x.mean(1)
        mean_all: x.mean()
        var_rows: x.var(0)
        centred: x - x.mean(0)
        cov: jnp.cov(x.T)
        norm_rows: jnp.linalg.norm(x, axis=1)
        sort_rows: jnp.sort(x, axis=0)
        argsort_rows: jnp.argsort(x, axis=0)
        lexsort: jnp.lexsort((x[:, 0], x[:, 1]))
        cumsum_rows: jnp.cumsum(x, axis=0)
        argmax_rows: jnp.argmax(x, axis=0)
        argmax_columns: jnp.argmax(x, axis=1)
        concat: jnp.concatenate([x, x * 2])
        concat_columns: jnp.concatenate([x, x * 2], axis=1)
        stack: jnp.stack([x, -x])
        vstack: jnp.vstack([x, jnp.ones((1, 4))])
        reshape: x.reshape(-1)
        reshape_rows: x.reshape(x.shape[0], 2, 2).sum(1)
        transpose: x.T * 1.5
        swap: jnp.swapaxes(x, 0, 1) + 1
        moveaxis: jnp.moveaxis(x, 0, 1) * 2
        rot90: jnp.rot90(x)
        flip_rows: jnp.flip(x, 0)
        roll_rows: jnp.roll(x, 1, axis=0)
        tile_rows: jnp.tile(x, (2, 1))
        repeat_rows: jnp.repeat(x, 2, axis=0)
        triu: jnp.triu(x)
        tril_square: jnp.tril(x @ x.T)
        trace: jnp.trace(x)
        diagonal: jnp.diagonal(x)
        first_row: x[0] * 2
        last_row: x[-1] * 2
        last_two: x[-2:].sum(0)
        without_last: x[:-1] + 1
        every_other_row: x[::2] * 3
        masked: jnp.where(x > 0.3, x, -jnp.inf).max(0)
        softmax_rows: jax.nn.softmax(x, axis=-1)
        softmax_columns: jax.nn.softmax(x, axis=0)
        logsumexp_rows: jax.nn.logsumexp(x, axis=0)
        median_rows: jnp.median(x, axis=0)
        quantile_rows: jnp.quantile(x, 0.5, axis=0)
        distances: jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
        nearest: jnp.argmin(((x[:, None] - jnp.ones((3, 4))) ** 2).sum(-1), axis=1)
        apply_along: jnp.apply_along_axis(jnp.sort, 0, x)
        take_along: jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
        top_k_rows: jax.lax.top_k(x, 2)[0]
        fft2: jnp.abs(jnp.fft.fft2(x))
        rfft_rows: jnp.abs(jnp.fft.rfft(x, axis=0))
        kron: jnp.kron(x, jnp.eye(2))
        tensordot: jnp.tensordot(x, x, axes=([0], [0]))
        pad_rows: jnp.pad(x, ((1, 0), (0, 0)))
        pad_symmetric: jnp.pad(x, ((1, 1), (0, 0)), mode='symmetric')
        set_rows: x.at[:2].set(0.0)
        add_at: x.at[jnp.array([0, 1])].add(1.0)
        mean_of_positive: jnp.sum(x * (x > 0)) / jnp.maximum((x > 0).sum(), 1)
        positions: x + jnp.arange(x.shape[0])[:, None] / 10000
        standard: (x - x.mean(0)) / (x.std(0) + 1e-6)
        vmap_sum: jax.vmap(jnp.sum)(x)
        vmap_sort: jax.vmap(jnp.sort)(x)
        vmap_outer: jax.vmap(jnp.outer)(x, x)
        grad_sum: jax.grad(lambda x: (x ** 3).sum())(x)
        grad_mean: jax.grad(lambda x: (x ** 2).mean())(x)
        grad_norm: jax.grad(lambda x: jnp.linalg.norm(x))(x)
        grad_softmax: jax.grad(lambda x: jax.nn.log_softmax(x)[:, 0].mean())(x)
        grad_max: jax.grad(lambda x: x.max(1).sum())(x)
        grad_max_rows: jax.grad(lambda x: x.max(0).sum())(x)
        grad_sort: jax.grad(lambda x: (jnp.sort(x, 0) * jnp.arange(4)).sum())(x)
        grad_cumsum: jax.grad(lambda x: (jnp.cumsum(x, 0) ** 2).sum())(x)
        grad_last: jax.grad(lambda x: (x[-1] ** 2).sum())(x)
        grad_var: jax.grad(lambda x: x.var(0).sum())(x)
        grad_pairs: jax.grad(lambda x: ((x[:, None] - x[None]) ** 2).sum(-1).max())(x)
        hessian_diag: jax.vmap(jax.hessian(lambda v: (v ** 3).sum()))(x)
        jacobian: jax.jacobian(lambda x: (x ** 2).sum(0))(x)
        jvp: jax.jvp(jnp.sin, (x,), (x,))[1]
        checkpointed: jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum()))(x)
    """,
    PAIR: """
        add: x + y
        mse: jnp.mean((x - y) ** 2)
        dot_rows: (x * y).sum(1)
        matmul_t: x @ y.T
        einsum_pair: jnp.einsum('ij,kj->ik', x, y)
        where_pair: jnp.where(x > y, x, y)
        hypot: jnp.hypot(x, y)
        concat_pair: jnp.concatenate([x, y], axis=1)
        concat_rows: jnp.concatenate([x, y])
        cosine: (x * y).sum(1) / (jnp.linalg.norm(x, axis=1) * jnp.linalg.norm(y, axis=1))
        cross_entropy: -(y * jax.nn.log_softmax(x)).sum(1).mean()
        cdist: jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1) + 1e-6)
        vmap_dot: jax.vmap(jnp.dot)(x, y)
        allclose: jnp.allclose(x, y)
        grad_pair: jax.grad(lambda x: jnp.mean((x - y) ** 2))(x)
        contrastive: -jnp.diagonal(jax.nn.log_softmax(x @ y.T)).mean()
    """,
    "x: f32[n]; y: f32[n]": """
        dot: jnp.dot(x, y)
        inner_mean: jnp.mean(x * y)
        correlation: jnp.corrcoef(x, y)[0, 1]
        auc: jnp.trapezoid(y, x)
        interp_pair: jnp.interp(jnp.linspace(0, 1, 5), x, y)
        weighted: jnp.average(x, weights=y)
        polyfit_by_hand: ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
        sort_by: y[jnp.argsort(x)]
        meshgrid: sum(jnp.meshgrid(x, y))
        convolve_pair: jnp.convolve(x, y)
        cross_difference: x[:, None] * y
    """,
    "x: f32[n,4]; labels: i32[n]": """
        pick: x[jnp.arange(x.shape[0]), labels]
        take_labels: jnp.take_along_axis(x, labels[:, None], 1)
        nll: -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()
        nll_one_hot: -(jax.nn.one_hot(labels, 4) * jax.nn.log_softmax(x)).sum(-1).mean()
        accuracy: (x.argmax(1) == labels).mean()
        top_two: (jax.lax.top_k(x, 2)[1] == labels[:, None]).any(1).mean()
        segment: jax.ops.segment_sum(x, labels, num_segments=3)
        class_means: jax.ops.segment_sum(x, labels, 3) / jnp.bincount(labels, length=3)[:, None]
        vmap_pick: jax.vmap(lambda row, at: row[at])(x, labels)
        grad_nll: jax.grad(lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean())(x)
        grad_pick: jax.grad(lambda x: (x[jnp.arange(x.shape[0]), labels] ** 2).sum())(x)
        confusion: jnp.zeros((4, 4)).at[labels, x.argmax(1)].add(1)
    """,
    "x: f32[b,l,4]": """
        mean_length: x.mean(1)
        max_length: x.max(1)
        last_step: x[:, -1] * 2
        first_step: x[:, 0] * 2
        shift_right: jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
        differences: x[:, 1:] - x[:, :-1]
        attention_scores: jax.nn.softmax(jnp.einsum('bqd,bkd->bqk', x, x))
        causal_scores: jnp.where(jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool)), jnp.einsum('bqd,bkd->bqk', x, x), -1e9)
        positions_added: x + jnp.sin(jnp.arange(x.shape[1])[:, None] / 10.0 ** jnp.arange(4))
        flatten: x.reshape(x.shape[0], -1).sum(1)
        merge: x.reshape(-1, 4) @ jnp.ones((4, 2))
        heads: x.reshape(*x.shape[:2], 2, 2).transpose(0, 2, 1, 3) * 2
        scan_time: jax.lax.scan(lambda c, v: (c + v, c), jnp.zeros(4), x[0])[1]
        vmap_scan: jax.vmap(lambda row: jax.lax.scan(lambda c, v: (c * 0.5 + v, c), jnp.zeros(4), row)[0])(x)
        vmap_vmap: jax.vmap(jax.vmap(jnp.sort))(x)
        cumsum_time: jnp.cumsum(x, axis=1)
        softmax_time: jax.nn.softmax(x, axis=1)
        layer_norm: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        batch_statistics: (x - x.mean((0, 1))) / jnp.sqrt(x.var((0, 1)) + 1e-5)
        grad_mean_length: jax.grad(lambda x: (x.mean(1) ** 2).sum())(x)
        grad_attention: jax.grad(lambda x: jax.nn.softmax(jnp.einsum('bqd,bkd->bqk', x, x)).max())(x)
        dot_product: jax.nn.dot_product_attention(x[:, :, None], x[:, :, None], x[:, :, None])
    """,
}


# Changes after which the function does not run, or reads its argument no more.
SKIP = {"unique_counts": ("n_6_1",), "trapezoid_pair": ("n_6_1",), "partition": ("n_6_1",), "gradient": ("n_6_1",),
        "top_k": ("n_6_1",), "rfft": ("f32_bf16", "f32_f16"), "irfft": ("f32_bf16", "f32_f16"),
        "take": ("i32_f32",), "bincount": ("i32_f32",), "shift_left": ("i32_f32",), "popcount": ("i32_f32",),
        "segment_sum": ("i32_f32",), "segment_max": ("i32_f32",), "scatter_counts": ("i32_f32",),
        "gather_positions": ("i32_f32",), "one_hot": ("i32_f32",), "rfft_rows": ("f32_bf16", "f32_f16"), "dot_product": ("f32_f16",)}


def recipes():
    for arguments, bodies in BODIES.items():
        for line in bodies.strip().splitlines():
            name, body = line.strip().split(": ", 1)
            # A float is not an index: labels stay integers.
            kinds = ("x",) if "labels" in arguments else None
            yield Recipe(f"jnp_{name}", arguments, body, skip=SKIP.get(name, ()), dtypes=kinds)


RECIPES = list(recipes())
