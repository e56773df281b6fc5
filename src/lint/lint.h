// lint: what in a model's source will make recompiles or host reads, found without running it.
//
//   lint.h        the rules; what is found
//   words.c       the functions of JAX, PyTorch and others that matter, in one table
//   source.c      a file's names, imports, functions and what is bound in them
//   values.c      what an expression holds: an array, a number of the host, a read value
//   calls.c       calls: what they trace, return and read
//   methods.c     methods and attributes of arrays
//   statements.c  statements, in the order in which they run
//   jits.c        jitted functions: their static arguments, and where they are made and called
//   loops.c       training loops: loaders, gradients, what grows
//   ignore.c      comments that silence a rule
//
// A function is traced if it is given to jax.jit or its like, or to what traces its body (scan,
// vmap); if it is the call of a module; if a traced function calls it. In a traced function, an
// array is what a function of the library returned, an argument that is not static, or arithmetic
// on one. What is not understood is not an array, so a rule misses rather than invents.
//
// Ownership: findings own their texts.
// Threads: any number may check different texts; nothing is hidden.
#ifndef KEEL_LINT_LINT_H_
#define KEEL_LINT_LINT_H_

#include "base/base.h"

// enum, name, page of `keel explain` for JAX and for PyTorch/XLA, sentence, remedy for each of both
#define KEEL_LINT_RULES(X)                                                                         \
    X(BRANCH, "branch-on-value", "structure", "host_read",                                         \
      "Python branches on the value of an array", "Choose on the device: jnp.where, lax.cond.",    \
      "Choose on the device: torch.where; or decide it once, outside the step.")                   \
    X(READ, "host-read", "host_read", "host_read", "the host reads the value of an array",         \
      "Keep it an array in the step; read it after the step, and only every N steps.",             \
      "Keep it a tensor in the step; read it after the sync, and only every N steps.")             \
    X(MASK, "boolean-index", "size", "size", "the mask's values decide the size of the result",    \
      "Keep the full size: jnp.where(mask, x, 0).",                                                \
      "Keep the full size: torch.where(mask, x, 0).")                                              \
    X(DYNAMIC, "data-dependent-shape", "size", "size",                                             \
      "the array's values decide the size of the result",                                          \
      "Give size= (and fill_value=), or keep the full size and a mask.",                           \
      "Keep the full size and a mask (torch.where with three arguments), or sort instead.")        \
    X(SIZE, "value-dependent-size", "size", "size", "a value that is read decides a size",         \
      "Take the largest size and mask, lax.dynamic_slice, or lax.fori_loop for a loop.",           \
      "Take the largest size and mask what is beyond it.")                                         \
    X(COUNTER, "counter-attribute", "counter", "counter",                                          \
      "a Python number that is counted up is baked into the program",                              \
      "Keep it as an array, and pass it as an argument.",                                          \
      "Keep it in a buffer on the device, and update that in place.")                              \
    X(ASSIGN, "load-assign", "donation", "donation",                                               \
      "assign=True replaces the parameters, and an existing optimizer keeps the old ones",         \
      "Leave assign=True out, or create the optimizer after it.",                                  \
      "Leave assign=True out, or create the optimizer after it.")                                  \
    X(ZERO_GRAD, "zero-grad-none", "gradient", "gradient",                                         \
      "gradients are removed between accumulated steps: one program creates them, others add",     \
      "Pass set_to_none=False.", "Pass set_to_none=False.")                                        \
    X(JIT_LOOP, "jit-in-loop", "retrace", "retrace",                                               \
      "a new function is compiled in each turn of a loop",                                         \
      "Define and jit the function once, before the loop, and keep it.",                           \
      "Compile it once, before the loop, and keep it.")                                            \
    X(FRESH, "fresh-static", "retrace", "retrace",                                                 \
      "a static argument is made anew for each call, or cannot be hashed",                         \
      "Make it once, before the loop; use a tuple, or a frozen dataclass, for a list or a dict.",  \
      "Make it once, before the loop.")                                                            \
    X(STATIC, "changing-static", "counter", "counter",                                             \
      "a static argument has another value in each turn of a loop",                                \
      "Pass it as an array that is not static: jnp.asarray(x).", "Pass it as a tensor.")           \
    X(CLOSURE, "closure-array", "constant", "constant",                                            \
      "a large array is closed over, so it becomes part of the program",                           \
      "Pass it as an argument.", "Pass it as an argument.")                                        \
    X(GROWS, "growing-shape", "growing", "growing", "a shape grows with each turn of a loop",      \
      "Allocate the full length once, write at an index (lax.dynamic_update_slice), and mask.",    \
      "Allocate the full length once, write at an index (index_copy_), and mask.")                 \
    X(PARTIAL, "partial-batch", "unpadded", "unpadded",                                            \
      "the last batch of this loader may be smaller",                                              \
      "Set drop_last=True, or pad the last batch and mask.",                                       \
      "Set drop_last=True, or pad the last batch and mask.")                                       \
    X(SETTING, "debug-setting", "eager", "flag", "this setting changes each program",              \
      "Remove it: without jit each operation is a program of its own.",                            \
      "Remove it, and cast the model: model.to(torch.bfloat16).")                                  \
    X(CAPTURABLE, "rate-not-capturable", "host_read", "host_read",                                 \
      "without capturable=True the optimizer reads a rate that is a tensor for each parameter",    \
      "Pass capturable=True.", "Pass capturable=True.")                                            \
    X(SET_ORDER, "set-order", "structure", "structure",                                            \
      "a set's order differs in each process, and so does the program",                            \
      "Loop over sorted(...) of it, or over a tuple.",                                             \
      "Loop over sorted(...) of it, or over a "                                                    \
      "tuple.")

typedef enum keel_lint_rule {
#define KEEL_LINT_ENUM(name, ...) KEEL_LINT_##name,
    KEEL_LINT_RULES(KEEL_LINT_ENUM)
#undef KEEL_LINT_ENUM
        KEEL_LINT_RULE_COUNT
} keel_lint_rule_t;

// The columns of the pages and remedies.
typedef enum keel_lint_client {
    KEEL_LINT_JAX,
    KEEL_LINT_TORCH,
    KEEL_LINT_CLIENTS
} keel_lint_client_t;

typedef struct keel_lint_facts_t {
    const char *name; // "branch-on-value"
    const char *page[KEEL_LINT_CLIENTS];
    const char *sentence;
    const char *remedy[KEEL_LINT_CLIENTS];
} keel_lint_facts_t;
const keel_lint_facts_t *keel_lint_facts(keel_lint_rule_t rule);
// KEEL_LINT_RULE_COUNT if no rule has that name.
keel_lint_rule_t keel_lint_by_name(keel_str_t name);

typedef struct keel_lint_finding_t {
    keel_lint_rule_t rule;
    keel_lint_client_t client;
    uint32_t line, column, end_line, end_column; // from 1; columns in bytes; the end is behind it
    const char *code;                            // what is meant, on one line, shortened
    const char *function;                        // around it; "" at the top of the file
} keel_lint_finding_t;

typedef struct keel_lint_report_t {
    keel_lint_finding_t *findings; // in the order of the text
    size_t count;
    uint32_t ignored;                  // silenced by comments
    uint32_t error_line, error_column; // the first place that does not parse, from 1; 0: none
    keel_arena_t texts;
} keel_lint_report_t;

typedef struct keel_lint_options_t {
    uint64_t rules; // a bit for each that is looked for
    bool is_xla;    // PyTorch code runs on PyTorch/XLA or TorchTPU, even if it does not import them
} keel_lint_options_t;

// KEEL_UNSUPPORTED for a text that is too large. Text that is not Python is no failure. `out` need
// not be deinitialized after a failure.
keel_status_t keel_lint_text(keel_str_t text, const keel_lint_options_t *options,
                             keel_lint_report_t *out) KEEL_MUST_CHECK;
void keel_lint_deinitialize(keel_lint_report_t *report);

// Whether the text imports PyTorch/XLA or TorchTPU, by its lines alone.
bool keel_lint_imports_xla(keel_str_t text);

#endif // KEEL_LINT_LINT_H_
