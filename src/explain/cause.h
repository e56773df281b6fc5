// cause: every reason why a program is compiled again, in one table. docs/causes/ has a page for
// each, named by its word.
#ifndef KEEL_EXPLAIN_CAUSE_H_
#define KEEL_EXPLAIN_CAUSE_H_

#include "base/base.h"

// The questions at the head of a report.
#define KEEL_QUESTIONS(X)                                                                          \
    X(SHAPES, "Did input shapes change?")                                                          \
    X(POLICY, "Did the profile or SPMD policy change?")                                            \
    X(BRANCH, "Did a branch become active?")

// What people write their programs with; what the advice is for.
typedef enum keel_framework {
    KEEL_FRAMEWORK_JAX,
    KEEL_FRAMEWORK_TORCH,
    KEEL_FRAMEWORK_C, // keel/tensor.h
    KEEL_FRAMEWORK_COUNT,
} keel_framework_t;

// enum, word, question (or NONE), sentence, advice for JAX, for PyTorch/XLA, in C
#define KEEL_CAUSES(X)                                                                             \
    X(SHAPE, "shape", SHAPES, "an argument changed shape",                                         \
      "Pad to a fixed shape and mask, or drop the short batch.",                                   \
      "Pad to a fixed shape and mask, or set drop_last=True in the loader.",                       \
      "Pad it to a fixed shape with a mask: keel_batch_next does both.")                           \
    X(DTYPE, "dtype", SHAPES, "an argument changed dtype",                                         \
      "Convert where the data is made: jnp.asarray(x, dtype).",                                    \
      "Convert where the data is made: x.to(dtype) before it goes to the device.",                 \
      "keel_cast where the data is made, or declare the input with one dtype.")                    \
    X(WEAK_TYPE, "weak_type", SHAPES,                                                              \
      "a Python number was passed instead of an array, or the reverse",                            \
      "Pass jnp.asarray(x, dtype) every time, never a bare Python number.",                        \
      "Pass a tensor every time, never a bare Python number.",                                     \
      "Pass a tensor of one dtype every time.")                                                    \
    X(ARGUMENTS, "arguments", SHAPES, "arguments were added or removed",                           \
      "Always pass the same keys and list lengths; zeros or ones if one is missing.",              \
      "Always pass the same keys and list lengths; zeros or ones if one is missing.",              \
      "Use the same variables and inputs in every step; keel_batch_next fills in what is "         \
      "missing.")                                                                                  \
    X(CONSTANT, "constant", NONE, "a host value is baked into the program",                        \
      "Pass it as an array argument instead of closing over it or marking it static.",             \
      "Make it a tensor of one dimension on the device, made once; update that in place.",         \
      "keel_number instead of keel_constant, or a variable that the step updates.")                \
    X(STRUCTURE, "structure", BRANCH, "different operations were traced",                          \
      "Choose on the device: jnp.where, lax.cond, fori_loop up to an array; or keep the choice "   \
      "fixed.",                                                                                    \
      "Choose on the device: torch.where, never .item() in an if; or keep the choice fixed.",      \
      "Choose on the device: keel_select or keel_cond; or keep the choice fixed.")                 \
    X(GRADIENT, "gradient", BRANCH,                                                                \
      "gradients are created in one program and added to in the other",                            \
      "Start from zeros_like(params), so that every micro-step adds.",                             \
      "p.grad = zeros first, zero_grad(set_to_none=False), then sync if each micro-step syncs.",   \
      "Let the optimizer sum gradients (keel_minimize_over, `every`), from zeros on.")             \
    X(SIZE, "size", NONE, "a size inside the program depends on a host value",                     \
      "A host number decides it: keep it the same, or one of few; or take the largest and mask "   \
      "(size=, k).",                                                                               \
      "Bound it: torch.where with a mask instead of x[mask], nonzero or a varying slice.",         \
      "A number of C shapes the program: keep it the same, or take the largest and a mask.")       \
    X(EDIT, "edit", NONE, "the source was edited after the run it is compared with",               \
      "Nothing to do: edited source is a new program, compiled once.",                             \
      "Nothing to do: edited source is a new program, compiled once.",                             \
      "Nothing to do: edited source is a new program, compiled once.")                             \
    X(NESTED_JIT, "nested_jit", NONE,                                                              \
      "jax.jit was added around a function traced inside another one, or removed",                 \
      "The operations are the same: keep jax.jit on that function in every call, or in none.",     \
      "The operations are the same: keep the function's wrappers the same in every call.",         \
      "Keep the same bodies in every step.")                                                       \
    X(SHARDING, "sharding", POLICY, "a value is sharded differently",                              \
      "Give in_shardings and out_shardings, or jax.device_put each input to one sharding.",        \
      "Mark every input with the same sharding (xs.mark_sharding) before the first step.",         \
      "Give each variable and input one spec, from the start: KEEL_SPEC.")                         \
    X(DONATION, "donation", NONE, "different arguments are donated",                               \
      "Jit the function once, with one donate_argnums, where it is defined.",                      \
      "Update the same tensors in place in every step; keep no references to old ones.",           \
      "Assign the same variables in every step.")                                                  \
    X(LAYOUT, "layout", POLICY, "a value has a different memory layout",                           \
      "Ask for no layout, or for the same Layout in every call and for the data too.",             \
      "Make inputs contiguous in one memory format before they go to the device.",                 \
      "Nothing to do in C: data is row-major. Look at the plugin's options.")                      \
    X(PRECISION, "precision", POLICY, "matrix products use a different precision",                 \
      "Keep precision= at this line the same, or set jax_default_matmul_precision once, first.",   \
      "Call torch_xla.backends.set_mat_mul_precision once, before the first step.",                \
      "Keep the precision of products the same in every step.")                                    \
    X(OPTION, "option", POLICY, "a compile option has a different value",                          \
      "Pass the same compiler_options and config values to each jit.",                             \
      "Keep the options that are passed to compile the same in all runs.",                         \
      "Keep the options of the context the same in all runs.")                                     \
    X(FLAG, "flag", POLICY, "a flag in the environment has a different value",                     \
      "Set XLA_FLAGS and LIBTPU_INIT_ARGS in one place for all runs.",                             \
      "Set XLA_FLAGS and LIBTPU_INIT_ARGS in one place for all runs.",                             \
      "Set XLA_FLAGS and LIBTPU_INIT_ARGS in one place for all runs.")                             \
    X(BACKEND, "backend", POLICY, "the plugin, its platform or the host changed",                  \
      "Expected once after an upgrade or a move; pin versions to keep the cache.",                 \
      "Expected once after an upgrade or a move; pin versions to keep the cache.",                 \
      "Expected once after an upgrade or a move; pin versions to keep the cache.")                 \
    X(DEVICES, "devices", POLICY, "the set of devices changed",                                    \
      "Run with the same devices and hosts; a new set compiles once and loads after that.",        \
      "Run with the same devices and hosts; a new set compiles once and loads after that.",        \
      "Run with the same devices and hosts; a new set compiles once and loads after that.")        \
    X(HOST_READ, "host_read", NONE, "a mid-step read by the host splits the step",                 \
      "Read after the step, and not in every one: each read waits for the device.",                \
      "Keep it on the device; read it after the step's sync, and only every N steps.",             \
      "keel_keep it and read it after keel_step_end, and only every N steps.")                     \
    X(RETRACE, "retrace", NONE, "the client asked again for a program that has not changed",       \
      "Jit the function once and keep it; no jax.jit, lambda, partial or jax.clear_caches() in "   \
      "the loop.",                                                                                 \
      "Call torch_xla.compile once, outside the loop; keep inputs alike in grad mode and "         \
      "sharding.",                                                                                 \
      "Create the context once: its programs are forgotten with it.")                              \
    X(CACHE, "cache", NONE, "the program is unchanged, but its stored executable is missing",      \
      "See `keel cache stat`; raise cache_limit if it was evicted.",                               \
      "See `keel cache stat`; raise cache_limit if it was evicted.",                               \
      "See `keel cache stat`; raise cache_limit if it was evicted.")                               \
    X(FIRST, "first", NONE, "the first program of its kind",                                       \
      "Nothing to do: every program is compiled once.",                                            \
      "Nothing to do: every program is compiled once.",                                            \
      "Nothing to do: every program is compiled once.")

// How a cause came about, if that is known: the note that says so, and the advice for that case.
#define KEEL_NOTES(X)                                                                              \
    X(STATE_MADE, "the optimizer created this state in its first step",                            \
      "Create it before the first step: fill optimizer.state[p] for each parameter, then sync.")   \
    X(REPLACED, "it was replaced by a tensor that the optimizer does not update",                  \
      "Use load_state_dict without assign=True, or create the optimizer after it.")                \
    X(ABANDONED, "what it updates is used no more: the model got other tensors in its place",      \
      "Use load_state_dict without assign=True, or create the optimizer after it.")                \
    X(IDLE, "its step does nothing, as if it were skipped",                                        \
      "If you do not skip it: create the optimizer after load_state_dict(assign=True).")           \
    X(FROZEN, "the optimizer skips tensors that have no gradient: frozen, or not used",            \
      "Each set of frozen tensors is a program, compiled once: change requires_grad rarely.")      \
    X(TURNS, "the tensors that are updated take turns: two optimizers share a sync",               \
      "Each is compiled once; give each optimizer's step a sync on a line of its own.")            \
    X(EVALUATED, "only one of the two calls backward(): training and evaluation share a line",     \
      "Each is compiled once; sync the evaluation on a line of its own, to tell them apart.")      \
    X(MERGED, "equal numbers of the host are one argument, and two became equal or differ now",    \
      "Make one of them a tensor of one dimension on the device, made once; update that in "       \
      "place. A rate of Adam's needs capturable=True then.")                                       \
    X(SETTING, "the operation takes it as a number only, never as a tensor",                       \
      "Keep it fixed: each value is a program, compiled once; or write it with operations on "     \
      "tensors.")                                                                                  \
    X(NOUGHT, "PyTorch/XLA writes 0 and 1 into the program and passes any other number",           \
      "Use neither 0 nor 1 (1.001), or the same number in every call; or write it with "           \
      "operations on tensors.")                                                                    \
    X(AXIS, "an axis is part of the program, and cannot be an array",                              \
      "Keep it fixed: each axis is its own program, compiled once; or jit a function for each.")   \
    X(STEPPED, "only one of the two calls optimizer.step(): each micro-batch has a sync",          \
      "Each is compiled once; sync after optimizer.step() only, if the micro-batches fit.")        \
    X(CAST, "only one of the two converts it to another dtype: autocast, or a cast",               \
      "Use autocast, or the cast, in every call or in none: each choice is a program.")            \
    X(KEPT, "only one of the two keeps it past its step",                                          \
      "Keep it in every step, or in none: drop it before the sync (del), or make it after one.")   \
    X(COPIED, "another tensor was copied into it as part of the recorded step",                    \
      "Keep what you load on the host (value.cpu()): then loading it compiles nothing.")           \
    X(NARROWED, "XLA_USE_BF16 or XLA_DOWNCAST_BF16 is set, which makes bfloat16 of float32",       \
      "Set it in all runs or in none; better unset it, and convert the model: "                    \
      "model.to(torch.bfloat16).")                                                                 \
    X(SCALAR_SENT, "a number that the host sent is never donated, one that a step computed is",    \
      "Give it one dimension, torch.tensor([x]), or compute it on the device: else step 2 "        \
      "compiles once more.")                                                                       \
    X(NOT_ZEROED, "nothing zeroes it, because the optimizer holds other tensors",                  \
      "Use load_state_dict without assign=True, or create the optimizer after it.")                \
    X(ENDLESS, "no step ever ends, so each host read runs all of it again",                        \
      "End each step with torch_xla.sync(); read after it.")                                       \
    X(READ_BACK, "the host read this number, and it is a constant of the next program",            \
      "Leave it on the device, in one dimension: x.index_select(0, i) instead of x[i].")           \
    X(GROWN, "it grows because something is appended to it",                                       \
      "Allocate the full length once, and write at an index: index_copy_.")                        \
    X(COUNTED, "the host reads a mask here to count what it selects",                              \
      "Keep the full size: torch.where with the mask instead of x[mask] or nonzero.")              \
    X(COMMITTED, "jax.device_put commits an array to its device",                                  \
      "Place it the same way in every call: jax.device_put before the first one, or never.")       \
    X(MEMORY, "it is in another memory: memory_kind",                                              \
      "Keep it in one memory from the start: jax.device_put with one memory_kind before "          \
      "the first call.")                                                                           \
    X(OTHER_DEVICE, "a program is compiled for each device that holds its inputs",                 \
      "Keep the inputs on one device: jax.device_put(x, jax.devices()[0]) in every call; or make " \
      "one call of all devices, with inputs sharded over a mesh.")                                 \
    X(GENERATOR, "random numbers come from a different generator",                                 \
      "Use one generator for all keys: set jax_default_prng_impl once at the start, or pass the "  \
      "same impl=.")                                                                               \
    X(KEY_STYLE, "jax.random.key makes a typed key, jax.random.PRNGKey a raw one",                 \
      "Make all keys the same way: jax.random.key.")                                               \
    X(DRAWN, "only one of the two programs draws random numbers: dropout, noise",                  \
      "Training and evaluation are two programs, each compiled once: jit a function for each. "    \
      "If it should not change, keep the flag fixed.")                                             \
    X(DROPOUT, "only one of the two draws random numbers: dropout in training mode, or noise",     \
      "Training and evaluation are two programs, each compiled once. If it should not change, "    \
      "keep the mode and the rates fixed.")                                                        \
    X(RECOMPUTED, "only one of the two computes activations again: gradient checkpointing",        \
      "Keep checkpointing on or off, fixed from the start: each setting is its own program.")      \
    X(REMAT, "only one of the two uses jax.checkpoint (remat), or their policies differ",          \
      "Keep the remat setting the same: each setting is its own program.")                         \
    X(LOOP, "a loop runs a different number of times",                                             \
      "Pass the bound as an array to lax.fori_loop or while_loop; a scan: pad to one length, "     \
      "mask.")                                                                                     \
    X(EAGER, "an operation outside jit is a program of its own",                                   \
      "Run what makes these arrays under one jit: params = jax.jit(init)(key).")                   \
    X(RESULT_TREE, "the function returns different containers or keys",                            \
      "Return the same containers with the same keys from every call.")                            \
    X(ARGUMENT_TREE, "the same arrays are passed under different names",                           \
      "Pass the same containers with the same keys in every call.")                                \
    X(FILTERED, "filter_jit compares everything that is not an array",                             \
      "Pass the same containers in every call; make functions, partials and settings once, "       \
      "before the loop, or give them __eq__ and __hash__; no jax.clear_caches() in the loop.")     \
    X(MODULE, "nnx.jit compares everything in a module that is not an array",                      \
      "Keep a number that changes as nnx.Variable(jnp.asarray(x)); make modules, optimizers and "  \
      "functions once, before the loop, with the same attributes and streams of random numbers.")  \
    X(NUMBER, "a number of Python's came instead of an array, or the reverse",                     \
      "Make it an array of one dtype from the start: jnp.asarray(0, jnp.int32).")                  \
    X(CONTAINER, "the same arrays came in a different container",                                  \
      "Pass the same containers in every call: convert it first, tuple(x) or dict(x).")            \
    X(OPTIONAL, "only one of the two calls passes it, and the program does not use it",            \
      "Pass it in every call or in none.")                                                         \
    X(UNUSED, "the program does not use it, but JAX compares its shape and dtype",                 \
      "Leave it out of the call, or pass it with one shape and dtype.")                            \
    X(HELD, "what it holds besides arrays is not the same object as before",                       \
      "Make functions, optimizers and settings that it holds once, before the loop, and keep "     \
      "them in what each call passes.")                                                            \
    X(METADATA, "what it holds besides arrays has another value",                                  \
      "Make that field an array among the others (data_fields), or leave it out of what the call " \
      "passes.")                                                                                   \
    X(STATIC_OBJECT, "another object of a class that has no __eq__",                               \
      "Make it once, before the loop; or give its class __eq__ and __hash__ "                      \
      "(@dataclass(frozen=True)).")                                                                \
    X(STATIC_FUNCTION, "a function or partial is static, and a different one than before",         \
      "Make it once, before the loop, and pass that one in every call.")                           \
    X(STATIC_VALUE, "a static value that changes nothing in the program",                          \
      "Leave it out of the call, or keep its value; a number: pass it as an array.")               \
    X(PASSING, "passed by name in only one of the two calls, or left to its default",              \
      "Pass it the same way in every call: by name, by position, or left to its default.")         \
    X(CONFIG, "a setting of JAX has a different value",                                            \
      "Set it once, before the first call, to one value for all calls.")                           \
    X(IMPORTED, "the first call imported a module with settings that JAX compares",                \
      "Nothing to do: it happens once. Or import it before the first call: "                       \
      "jax.experimental.pallas.fuser.")                                                            \
    X(CLEARED, "nothing that JAX compares has changed: it was made to forget the function",        \
      "Remove jax.clear_caches() and clear_cache() from the loop.")                                \
    X(LOOSE_LOOP, "a loop of jax.lax outside jit, whose body is a new function in each call",      \
      "Jit the function that contains the loop, once; or define the body once, at the top.")       \
    X(STATIC_NUMBER,                                                                               \
      "filter_jit makes Python numbers static, and nnx.jit those that a module holds",             \
      "Pass it as an array: jnp.asarray(x). A number that is closed over is baked in as well.")    \
    X(COUNT_GIVEN, "an integer in a library's code: a count or a limit that its call was given",   \
      "Keep it the same in every call, or one of few values: each is a program, compiled once. "   \
      "If the library takes an array there, pass jnp.asarray(x).")                                 \
    X(NO_ARRAY, "it is not an array in one of the two calls: a Python number, None or left out",   \
      "Pass an array in every call: jnp.asarray(x) of one dtype; for None, a neutral value.")      \
    X(MOVED, "an array moved to another place among the arguments",                                \
      "Keep it where it is: stop its gradient (lax.stop_gradient, optax.masked) instead of "       \
      "moving "                                                                                    \
      "it; or accept a program for each phase.")                                                   \
    X(LEFT_OUT, "it is None or left out in one of the two calls",                                  \
      "Create it at the start and pass it in every call, with a neutral value (ones to multiply, " \
      "zeros to add); or jit a function for each case.")                                           \
    X(OPTIMIZER_PARTS, "the optimizer's state has other parts",                                    \
      "Keep one optimizer with one mask in every phase (optax.set_to_zero for what is "            \
      "frozen); or accept a program for each phase, compiled once.")                               \
    X(TRANSPOSED, "the same dimensions in another order",                                          \
      "Transpose it to one order where it is made or loaded; or pad to one shape and "             \
      "mask.")                                                                                     \
    X(FIELD, "static: a field beside the arrays of its tree",                                      \
      "Make that field an array among the others (data_fields; flax: no "                          \
      "pytree_node=False), or keep its value.")                                                    \
    X(TRANSFORMED, "given to a transformation of JAX's",                                           \
      "Each is a program of its own, compiled once: make and jit a function for each, "            \
      "before the loop.")                                                                          \
    X(MODEL_SIZE, "the model has a different size",                                                \
      "Build all models with the same size: each size is its own program, compiled once.")         \
    X(MODEL_DTYPE, "the model or its optimizer has a different dtype",                             \
      "Keep one precision setting (param_dtype, mu_dtype); convert a checkpoint as it is loaded: " \
      "x.astype(dtype).")                                                                          \
    X(INNER_DTYPE, "the function itself chooses the dtype",                                        \
      "Keep one precision setting (dtype=, param_dtype, a policy) in every call: each is "         \
      "a program, compiled once.")                                                                 \
    X(MODULE_DTYPE, "a module was converted to another dtype",                                     \
      "Convert it once, before training begins: model.to(dtype); a checkpoint as it is loaded.")   \
    X(HOST_ARRAY, "an array of that size is part of the program",                                  \
      "The function closes over it, or makes it of a static value: pass it as an argument, "       \
      "padded to a fixed length with a mask.")                                                     \
    X(SHIFTED, "only where it is cut differs: what is joined of the parts keeps its size",         \
      "Pass the shift or the position as an array: jnp.roll(x, jnp.asarray(n)), "                  \
      "lax.dynamic_slice; or keep it the same, or one of few.")                                    \
    X(SAME_FUNCTION, "the arrays match, but something else that JAX compares does not",            \
      "It is one of these. A static object, function or partial that each call makes anew: make "  \
      "it once, before the loop, or give it __eq__ and __hash__. Other containers or keys, an "    \
      "unused argument, a Python number in place of an array (jnp.asarray), an argument named or " \
      "left to its default: pass the same in every call. jax.clear_caches(): remove it.")          \
    X(REORDERED, "the same arguments in a different order",                                        \
      "Pass them the same way in every call; JAX sorts keyword arguments by name.")                \
    X(SHUFFLED, "the same operations in a different order than in the earlier run",                \
      "If no setting chose the order, it comes from a set, which differs in each process: sort "   \
      "it, or set PYTHONHASHSEED.")                                                                \
    X(CONSTRAINED, "only one of the two programs has this constraint",                             \
      "Constrain the value in every call and to one sharding, or in none.")

// What of a call decides a difference, for notes: the advice is the cause's own.
#define KEEL_REMARKS(X)                                                                            \
    X(STATIC_ARGUMENT, "a static argument")                                                        \
    X(STATIC_PART, "static there: the library compares what is no array")                          \
    X(METADATA, "static: part of the tree, beside its arrays")                                     \
    X(HOST_VALUE, "a host value that the function reads")                                          \
    X(SETTING, "a setting of JAX")

// Advice for cases that the report recognizes and that no program shows.
#define KEEL_CASES(X)                                                                              \
    X(EAGER_AGAIN,                                                                                 \
      "Jit the function that runs them, so that they are one program; pad what varies.")           \
    X(GROWS,                                                                                       \
      "Allocate the full length once, write at an index (lax.dynamic_update_slice); or pad.")      \
    X(KEPT_GROWS,                                                                                  \
      "Allocate the full length once and write at an index (keel_dynamic_update); mask the rest.") \
    X(BOTH_AGAIN,                                                                                  \
      "Jit once, before the loop, and keep what it returns; no jax.jit, lambda or partial"         \
      " in the loop, which traces both again in each round.")                                      \
    X(ASSIGNED, "Assign or keep it in every step, or in none.")                                    \
    X(STEP_ENDLESS, "End each step with keel_step_end; read after it.")                            \
    X(RANK, "Give it the same rank in every call: reshape or broadcast it first.")                 \
    X(LENGTH, "Pad (or resize) it to one size, or to a few that are compiled once each; mask.")    \
    X(LIST_GROWS,                                                                                  \
      "Keep list lengths the same: stack it in one array of full length, write at an index; or "   \
      "remove what each call adds (nnx.pop).")                                                     \
    X(LIBRARY,                                                                                     \
      "Keep the setting or branch that chooses it fixed; or jit a function for each once, before " \
      "the loop.")                                                                                 \
    X(LIBRARY_SIZE,                                                                                \
      "Give the library's call the same each time: one number for what it sizes or counts "        \
      "(num_samples, max_steps), or one of few; data padded to one shape.")                        \
    X(LIBRARY_AGAIN,                                                                               \
      "Give the library's call the same objects each time: functions, models, kernels and "        \
      "solvers made once, before the loop. If it makes a function anew in any case, call it less " \
      "often, or under a jit of your own.")                                                        \
    X(DUMPS, "Remove the flag once you have the dumps; then programs are loaded again.")           \
    X(UNCACHEABLE,                                                                                 \
      "If its custom call may be stored (docs/keys.md), name it in KEEL_CUSTOM_CALLS.")            \
    X(UNSTORED, "Nothing to do: each process compiles it once (docs/keys.md, What is never "       \
                "stored).")                                                                        \
    X(REFRESH, "Mode refresh compiles everything again; turn it off once the cache is fresh.")     \
    X(UNUSED, "The run's first lines say why. Set KEEL_CACHE_DIR to a folder of your own.")        \
    X(LOST, "Nothing to do once. If it happens again: keel cache verify, keel probe.")             \
    X(SLOW, "Nothing to do. Large arrays that are arguments, not constants, make both faster.")    \
    X(UNREADABLE, "The end of the run says why. Make the files in cache_dir yours alone.")         \
    X(FOREIGN, "Use one version of Keel with a cache_dir, or give each version its own.")          \
    X(REFUSED,                                                                                     \
      "If it belongs there: ask for it before the freeze, or record it into the contract.")        \
    X(GATHERED,                                                                                    \
      "A sharded tensor is gathered by a program of its own at each read: read every N steps.")    \
    X(BARRIER, "Whatever changes recompiles what is before and after it: one sync a step, after "  \
               "optimizer.step(), unless it saves memory that you need.")                          \
    X(INDEX, "Index with a tensor of one dimension: x.index_select(0, i); update i in place.")     \
    X(GENERATE,                                                                                    \
      "generate() grows its ids and reads them at each token: write the loop, with ids of one "    \
      "length, a static cache and torch_xla.sync() per token.")                                    \
    X(MADE_HERE,                                                                                   \
      "Make it before the first step, of zeros; take the same tensors, and list lengths, in "      \
      "every step.")                                                                               \
    X(OPTIMIZER_READS,                                                                             \
      "The optimizer reads its rate or its count of steps: create it with capturable=True, and "   \
      "its state on the device.")                                                                  \
    X(HOST_SCALAR,                                                                                 \
      "A value was asked for on the host (.item(), a branch, a size), which waits for it: ask "    \
      "every few steps, or keep it a tensor (torch.where). keel stats names the lines.")           \
    X(HOST_MASK,                                                                                   \
      "Its size depends on values: keep the full size and a mask, torch.where(mask, a, b).")       \
    X(HOST_UNIQUE,                                                                                 \
      "Its size depends on values: compute it on the host before the step, or sort instead.")      \
    X(HOST_BINCOUNT, "Its size depends on values: use one_hot(...).sum(0) with a fixed size.")     \
    X(HOST_OP, "PyTorch/XLA cannot compile it: its arguments are copied to the host and its "      \
               "results back, and the program is split there. Write it with other operations, or " \
               "do it outside the step.")

typedef enum keel_question {
#define KEEL_QUESTION_ENUM(name, sentence) KEEL_QUESTION_##name,
    KEEL_QUESTIONS(KEEL_QUESTION_ENUM)
#undef KEEL_QUESTION_ENUM
        KEEL_QUESTION_NONE,
} keel_question_t;

typedef enum keel_cause {
#define KEEL_CAUSE_ENUM(name, ...) KEEL_CAUSE_##name,
    KEEL_CAUSES(KEEL_CAUSE_ENUM)
#undef KEEL_CAUSE_ENUM
        KEEL_CAUSE_COUNT,
} keel_cause_t;

typedef enum keel_note {
#define KEEL_NOTE_ENUM(name, ...) KEEL_NOTE_##name,
    KEEL_NOTES(KEEL_NOTE_ENUM)
#undef KEEL_NOTE_ENUM
        KEEL_NOTE_COUNT,
} keel_note_t;
const char *keel_note_text(keel_note_t note);
// True if a difference's note begins with that one.
bool keel_note_leads(const char *text, keel_note_t note);
// The advice that belongs to that note; NULL if there is none.
const char *keel_note_advice(const char *note);

typedef enum keel_remark {
#define KEEL_REMARK_ENUM(name, text) KEEL_REMARK_##name,
    KEEL_REMARKS(KEEL_REMARK_ENUM)
#undef KEEL_REMARK_ENUM
} keel_remark_t;
const char *keel_remark_text(keel_remark_t remark);

typedef enum keel_case {
#define KEEL_CASE_ENUM(name, advice) KEEL_CASE_##name,
    KEEL_CASES(KEEL_CASE_ENUM)
#undef KEEL_CASE_ENUM
} keel_case_t;
const char *keel_case_advice(keel_case_t one);

// A row of the table.
typedef struct keel_cause_facts_t {
    const char *word; // "weak_type"
    keel_question_t question;
    const char *sentence;
    const char *advice[KEEL_FRAMEWORK_COUNT];
} keel_cause_facts_t;
const keel_cause_facts_t *keel_cause_facts(keel_cause_t cause);
// KEEL_CAUSE_COUNT if no cause has that word.
keel_cause_t keel_cause_by_word(const char *word);
const char *keel_question_sentence(keel_question_t question);

#endif // KEEL_EXPLAIN_CAUSE_H_
