#include "lint/words.h"

// A module's names, separated by blanks; without names: all that have no row above.
static const struct {
    const char *module;
    uint8_t word;
    const char *names;
} rows[] = {
    {"jax.", WORD_JIT, "jit pmap pjit api.jit api.pmap"},
    {"", WORD_JIT,
     "flax.nnx.jit flax.nnx.pmap flax.linen.jit haiku.jit flax.nnx.transforms.compilation.jit"},
    {"equinox.", WORD_JIT_LOOSE, "filter_jit filter_pmap internal.filter_jit"},
    {"jax.lax.", WORD_TRACE, "scan map associative_scan fori_loop while_loop cond switch"},
    {"jax.", WORD_TRACE, "shard_map experimental.pallas.pallas_call"},
    {"flax.nnx.", WORD_TRACE_LOOSE, "scan vmap while_loop fori_loop cond switch shard_map"},
    {"flax.linen.", WORD_TRACE_LOOSE, "scan vmap while_loop cond switch"},
    {"haiku.", WORD_TRACE_LOOSE, "scan vmap while_loop cond switch fori_loop layer_stack map"},
    {"equinox.", WORD_TRACE_LOOSE, "filter_vmap internal.while_loop internal.scan"},
    {"jax.", WORD_VMAP, "vmap"},
    {"jax.", WORD_WRAP,
     "grad value_and_grad checkpoint remat jacfwd jacrev hessian custom_vjp custom_jvp named_call "
     "linearize"},
    {"equinox.", WORD_WRAP,
     "filter_grad filter_value_and_grad filter_checkpoint filter_custom_vjp filter_jacfwd "
     "filter_jacrev"},
    {"flax.nnx.", WORD_WRAP, "grad value_and_grad remat checkpoint"},
    {"flax.linen.", WORD_WRAP, "remat checkpoint grad value_and_grad compact"},
    {"haiku.", WORD_WRAP, "remat grad value_and_grad"},
    {"", WORD_WRAP, "functools.wraps"},
    {"", WORD_COMPILE,
     "torch.compile torch_xla.compile torch_xla.core.xla_model.compile "
     "torch_xla.experimental.compile"},
    {"", WORD_PARTIAL, "functools.partial jax.tree_util.Partial jax.util.partial equinox.Partial"},
    {"jax.numpy.", WORD_HOST,
     "shape ndim size dtype result_type issubdtype isdtype iinfo finfo promote_types can_cast "
     "broadcast_shapes isscalar iscomplexobj isrealobj iterable get_printoptions set_printoptions "
     "array_repr array_str save savez load index_exp s_ ix_ einsum_path set_printoptions "
     "printoptions generic ndarray number integer signedinteger unsignedinteger floating inexact "
     "complexfloating flexible character object_ bool_ ufunc vectorize piecewise apply_along_axis "
     "apply_over_axes frompyfunc"},
    {"jax.numpy.", WORD_BOOLS,
     "isnan isinf isfinite isneginf isposinf logical_and logical_or logical_not logical_xor equal "
     "not_equal less less_equal greater greater_equal isclose isin in1d any all allclose "
     "array_equal array_equiv signbit"},
    {"jax.numpy.", WORD_ARRAYS,
     "split array_split hsplit vsplit dsplit meshgrid broadcast_arrays gradient histogram "
     "histogram2d histogramdd divmod frexp modf mgrid ogrid unravel_index unstack atleast_1d "
     "atleast_2d atleast_3d linalg.eigh linalg.eig linalg.svd linalg.qr linalg.slogdet "
     "linalg.lstsq polydiv polyfit tril_indices triu_indices diag_indices nonzero_static"},
    {"jax.numpy.", WORD_DYNAMIC,
     "nonzero argwhere flatnonzero unique unique_all unique_counts unique_inverse unique_values "
     "extract compress setdiff1d union1d intersect1d setxor1d bincount"},
    {"jax.numpy.", WORD_WHERE, "where"},
    {"jax.numpy.", WORD_REPEAT, "repeat"},
    {"jax.numpy.", WORD_NEW, "zeros ones full empty eye identity arange linspace"},
    {"jax.numpy.", WORD_CONVERT, "array asarray copy float32 bfloat16 float16 int32 float64"},
    {"jax.numpy.", WORD_JOIN, "concatenate append stack vstack hstack dstack concat column_stack"},
    {"jax.nn.", WORD_NOTHING, "initializers"},
    {"jax.random.", WORD_NOTHING,
     "PRNGKey key split fold_in key_data wrap_key_data clone key_impl default_prng_impl "
     "permutation"},
    {"jax.random.", WORD_DRAW, "normal uniform truncated_normal bernoulli randint gumbel"},
    {"jax.lax.", WORD_ARRAY,
     "add sub mul div rem pow neg abs exp log sin cos tanh sqrt rsqrt max min dot dot_general "
     "conv_general_dilated conv select reduce reduce_window pmean pmax pmin axis_index cumsum "
     "cumprod cummax cummin sort stop_gradient dynamic_slice dynamic_slice_in_dim "
     "dynamic_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim "
     "dynamic_update_index_in_dim gather scatter scatter_add iota broadcasted_iota "
     "broadcast_in_dim convert_element_type bitcast_convert_type integer_pow logistic erf clamp "
     "rev pad transpose squeeze expand_dims argmax argmin reduce_max reduce_min reduce_sum "
     "all_gather ppermute psum_scatter square sign floor ceil round"},
    {"jax.lax.", WORD_SUM, "psum"},
    {"jax.lax.", WORD_HOST, "axis_size"},
    {"jax.lax.", WORD_BOOLS, "eq ne lt le gt ge is_finite reduce_or reduce_and"},
    {"jax.lax.", WORD_ARRAYS, "top_k"},
    {"jax.", WORD_CONVERT, "device_put"},
    {"jax.", WORD_CONCRETE, "ensure_compile_time_eval disable_jit core.eval_context"},
    {"keras.ops.", WORD_HOST, "shape ndim size dtype is_tensor standardize_dtype"},
    {"keras.ops.", WORD_NOTHING,
     "cond scan while_loop fori_loop map switch vectorized_map custom_gradient convert_to_numpy "
     "unwrap_if_needed nn numpy core linalg image math associative_scan compute_reduce_shape "
     "any_symbolic_tensors top_k split meshgrid unstack moments slogdet eigh svd qr in_top_k"},
    {"keras.ops.", WORD_BOOLS,
     "isnan isinf isfinite logical_and logical_or logical_not equal not_equal less less_equal "
     "greater greater_equal any all isclose"},
    {"keras.ops.", WORD_DYNAMIC, "nonzero"},
    {"keras.ops.", WORD_WHERE, "where"},
    {"torch.", WORD_ARRAY,
     "zeros_like ones_like full_like empty_like rand_like randn_like from_numpy "
     "add sub mul div matmul bmm mm einsum exp log sqrt rsqrt sin cos tan tanh sigmoid relu "
     "softmax log_softmax sum mean std var prod cumsum cumprod abs neg pow clamp clip maximum "
     "minimum argmax argmin amax amin norm logsumexp argsort gather index_select take scatter "
     "scatter_add masked_fill tril triu flip roll reshape squeeze unsqueeze transpose permute "
     "flatten broadcast_to tile bitwise_and bitwise_or bitwise_not bitwise_xor floor ceil round "
     "trunc sign erf log1p expm1 log2 log10 square reciprocal remainder fmod floor_divide "
     "true_divide outer dot mv baddbmm addmm addcmul lerp cdist cosine_similarity searchsorted "
     "bucketize multinomial bernoulli normal histc diff count_nonzero nan_to_num atan2 "
     "view_as_complex view_as_real polar complex diag diagonal trace quantile layer_norm conv1d "
     "conv2d conv3d nanmean nansum logaddexp cross kron scaled_dot_product_attention rot90 "
     "special.expm1 special.logit special.expit clone detach celu elu embedding gelu silu dropout"},
    {"torch.", WORD_CONVERT, "tensor as_tensor asarray"},
    {"torch.", WORD_NEW, "zeros ones empty full rand randn arange linspace eye randperm logspace"},
    {"torch.", WORD_DRAW, "randint"},
    {"torch.", WORD_BOOLS,
     "isnan isinf isfinite eq ne lt le gt ge less less_equal greater greater_equal not_equal "
     "logical_and logical_or logical_not logical_xor any all isin isclose signbit isneginf "
     "isposinf"},
    {"torch.", WORD_ARRAYS,
     "topk sort split chunk unbind meshgrid tensor_split aminmax broadcast_tensors"},
    {"torch.", WORD_JOIN, "cat concat concatenate vstack hstack dstack stack"},
    {"torch.", WORD_DYNAMIC, "nonzero argwhere unique unique_consecutive masked_select bincount"},
    {"torch.", WORD_WHERE, "where"},
    {"torch.", WORD_REPEAT, "repeat_interleave"},
    {"torch.", WORD_LOAD, "load"},
    {"torch.nn.functional.", WORD_ARRAY,
     "relu gelu silu softmax log_softmax cross_entropy mse_loss l1_loss smooth_l1_loss nll_loss "
     "binary_cross_entropy binary_cross_entropy_with_logits kl_div linear conv1d conv2d conv3d "
     "dropout layer_norm batch_norm group_norm normalize pad interpolate embedding sigmoid tanh "
     "softplus leaky_relu elu cosine_similarity scaled_dot_product_attention max_pool2d avg_pool2d "
     "adaptive_avg_pool2d unfold fold grid_sample logsigmoid huber_loss glu rms_norm"},
    {"torch.nn.functional.", WORD_ONE_HOT, "one_hot"},
    {"torch.utils.data.", WORD_LOADER, "DataLoader dataloader.DataLoader"},
    {"torch_xla.distributed.parallel_loader.", WORD_DEVICE_LOADER, "MpDeviceLoader ParallelLoader"},
    {"torch.optim.", WORD_ADAM, "Adam AdamW adam.Adam adamw.AdamW NAdam RAdam Adamax"},
    {"torch_xla.", WORD_SYNC,
     "sync step core.xla_model.mark_step core.xla_model.optimizer_step _XLAC._xla_sync_multi"},
    {"numpy.", WORD_NUMPY_READ, "asarray array"},
    {"numpy.", WORD_NEW, "zeros ones full empty eye"},
    {"numpy.", WORD_NUMPY, "arange linspace where repeat"},
    {"numpy.", WORD_LOAD, "load loadtxt genfromtxt fromfile memmap"},
    {"numpy.", WORD_JOIN, "append concatenate vstack hstack stack"},
    {"numpy.random.", WORD_DRAW, "rand randn normal uniform randint random"},
    {"math.", WORD_HOST, "pi inf e tau nan prod"},
    {"", WORD_MODULE,
     "flax.linen.Module flax.nnx.Module haiku.Module equinox.Module keras.Layer keras.layers.Layer "
     "keras.layers.layer.Layer keras.Model flax.linen.module.Module flax.nnx.module.Module"},
    {"jax.numpy.", WORD_ARRAY, NULL},
    {"jax.numpy.linalg.", WORD_ARRAY, NULL},
    {"jax.numpy.fft.", WORD_ARRAY, NULL},
    {"jax.scipy.special.", WORD_ARRAY, NULL},
    {"jax.nn.", WORD_ARRAY, NULL},
    {"jax.random.", WORD_ARRAY, NULL},
    {"keras.ops.", WORD_ARRAY, NULL},
    {"numpy.", WORD_NUMPY, NULL},
    {"numpy.linalg.", WORD_NUMPY, NULL},
    {"numpy.random.", WORD_NUMPY, NULL},
    {"math.", WORD_MATH, NULL},
};

static bool has_name(const char *names, keel_str_t name) {
    for (const char *at = names; (at = strstr(at, name.data)); at += name.size)
        if ((at == names || at[-1] == ' ') && (at[name.size] == ' ' || !at[name.size])) return true;
    return false;
}

// Modules that a library keeps its parts in.
static keel_str_t without_private(keel_str_t name, char *memory, size_t capacity) {
    static const struct {
        const char *long_form, *form;
    } forms[] = {{"jax._src.", "jax."},
                 {"keras.src.", "keras."},
                 {"jax.experimental.pjit.", "jax."},
                 {"jax.experimental.shard_map.", "jax."},
                 {"jax.ad_checkpoint.", "jax."},
                 {"haiku._src.", "haiku."},
                 {"equinox._jit.", "equinox."}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
        keel_str_t from = keel_str(forms[i].long_form), to = keel_str(forms[i].form);
        if (!keel_str_starts(name, from)) continue;
        keel_str_t rest = {name.data + from.size, name.size - from.size};
        if (to.size + rest.size > capacity) return name;
        memcpy(memory, to.data, to.size);
        memcpy(memory + to.size, rest.data, rest.size);
        return (keel_str_t){memory, to.size + rest.size};
    }
    return name;
}

word_t keel_lint_word(keel_str_t name) {
    enum { LONGEST = 128 };
    char memory[LONGEST], text[LONGEST];
    name = without_private(name, memory, sizeof memory);
    if (name.size >= LONGEST) return WORD_NOTHING;
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_str_t module = keel_str(rows[i].module);
        if (!keel_str_starts(name, module)) continue;
        keel_str_t rest = {text + module.size, name.size - module.size};
        bool is_it = rows[i].names ? rest.size && has_name(rows[i].names, rest)
                                   : !memchr(rest.data, '.', rest.size);
        if (is_it) return (word_t)rows[i].word;
    }
    return WORD_NOTHING;
}
