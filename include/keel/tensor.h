// Tensors: XLA programs from C, traced, differentiated, cached and explained.
//
// Operations record; nothing runs until keel_step_end or until a value is read. A step whose trace
// is known runs at once; otherwise it is compiled, through Keel's engine: cache, contract, `keel
// why` and rehearsals work as for any client.
//
//   source       what it is in the program                                  changes the program
//   variable     an argument that stays on the device from step to step     if shape or dtype do
//   input        an argument, copied from the host in this step             if shape or dtype do
//   number       an argument: a host number that may differ in each step    never
//   constant     a part of the program                                      yes
//
// So a changing learning rate or step count never makes a new program, unless it is asked for by
// name: keel_constant. Nor does a scalar that an operation takes, such as an epsilon: it is a
// number. What shapes a program (sizes, axes) is an integer of C and does; `keel why` names its
// line.
//
// Ownership, one rule: a tensor belongs to its context. Traced tensors live until their step ends;
// variables and kept tensors until keel_release or keel_context_free. A tensor is a small value:
// copy it freely; there is nothing to free.
//
// Several devices: a context may have a mesh, a grid of devices with named axes. Every program then
// runs on all of them, XLA splits the work (SPMD), and a tensor is whole on each device unless a
// spec says which axes split which of its dimensions. The numbers are those of one device.
//
// Errors: an operation that cannot be traced gives an empty tensor and the context keeps the first
// error, with both shapes and the caller's line; operations on empty tensors give empty ones.
// keel_step_end returns that error, runs nothing, leaves every variable as it was, and the context
// goes on with the next step.
//
// Threads: one at a time for each context. A forked child cannot use its parent's contexts; its
// calls say so.
#ifndef KEEL_TENSOR_H_
#define KEEL_TENSOR_H_

#include <stddef.h>
#include <stdint.h>

#include "keel/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what a tensor is --------------------------------------------------------------------------

// name, as text, bytes of an element on the host
#define KEEL_DTYPES(X)                                                                             \
    X(BOOL, "bool", 1)                                                                             \
    X(I8, "i8", 1)                                                                                 \
    X(I16, "i16", 2)                                                                               \
    X(I32, "i32", 4)                                                                               \
    X(I64, "i64", 8)                                                                               \
    X(U8, "u8", 1)                                                                                 \
    X(U16, "u16", 2)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(U64, "u64", 8)                                                                               \
    X(F8E4M3FN, "f8e4m3fn", 1)                                                                     \
    X(F8E5M2, "f8e5m2", 1)                                                                         \
    X(BF16, "bf16", 2)                                                                             \
    X(F16, "f16", 2)                                                                               \
    X(F32, "f32", 4)                                                                               \
    X(F64, "f64", 8)                                                                               \
    X(C64, "c64", 8)                                                                               \
    X(C128, "c128", 16)

typedef enum keel_dtype {
#define KEEL_DTYPE_ENUM(name, text, bytes) KEEL_##name,
    KEEL_DTYPES(KEEL_DTYPE_ENUM)
#undef KEEL_DTYPE_ENUM
        KEEL_DTYPE_COUNT,
} keel_dtype_t;

enum { KEEL_MAX_RANK = 8 };

typedef struct keel_shape_t {
    int32_t rank; // 0: a scalar
    int64_t dims[KEEL_MAX_RANK];
} keel_shape_t;

// A value in an expression, as C and as C++ write it.
#ifdef __cplusplus
#define KEEL_MAKE_(type) type
#else
#define KEEL_MAKE_(type) (type)
#endif
typedef int64_t keel_counts_[];
typedef const char *keel_names_[];

// KEEL_SHAPE(2, 3) is [2,3].
#define KEEL_COUNT_OF_(...)                                                                        \
    (int32_t)(sizeof(KEEL_MAKE_(keel_counts_){__VA_ARGS__}) / sizeof(int64_t))
#define KEEL_SHAPE(...) (KEEL_MAKE_(keel_shape_t){KEEL_COUNT_OF_(__VA_ARGS__), {__VA_ARGS__}})
#define KEEL_SCALAR (KEEL_MAKE_(keel_shape_t){0, {0}})

// Axes, in any order; negative ones count from the last.
typedef struct keel_axes_t {
    int32_t count;
    int64_t items[KEEL_MAX_RANK];
} keel_axes_t;
#define KEEL_AXES(...) (KEEL_MAKE_(keel_axes_t){KEEL_COUNT_OF_(__VA_ARGS__), {__VA_ARGS__}})

typedef struct keel_context_t keel_context_t;

// The parts are Keel's. {0} is the empty tensor.
typedef struct keel_tensor_t {
    keel_context_t *context;
    uint32_t id;
    uint32_t step; // 0: a variable or a kept tensor
} keel_tensor_t;

// The line that calls. The texts must live as long as the context. Functions that end in _at are
// called through macros, which add it and pass on what they are given, compound literals too.
typedef struct keel_caller_t {
    const char *file, *function;
    int line;
    const char *operation; // that is called there, and made of others; NULL: it is made of none
} keel_caller_t;
#define KEEL_HERE (KEEL_MAKE_(keel_caller_t){__FILE__, __func__, __LINE__, NULL})

KEEL_API int keel_is_empty(keel_tensor_t tensor);
// [0] and bool for the empty tensor.
KEEL_API keel_shape_t keel_shape(keel_tensor_t tensor);
KEEL_API keel_dtype_t keel_dtype(keel_tensor_t tensor);
// Of a variable; "" of a kept tensor and of any other. Lives as long as the variable.
KEEL_API const char *keel_name(keel_tensor_t tensor);
// "f32", ...; "" if there is no such dtype.
KEEL_API const char *keel_dtype_text(keel_dtype_t dtype);
KEEL_API size_t keel_dtype_size(keel_dtype_t dtype);

// ---- context -----------------------------------------------------------------------------------

enum { KEEL_MAX_MESH_AXES = 8 };

typedef struct keel_mesh_axis_t {
    const char *name; // letters, digits and _
    int64_t size;
} keel_mesh_axis_t;

// The devices as a grid, the last axis being the fastest.
typedef struct keel_mesh_t {
    int32_t count; // 0: one device
    keel_mesh_axis_t axes[KEEL_MAX_MESH_AXES];
} keel_mesh_t;

typedef keel_mesh_axis_t keel_mesh_axes_[];
// KEEL_MESH({"data", 2}, {"model", 4}) is 8 devices.
#define KEEL_COUNT_AXES_(...)                                                                      \
    (int32_t)(sizeof(KEEL_MAKE_(keel_mesh_axes_){__VA_ARGS__}) / sizeof(keel_mesh_axis_t))
#define KEEL_MESH(...) (KEEL_MAKE_(keel_mesh_t){KEEL_COUNT_AXES_(__VA_ARGS__), {__VA_ARGS__}})

// NULL or 0 is the default of each. Keel's own settings are those of the environment and of the
// config file (docs/settings.md). Everything is copied.
typedef struct keel_context_options_t {
    const char *plugin; // a path; default: the setting `plugin`. One plugin a process
    const char *name;   // of the programs, as `keel why` shows them; default "step"
    keel_mesh_t mesh;   // takes the plugin's first devices
    int32_t devices;    // of XLA's CPU plugin; default: as many as the mesh has
    // If several processes are one job, each with some of the mesh's devices: which one this is,
    // from 0, how many there are, and where they find each other, for plugins that need it (GPUs;
    // on TPUs the plugin knows by itself): an empty folder that all of them see, or
    // "redis://HOST:PORT". All processes do the same steps, and give the same whole data.
    int32_t process, processes;
    const char *meet;
} keel_context_options_t;

// `options` may be NULL. KEEL_INVALID: the named plugin cannot be used, or the mesh is not one or
// has more devices than the plugin. KEEL_PLUGIN: the plugin, or Keel in front of it, refused.
KEEL_API keel_status_t keel_context_create(const keel_context_options_t *options,
                                           keel_context_t **out) KEEL_MUST_CHECK;
KEEL_API void keel_context_free(keel_context_t *context); // NULL is allowed

// The first error of the step so far, as "mlp.c:31: matmul: ..."; NULL if there is none.
KEEL_API const char *keel_context_error(const keel_context_t *context);

// Ends the step: runs what its assignments need, or compiles it first if this trace is new. Returns
// once the work is queued, not when it is done, and waits only if 8 executions are under way.
#define keel_step_end(...) keel_step_end_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_step_end_at(keel_caller_t site,
                                        keel_context_t *context) KEEL_MUST_CHECK;
// Ends it without running anything; its error, if any, is dropped.
KEEL_API void keel_step_discard(keel_context_t *context);

// From now on no program of this process may be new: keel_step_end refuses one with KEEL_REFUSED,
// and names its cause and line, before anything is compiled (docs/contract.md). Any thread.
KEEL_API void keel_freeze(void);

// What is traced until the matching keel_scope_end is part of `name`, such as "block 3"
// ("layer/mlp" is one name, too): `keel why` and keel_program_text show the scopes around a line.
// Names make no program new. The end of the step ends all of them.
#define keel_scope_begin(...) keel_scope_begin_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_scope_begin_at(keel_caller_t site, keel_context_t *context, const char *name);
KEEL_API void keel_scope_end(keel_context_t *context);

// Since the context was created.
typedef struct keel_figures_t {
    uint64_t steps;
    uint64_t programs;   // that were compiled, or loaded from the cache
    uint64_t operations; // traced
    uint64_t reads;      // of values, by the host
} keel_figures_t;
KEEL_API keel_figures_t keel_context_figures(const keel_context_t *context);

// The newest program as text, zero-terminated: one operation a line, with the line that traced it,
// as `keel show --locations` prints it. The caller frees it with keel_text_free (keel/module.h).
// KEEL_NOT_FOUND: none was compiled or loaded yet.
KEEL_API keel_status_t keel_program_text(const keel_context_t *context, char **out) KEEL_MUST_CHECK;

// ---- sources -----------------------------------------------------------------------------------

// A tensor that stays on the device. `data`: its elements in row-major order, copied; NULL: it has
// no value before its first assignment. `name` is copied; `keel why` shows it.
#define keel_variable(...) keel_variable_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_variable_at(keel_caller_t site, keel_context_t *context,
                                        const char *name, keel_dtype_t dtype, keel_shape_t shape,
                                        const void *data);

// This step's value of an input. `data` is copied.
#define keel_input(...) keel_input_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_input_at(keel_caller_t site, keel_context_t *context, const char *name,
                                     keel_dtype_t dtype, keel_shape_t shape, const void *data);

// Which axes of the mesh split each dimension of a tensor: NULL for none, "data" for one, or
// several, "data,model", the first being the outermost. Dimensions after the last are not split.
typedef struct keel_spec_t {
    int32_t count;
    const char *dims[KEEL_MAX_RANK];
} keel_spec_t;

// KEEL_SPEC(NULL, "model") splits the columns. KEEL_WHOLE: whole on each device.
#define KEEL_COUNT_NAMES_(...)                                                                     \
    (int32_t)(sizeof(KEEL_MAKE_(keel_names_){__VA_ARGS__}) / sizeof(char *))
#define KEEL_SPEC(...) (KEEL_MAKE_(keel_spec_t){KEEL_COUNT_NAMES_(__VA_ARGS__), {__VA_ARGS__}})
#define KEEL_WHOLE (KEEL_MAKE_(keel_spec_t){0, {NULL}})

// A variable whose elements are split over the mesh, in every step. `data` is the whole.
#define keel_sharded_variable(...) keel_sharded_variable_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_sharded_variable_at(keel_caller_t site, keel_context_t *context,
                                                const char *name, keel_dtype_t dtype,
                                                keel_shape_t shape, const void *data,
                                                keel_spec_t spec);
// Splits a variable, such as a leaf of a tree, from now on. Not one that the open step has used.
#define keel_place(...) keel_place_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_place_at(keel_caller_t site, keel_tensor_t variable, keel_spec_t spec);
// The same for an input.
#define keel_sharded_input(...) keel_sharded_input_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_sharded_input_at(keel_caller_t site, keel_context_t *context,
                                             const char *name, keel_dtype_t dtype,
                                             keel_shape_t shape, const void *data,
                                             keel_spec_t spec);
// `x`, split so at this point of the program, and its gradient too. XLA decides about tensors
// without one. keel_keep(keel_shard(x, spec)) stays split. Refused: an axis that the mesh does not
// have, or twice; a dimension that its axes do not divide.
#define keel_shard(...) keel_shard_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_shard_at(keel_caller_t site, keel_tensor_t x, keel_spec_t spec);

// A host number as an argument: a scalar of the dtype of `like`. Refused if the dtype does not have
// it: 0.5 of an integer, or what is beyond the largest number of a float, such as 1e6 of f16; so
// are constants. (A C double has each integer up to 2^53: give larger ones as inputs.) Its name in
// `keel why` is the expression of C; that text must live as long as the context.
#define keel_number(...) keel_number_at(KEEL_HERE, __VA_ARGS__, #__VA_ARGS__)
KEEL_API keel_tensor_t keel_number_at(keel_caller_t site, keel_tensor_t like, double value,
                                      const char *name);
// The same as a part of the program: another value is another program.
#define keel_constant(...) keel_constant_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_constant_at(keel_caller_t site, keel_tensor_t like, double value);
// The lowest finite number of the dtype of `like`, as a constant: for scores that a mask hides, and
// a maximum over nothing. Not of bool or complex numbers.
#define keel_lowest(...) keel_lowest_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_lowest_at(keel_caller_t site, keel_tensor_t like);
// 0, 1, 2, ... along `axis`.
#define keel_iota(...) keel_iota_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_iota_at(keel_caller_t site, keel_context_t *context, keel_dtype_t dtype,
                                    keel_shape_t shape, int axis);

// ---- variables and values ----------------------------------------------------------------------

// From here on, `variable` means `value`, in this step and the next ones; its buffer is updated in
// place. Same shape and dtype.
#define keel_assign(...) keel_assign_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_assign_at(keel_caller_t site, keel_tensor_t variable, keel_tensor_t value);
// A value that outlives its step: a variable without a name.
#define keel_keep(...) keel_keep_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_keep_at(keel_caller_t site, keel_tensor_t value);
// Gives up a variable or a kept tensor and its memory.
KEEL_API void keel_release(keel_tensor_t tensor);

// Copies the value to the host and waits for it. `size`: bytes, all of them. A value of the open
// step is computed by a program of its own, which is new work on the way: prefer to keep it and to
// read it after keel_step_end. After keel_freeze it is refused (KEEL_REFUSED). Counted, and
// attributed to this line.
#define keel_read(...) keel_read_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_read_at(keel_caller_t site, keel_tensor_t tensor, void *data,
                                    size_t size) KEEL_MUST_CHECK;

// ---- operations --------------------------------------------------------------------------------

// Two operands have one dtype, or the smaller one of the same kind is converted (bool counts as the
// smallest integer): i32 and i64, f8 and bf16, bf16 and f32. Everything else is refused: NumPy
// makes f64 of i32 and f32. Shapes are broadcast as in NumPy.
//
// Integers wrap, and divide as in C: the quotient is truncated and the remainder has the sign of x;
// by 0 all bits of the quotient are set and the remainder is x. Powers are of floats. NaN passes
// through a maximum or minimum.

// name, as text, as HLO writes it
#define KEEL_UNARY_OPS(X)                                                                          \
    X(NEGATE, "negate", "negate")                                                                  \
    X(ABS, "abs", "abs")                                                                           \
    X(SIGN, "sign", "sign")                                                                        \
    X(FLOOR, "floor", "floor")                                                                     \
    X(CEIL, "ceil", "ceil")                                                                        \
    X(EXP, "exp", "exponential")                                                                   \
    X(EXPM1, "expm1", "exponential-minus-one")                                                     \
    X(LOG, "log", "log")                                                                           \
    X(LOG1P, "log1p", "log-plus-one")                                                              \
    X(SQRT, "sqrt", "sqrt")                                                                        \
    X(RSQRT, "rsqrt", "rsqrt")                                                                     \
    X(TANH, "tanh", "tanh")                                                                        \
    X(SIGMOID, "sigmoid", "logistic")                                                              \
    X(SIN, "sin", "sine")                                                                          \
    X(COS, "cos", "cosine")                                                                        \
    X(TAN, "tan", "tan")                                                                           \
    X(ERF, "erf", "erf")                                                                           \
    X(CBRT, "cbrt", "cbrt")                                                                        \
    X(ROUND, "round", "round-nearest-even")                                                        \
    X(POPCOUNT, "popcount", "popcnt")                                                              \
    X(LEADING_ZEROS, "leading_zeros", "count-leading-zeros")                                       \
    X(NOT, "not", "not")

#define KEEL_BINARY_OPS(X)                                                                         \
    X(ADD, "add", "add")                                                                           \
    X(SUBTRACT, "subtract", "subtract")                                                            \
    X(MULTIPLY, "multiply", "multiply")                                                            \
    X(DIVIDE, "divide", "divide")                                                                  \
    X(REMAINDER, "remainder", "remainder")                                                         \
    X(MAXIMUM, "maximum", "maximum")                                                               \
    X(MINIMUM, "minimum", "minimum")                                                               \
    X(POWER, "power", "power")                                                                     \
    X(AND, "and", "and")                                                                           \
    X(OR, "or", "or")                                                                              \
    X(XOR, "xor", "xor")                                                                           \
    X(ATAN2, "atan2", "atan2")                                                                     \
    X(SHIFT_LEFT, "shift_left", "shift-left")                                                      \
    X(SHIFT_RIGHT, "shift_right", "shift-right-logical")

#define KEEL_COMPARE_OPS(X)                                                                        \
    X(EQUAL, "equal", "EQ")                                                                        \
    X(NOT_EQUAL, "not_equal", "NE")                                                                \
    X(LESS, "less", "LT")                                                                          \
    X(LESS_EQUAL, "less_equal", "LE")                                                              \
    X(GREATER, "greater", "GT")                                                                    \
    X(GREATER_EQUAL, "greater_equal", "GE")

#define KEEL_REDUCE_OPS(X)                                                                         \
    X(SUM, "sum", "add")                                                                           \
    X(MAX, "max", "maximum")                                                                       \
    X(MIN, "min", "minimum")                                                                       \
    X(PRODUCT, "product", "multiply")                                                              \
    X(ALL, "all", "and")                                                                           \
    X(ANY, "any", "or")

#define KEEL_OP_ENUM(name, ...) KEEL_OP_##name,
typedef enum keel_unary_op { KEEL_UNARY_OPS(KEEL_OP_ENUM) KEEL_UNARY_OP_COUNT } keel_unary_op_t;
typedef enum keel_binary_op { KEEL_BINARY_OPS(KEEL_OP_ENUM) KEEL_BINARY_OP_COUNT } keel_binary_op_t;
typedef enum keel_compare_op {
    KEEL_COMPARE_OPS(KEEL_OP_ENUM) KEEL_COMPARE_OP_COUNT
} keel_compare_op_t;
typedef enum keel_reduce_op { KEEL_REDUCE_OPS(KEEL_OP_ENUM) KEEL_REDUCE_OP_COUNT } keel_reduce_op_t;
#undef KEEL_OP_ENUM

KEEL_API keel_tensor_t keel_unary_at(keel_caller_t site, keel_unary_op_t op, keel_tensor_t x);
#define keel_negate(...) keel_unary_at(KEEL_HERE, KEEL_OP_NEGATE, __VA_ARGS__)
#define keel_abs(...) keel_unary_at(KEEL_HERE, KEEL_OP_ABS, __VA_ARGS__)
#define keel_sign(...) keel_unary_at(KEEL_HERE, KEEL_OP_SIGN, __VA_ARGS__)
#define keel_floor(...) keel_unary_at(KEEL_HERE, KEEL_OP_FLOOR, __VA_ARGS__)
#define keel_ceil(...) keel_unary_at(KEEL_HERE, KEEL_OP_CEIL, __VA_ARGS__)
#define keel_exp(...) keel_unary_at(KEEL_HERE, KEEL_OP_EXP, __VA_ARGS__)
#define keel_expm1(...) keel_unary_at(KEEL_HERE, KEEL_OP_EXPM1, __VA_ARGS__)
#define keel_log(...) keel_unary_at(KEEL_HERE, KEEL_OP_LOG, __VA_ARGS__)
#define keel_log1p(...) keel_unary_at(KEEL_HERE, KEEL_OP_LOG1P, __VA_ARGS__)
#define keel_sqrt(...) keel_unary_at(KEEL_HERE, KEEL_OP_SQRT, __VA_ARGS__)
#define keel_rsqrt(...) keel_unary_at(KEEL_HERE, KEEL_OP_RSQRT, __VA_ARGS__)
#define keel_tanh(...) keel_unary_at(KEEL_HERE, KEEL_OP_TANH, __VA_ARGS__)
#define keel_sigmoid(...) keel_unary_at(KEEL_HERE, KEEL_OP_SIGMOID, __VA_ARGS__)
#define keel_sin(...) keel_unary_at(KEEL_HERE, KEEL_OP_SIN, __VA_ARGS__)
#define keel_cos(...) keel_unary_at(KEEL_HERE, KEEL_OP_COS, __VA_ARGS__)
#define keel_tan(...) keel_unary_at(KEEL_HERE, KEEL_OP_TAN, __VA_ARGS__)
#define keel_erf(...) keel_unary_at(KEEL_HERE, KEEL_OP_ERF, __VA_ARGS__)
#define keel_cbrt(...) keel_unary_at(KEEL_HERE, KEEL_OP_CBRT, __VA_ARGS__)
// Halves to even.
#define keel_round(...) keel_unary_at(KEEL_HERE, KEEL_OP_ROUND, __VA_ARGS__)
// Of an integer's bits: ones; zeros before the first one.
#define keel_popcount(...) keel_unary_at(KEEL_HERE, KEEL_OP_POPCOUNT, __VA_ARGS__)
#define keel_leading_zeros(...) keel_unary_at(KEEL_HERE, KEEL_OP_LEADING_ZEROS, __VA_ARGS__)
#define keel_not(...) keel_unary_at(KEEL_HERE, KEEL_OP_NOT, __VA_ARGS__)

KEEL_API keel_tensor_t keel_binary_at(keel_caller_t site, keel_binary_op_t op, keel_tensor_t x,
                                      keel_tensor_t y);
#define keel_add(...) keel_binary_at(KEEL_HERE, KEEL_OP_ADD, __VA_ARGS__)
#define keel_subtract(...) keel_binary_at(KEEL_HERE, KEEL_OP_SUBTRACT, __VA_ARGS__)
#define keel_multiply(...) keel_binary_at(KEEL_HERE, KEEL_OP_MULTIPLY, __VA_ARGS__)
#define keel_divide(...) keel_binary_at(KEEL_HERE, KEEL_OP_DIVIDE, __VA_ARGS__)
#define keel_remainder(...) keel_binary_at(KEEL_HERE, KEEL_OP_REMAINDER, __VA_ARGS__)
#define keel_maximum(...) keel_binary_at(KEEL_HERE, KEEL_OP_MAXIMUM, __VA_ARGS__)
#define keel_minimum(...) keel_binary_at(KEEL_HERE, KEEL_OP_MINIMUM, __VA_ARGS__)
#define keel_power(...) keel_binary_at(KEEL_HERE, KEEL_OP_POWER, __VA_ARGS__)
#define keel_and(...) keel_binary_at(KEEL_HERE, KEEL_OP_AND, __VA_ARGS__)
#define keel_or(...) keel_binary_at(KEEL_HERE, KEEL_OP_OR, __VA_ARGS__)
#define keel_xor(...) keel_binary_at(KEEL_HERE, KEEL_OP_XOR, __VA_ARGS__)
// The angle whose tangent is x / y.
#define keel_atan2(...) keel_binary_at(KEEL_HERE, KEEL_OP_ATAN2, __VA_ARGS__)
// By y bits, of integers; what comes in is 0. By the width of the dtype or more: 0.
#define keel_shift_left(...) keel_binary_at(KEEL_HERE, KEEL_OP_SHIFT_LEFT, __VA_ARGS__)
#define keel_shift_right(...) keel_binary_at(KEEL_HERE, KEEL_OP_SHIFT_RIGHT, __VA_ARGS__)

// bool
KEEL_API keel_tensor_t keel_compare_at(keel_caller_t site, keel_compare_op_t op, keel_tensor_t x,
                                       keel_tensor_t y);
#define keel_equal(...) keel_compare_at(KEEL_HERE, KEEL_OP_EQUAL, __VA_ARGS__)
#define keel_not_equal(...) keel_compare_at(KEEL_HERE, KEEL_OP_NOT_EQUAL, __VA_ARGS__)
#define keel_less(...) keel_compare_at(KEEL_HERE, KEEL_OP_LESS, __VA_ARGS__)
#define keel_less_equal(...) keel_compare_at(KEEL_HERE, KEEL_OP_LESS_EQUAL, __VA_ARGS__)
#define keel_greater(...) keel_compare_at(KEEL_HERE, KEEL_OP_GREATER, __VA_ARGS__)
#define keel_greater_equal(...) keel_compare_at(KEEL_HERE, KEEL_OP_GREATER_EQUAL, __VA_ARGS__)

// `x` where `mask` (bool), else `y`; all three are broadcast.
#define keel_select(...) keel_select_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_select_at(keel_caller_t site, keel_tensor_t mask, keel_tensor_t x,
                                      keel_tensor_t y);
#define keel_cast(...) keel_cast_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_cast_at(keel_caller_t site, keel_tensor_t x, keel_dtype_t dtype);

// [..., m, k] x [..., k, n] = [..., m, n]; the dimensions before are batches and are broadcast.
#define keel_matmul(...) keel_matmul_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_matmul_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y);
// Contracts axes of x with the same number of axes of y, after pairs of batch axes. The result has
// the batches, then what is left of x, then what is left of y.
#define keel_dot(...) keel_dot_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_dot_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y,
                                   keel_axes_t batch_x, keel_axes_t batch_y, keel_axes_t sum_x,
                                   keel_axes_t sum_y);

// How exact products of floats are. On a TPU the default rounds f32 to bf16, HIGH takes three
// products of bf16, and HIGHEST six, which is f32; on a GPU the default may be TF32. CPUs are exact
// anyway.
typedef enum keel_precision {
    KEEL_PRECISION_DEFAULT,
    KEEL_PRECISION_HIGH,
    KEEL_PRECISION_HIGHEST,
} keel_precision_t;

// Of the products that are traced until the matching keel_precision_end, in whatever they are, such
// as keel_einsum, keel_attention or keel_convolution, and of their gradients, wherever these are
// taken. Nests; the end of the step ends all.
#define keel_precision_begin(...) keel_precision_begin_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_precision_begin_at(keel_caller_t site, keel_context_t *context,
                                      keel_precision_t precision);
KEEL_API void keel_precision_end(keel_context_t *context);

// 0 is the default of each.
typedef struct keel_product_t {
    keel_precision_t precision; // default: that of the scope
    // Of the result: that of the operands, or a larger one of their kind, such as f32 of bf16 and
    // i32 of i8, in which the sum is then given without rounding it first. Default (KEEL_BOOL):
    // that of the operands.
    keel_dtype_t dtype;
} keel_product_t;

// keel_matmul and keel_dot with these: keel_matmul_as(x, y, (keel_product_t){.dtype = KEEL_F32}).
#define keel_matmul_as(...) keel_matmul_as_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_matmul_as_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y,
                                         keel_product_t product);
#define keel_dot_as(...) keel_dot_as_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_dot_as_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y,
                                      keel_axes_t batch_x, keel_axes_t batch_y, keel_axes_t sum_x,
                                      keel_axes_t sum_y, keel_product_t product);

// Over these axes, which are dropped. keel_all and keel_any are of bool, the others of numbers;
// small floats are summed in f32. Of no elements: 0, 1 for a product, true for all, false for any,
// and for max and min the lowest and the highest value of the dtype.
KEEL_API keel_tensor_t keel_reduce_at(keel_caller_t site, keel_reduce_op_t op, keel_tensor_t x,
                                      keel_axes_t axes);
#define keel_sum(...) keel_reduce_at(KEEL_HERE, KEEL_OP_SUM, __VA_ARGS__)
#define keel_max(...) keel_reduce_at(KEEL_HERE, KEEL_OP_MAX, __VA_ARGS__)
#define keel_min(...) keel_reduce_at(KEEL_HERE, KEEL_OP_MIN, __VA_ARGS__)
#define keel_product(...) keel_reduce_at(KEEL_HERE, KEEL_OP_PRODUCT, __VA_ARGS__)
#define keel_all(...) keel_reduce_at(KEEL_HERE, KEEL_OP_ALL, __VA_ARGS__)
#define keel_any(...) keel_reduce_at(KEEL_HERE, KEEL_OP_ANY, __VA_ARGS__)
#define keel_mean(...) keel_mean_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_mean_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes);
// All axes of a tensor.
KEEL_API keel_axes_t keel_all_axes(keel_tensor_t x);

#define keel_reshape(...) keel_reshape_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_reshape_at(keel_caller_t site, keel_tensor_t x, keel_shape_t shape);
#define keel_transpose(...) keel_transpose_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_transpose_at(keel_caller_t site, keel_tensor_t x, keel_axes_t order);
#define keel_broadcast(...) keel_broadcast_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_broadcast_at(keel_caller_t site, keel_tensor_t x, keel_shape_t shape);
// [from, to) of one axis.
#define keel_slice(...) keel_slice_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_slice_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t from,
                                     int64_t to);
// So many zeros before and after, along one axis.
#define keel_pad(...) keel_pad_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_pad_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t before,
                                   int64_t after);
#define keel_concatenate(...) keel_concatenate_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_concatenate_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y,
                                           int axis);
// Rows of `table` [n, ...] by integers `rows`, each clamped to [0, n): shape of rows, then [...].
#define keel_take(...) keel_take_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_take_at(keel_caller_t site, keel_tensor_t table, keel_tensor_t rows);
// 1 where the index along a new last axis of size n is `x`, else 0.
#define keel_one_hot(...) keel_one_hot_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_one_hot_at(keel_caller_t site, keel_tensor_t x, int64_t n,
                                       keel_dtype_t dtype);
// `x`, whose gradient is 0.
#define keel_stop_gradient(...) keel_stop_gradient_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_stop_gradient_at(keel_caller_t site, keel_tensor_t x);

// The same tensors, none of which is there before all are: what uses one of `out` is not moved
// before what makes `x`. `out` may be `x`.
#define keel_barrier(...) keel_barrier_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_barrier_at(keel_caller_t site, const keel_tensor_t *x, size_t count,
                              keel_tensor_t *out);

// ---- loops and branches ------------------------------------------------------------------------

// A body traces a part of the program that runs many times, or not at all: it is called once, while
// the step is traced. It makes `out` of `in` and may use any other tensor, from `user` or from
// anywhere; what it makes is used by what it gives, and by nothing outside. Numbers in it are
// arguments of the program as elsewhere. It assigns, keeps and reads nothing, and ends no step.
// `out` is empty at first; an empty one, or one of another context, is an error at the caller's
// line, as is anything that the body does wrong.
typedef void (*keel_body_t)(void *user, const keel_tensor_t *in, keel_tensor_t *out);

// While the condition (a scalar of bool, of the carry) holds, `carry` becomes what the body makes
// of it, in the same dtypes and shapes. `out` has `count` tensors. It has no gradient: a keel_scan
// of the most steps that there can be does, whose body selects the old carry once it is done.
#define keel_while(...) keel_while_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_while_at(keel_caller_t site, keel_context_t *context, keel_body_t condition,
                            keel_body_t body, void *user, const keel_tensor_t *carry, size_t count,
                            keel_tensor_t *out);

// What a gradient keeps of a forward pass; it computes the rest again, and so it does with the
// inside of branches, and of loops in bodies.
typedef enum keel_save {
    KEEL_SAVE_ALL,     // everything but what is as cheap as reading it
    KEEL_SAVE_DOTS,    // results of keel_matmul and keel_dot
    KEEL_SAVE_NOTHING, // only what the body gets
} keel_save_t;

// 0 and NULL are the default of each.
typedef struct keel_scan_t {
    const keel_tensor_t *carry; // from step to step, in the same dtypes and shapes
    size_t carry_count;
    const keel_tensor_t *inputs; // each step gets its place of axis 0
    size_t input_count;
    size_t output_count; // what each step gives beside the carry is stacked along a new axis 0
    int64_t length;      // steps; default: the size of axis 0 of the inputs
    int is_reversed;     // from the last place to the first
    keel_save_t save;
} keel_scan_t;

// For each step, body: carries and a place of each input -> carries and outputs. `out` has the last
// carries, then the stacked outputs.
#define keel_scan(...) keel_scan_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_scan_at(keel_caller_t site, keel_context_t *context, keel_body_t body,
                           void *user, const keel_scan_t *scan, keel_tensor_t *out);

// What one of two bodies gives, of which only that one runs; both give `count` tensors of the same
// dtypes and shapes. `predicate`: a scalar of bool. `in` of the bodies is NULL.
#define keel_cond(...) keel_cond_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_cond_at(keel_caller_t site, keel_tensor_t predicate, keel_body_t on_true,
                           keel_body_t on_false, void *user, size_t count, keel_tensor_t *out);
// The same with any number of bodies. `index`: a scalar integer, clamped to them.
#define keel_switch(...) keel_switch_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_switch_at(keel_caller_t site, keel_tensor_t index, const keel_body_t *branches,
                             size_t branch_count, void *user, size_t count, keel_tensor_t *out);

// One layer of several: in: carries and its parameters; out: carries. `layer` counts from 0. It is
// a body; it is called once or twice for each layer.
typedef void (*keel_layer_t)(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out);

// 0 and NULL are the default of each.
typedef struct keel_layers_t {
    const keel_tensor_t *carry;
    size_t carry_count;
    const keel_tensor_t *parameters; // those of the first layer, then those of the next one, ...
    size_t parameter_count;          // of each layer
    size_t layer_count;
    keel_save_t save;     // what gradients keep of each layer
    size_t barrier_every; // layers, if they are not scanned; default: no barriers
    int is_unrolled;      // do not scan
} keel_layers_t;

// Layers one after another. If they are structurally the same, they become one scan over their
// parameters and numbers, which are stacked for it: the program has one layer, however many there
// are, and copies the parameters once. Otherwise they stand one behind another, and the reason is
// printed once. All layers are traced to see it, and the first once more if it has numbers. `out`:
// carry_count tensors.
#define keel_layers(...) keel_layers_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_layers_at(keel_caller_t site, keel_context_t *context, keel_layer_t layer,
                             void *user, const keel_layers_t *layers, keel_tensor_t *out);
// Why the last keel_layers did not scan; NULL if it did. It is valid until the next one.
KEEL_API const char *keel_layers_declined(const keel_context_t *context);

// ---- gradients of bodies -----------------------------------------------------------------------

// What the body makes of `in`, at once. A gradient keeps only what `save` says of it, and computes
// the rest again, behind a barrier: less memory for more work.
#define keel_checkpoint(...) keel_checkpoint_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_checkpoint_at(keel_caller_t site, keel_context_t *context, keel_body_t body,
                                 void *user, keel_save_t save, const keel_tensor_t *in,
                                 size_t in_count, size_t count, keel_tensor_t *out);

// Operations with a gradient of one's own.
typedef struct keel_custom_t {
    keel_body_t forward;  // inputs -> outputs, then saved values
    keel_body_t backward; // inputs, outputs, saved values, gradients of outputs -> those of inputs
    void *user;           // of both; it must live until the step ends
    const keel_tensor_t *inputs;
    size_t input_count, output_count, saved_count;
} keel_custom_t;

// The outputs. `backward` is called for each gradient that passes through them, with zeros for
// outputs that have none; what it leaves empty is nothing. Only inputs get a gradient.
#define keel_custom_gradient(...) keel_custom_gradient_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_custom_gradient_at(keel_caller_t site, keel_context_t *context,
                                      const keel_custom_t *custom, keel_tensor_t *out);

// ---- parts of one device -----------------------------------------------------------------------

// What one device does by itself: keel_local gives it its part of `x`, split as the spec says;
// operations on parts are its own, and have the part's shape; keel_global makes one tensor of all
// parts again, of which those along no axis of the spec must be equal. If one operand of an
// operation is a part, the others are taken whole on each device. A part cannot be assigned, kept,
// read, or used by a loop or a branch (but a body may have all of it inside).
#define keel_local(...) keel_local_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_local_at(keel_caller_t site, keel_tensor_t x, keel_spec_t spec);
#define keel_global(...) keel_global_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_global_at(keel_caller_t site, keel_tensor_t x, keel_spec_t spec);
// Collectives, of parts: each device exchanges with those along these axes of the mesh, "data" or
// "data,model". Their gradients are collectives too.
// The sum, maximum or minimum.
#define keel_all_reduce(...) keel_all_reduce_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_all_reduce_at(keel_caller_t site, keel_tensor_t x, keel_reduce_op_t op,
                                          const char *axes);
// Concatenates along `axis`.
#define keel_all_gather(...) keel_all_gather_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_all_gather_at(keel_caller_t site, keel_tensor_t x, int axis,
                                          const char *axes);
// Adds, and gives each device its part along `axis`.
#define keel_reduce_scatter(...) keel_reduce_scatter_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_reduce_scatter_at(keel_caller_t site, keel_tensor_t x, int axis,
                                              const char *axes);
// Splits along `split`, sends the i-th part to the i-th device, and concatenates what came along
// `join`.
#define keel_all_to_all(...) keel_all_to_all_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_all_to_all_at(keel_caller_t site, keel_tensor_t x, int split, int join,
                                          const char *axes);
// To the device that is `by` further, around the ring.
#define keel_permute(...) keel_permute_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_permute_at(keel_caller_t site, keel_tensor_t x, int64_t by,
                                       const char *axes);

// ---- layers ------------------------------------------------------------------------------------

// Results have the dtype of x; those of small floats are computed in f32 if they sum anything.

#define keel_relu(...) keel_relu_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_relu_at(keel_caller_t site, keel_tensor_t x);
#define keel_silu(...) keel_silu_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_silu_at(keel_caller_t site, keel_tensor_t x);
// With tanh, as GPT-2 has it.
#define keel_gelu(...) keel_gelu_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_gelu_at(keel_caller_t site, keel_tensor_t x);
#define keel_softmax(...) keel_softmax_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_softmax_at(keel_caller_t site, keel_tensor_t x, int axis);
#define keel_log_softmax(...) keel_log_softmax_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_log_softmax_at(keel_caller_t site, keel_tensor_t x, int axis);
// Over the last axis. `scale` and `shift` ([last], or empty: none). The epsilon is a number, in the
// dtype of the sums: f32 for small floats.
#define keel_rms_norm(...) keel_rms_norm_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_rms_norm_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                                        double epsilon);
#define keel_layer_norm(...) keel_layer_norm_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_layer_norm_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                                          keel_tensor_t shift, double epsilon);
// -log softmax(logits)[target]: [..., classes] and [...] integers give [...]. 0 for a target that
// is not a class.
#define keel_cross_entropy(...) keel_cross_entropy_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_cross_entropy_at(keel_caller_t site, keel_tensor_t logits,
                                             keel_tensor_t targets);

// ---- gradients ---------------------------------------------------------------------------------

// d loss / d x[i] for a scalar loss of this step, in the dtype and shape of each; zeros where loss
// does not depend on it. A variable that was assigned means its new value here. The gradient's
// operations have the lines of those that they come from.
#define keel_gradients(...) keel_gradients_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_gradients_at(keel_caller_t site, keel_tensor_t loss, const keel_tensor_t *x,
                                size_t count, keel_tensor_t *out);

#ifdef __cplusplus
}
#endif

#endif // KEEL_TENSOR_H_
