// tensor: the library door's front end: include/keel/tensor.h.
//
//   context.c    what a context holds, its errors, sources of tensors
//   trace.c      the trace: nodes are appended and hashed
//   shape.c      broadcasting, promotion, axes
//   operation.c  the table of operations: one file op_*.c for each family has what is refused, the
//                shape of what it gives, its HLO and its gradient; operation.h says how
//   window.c     windows, of convolutions and reductions
//   layers.c     what is made of operations; axes.c, arrays.c: of those on axes and places;
//                random.c: of bits
//   region.c     computations in the trace: bodies of loops and branches
//   control.c    loops, branches, checkpoints
//   custom.c     gradients of the user
//   naming.c     named scopes
//   stack.c      layers as a scan
//   gradient.h   reverse mode over the trace
//   order.c      the nodes that a program needs, in an order of their own
//   emit.c       trace -> program model (an HLO program; read/write.h writes it); emit_model.c and
//                emit_sharding.c have its pieces
//   number.c     host numbers as elements of a dtype; sent.c: on the devices
//   step.c       the end of a step: a known trace runs, a new one is compiled
//   mesh.c       the mesh, its specs, and which part of a tensor a device has
//   device.c     the plugin door's table: devices, compiling, executing; transfer.c: buffers;
//                peers.c: other processes
//   room.c       what other rooms need of a context: tensor.h
//
// A trace is tables without pointers, so two traces are one program exactly if their bytes are
// equal; the hash only finds the candidate. Where a node was made is kept apart: another line of
// the same trace is the same program.
//
// Ownership: the context owns everything. Threads: one at a time for each context.
#ifndef KEEL_TENSOR_TRACE_H_
#define KEEL_TENSOR_TRACE_H_

#include <pjrt_c_api.h>

#include <stdio.h>

#include "base/base.h"
#include "keel/arrays.h"
#include "keel/complex.h"
#include "keel/random.h"
#include "keel/tensor.h"
#include "program/program.h"
#include "tensor/tensor.h"

// ---- nodes -------------------------------------------------------------------------------------

typedef enum node_kind {
    NODE_VARIABLE,  // words: its place among the variables that the step uses; its sharding
    NODE_INPUT,     // words: its place among the step's inputs; its sharding
    NODE_NUMBER,    // words: its place among the step's numbers
    NODE_CONSTANT,  // words: bits of a double
    NODE_LITERAL,   // an array; words: its elements, packed
    NODE_IOTA,      // words: axis
    NODE_UNARY,     // op: keel_unary_op_t
    NODE_BINARY,    // op: keel_binary_op_t
    NODE_COMPARE,   // op: keel_compare_op_t
    NODE_SELECT,    //
    NODE_CONVERT,   //
    NODE_BROADCAST, // words: for each axis of the operand, the result's axis
    NODE_RESHAPE,   //
    NODE_TRANSPOSE, // words: for each axis of the result, the operand's axis
    NODE_REDUCE,    // op: keel_reduce_op_t; words: axes, ascending
    NODE_WINDOW,    // op: keel_reduce_op_t; words: sizes, windows (op_window.c)
    // Into or from where the windows of operand 0 have their maximum or minimum: operand 1, of
    // which there is one for each window, or which has the shape of operand 0. The same op and
    // words.
    NODE_WINDOW_PUT,
    NODE_WINDOW_TAKE,
    NODE_COMPLEX,      // of a real and an imaginary part
    NODE_COMPLEX_PART, // op: 1 if it is the imaginary one
    NODE_FFT,          // op: XLA's fft_type; words: lengths
    // op: keel_precision_t; words: batches, their number first, of x and y; then the same for sums
    NODE_DOT,
    NODE_SLICE,         // words: axis, from, to, step
    NODE_PAD,           // words: axis, before, after, between
    NODE_JOIN,          // concatenate; words: axis
    NODE_REVERSE,       // words: axes, ascending
    NODE_TAKE,          // of operand 0 at operand 1; words: axis, 1 if operand 1 has its rank
    NODE_PUT,           // operand 2 into operand 0 at operand 1; words: the same; op: keel_put_op_t
    NODE_DYNAMIC_SLICE, // of operand 0 from operand 1 on; words: axis
    NODE_DYNAMIC_UPDATE, // operand 1 in operand 0 from operand 2 on; words: axis
    NODE_CONVOLUTION,    // op: keel_precision_t; words: groups, windows (op_convolution.c)
    NODE_CALL,           // a custom call; a tuple if it has several results (op_call.c)
    NODE_STOP,           // its operand, without a gradient
    NODE_BITCAST,
    NODE_IS_FINITE,
    NODE_SORT,  // a tuple: the operands in the order of the first; op: keel_order_t; words: axis
    NODE_SHARD, // its operand; words: the sharding
    // Between global and local values (op_local.c); words: the sharding
    NODE_LOCAL,
    NODE_GLOBAL,
    NODE_COLLECTIVE, // op: collective_kind_t; words: axes as in sharding_t; reduction, axis or
                     // shift
    NODE_BARRIER,    // a tuple of its operands, all of which are there before any of them is used
    NODE_PART,       // a result of its operand, a tuple; words: which
    // Of regions, below. All but the first three are tuples; their last operands are what their
    // regions use from outside.
    NODE_BEGIN,      // words: the region
    NODE_PARAMETER,  // words: which
    NODE_END,        // its operands are what the region gives
    NODE_WHILE,      // words: the regions of the condition and of the body
    NODE_SCAN,       // words: region, steps, carries, inputs, 1 if from the last to the first,
                     // keel_save_t
    NODE_SWITCH,     // words: regions; operand 0: which, or a bool, of which true is the first
    NODE_CHECKPOINT, // words: region, keel_save_t, inputs
    // Results of keel_custom_gradient. words: its place in customs, inputs, outputs; operands:
    // these, then what was saved
    NODE_CUSTOM,
    // What a node of operand 0's region was: for a scan in each step, along a new axis 0. words: it
    NODE_SAVED,
    NODE_KIND_COUNT,
} node_kind_t;

// A handle of a variable: its index, and above it its generation.
enum { VARIABLE_INDEX = (1 << 20) - 1, VARIABLE_SHIFT = 20 };

// No padding: traces are compared byte by byte.
typedef struct node_t {
    uint8_t kind, op;
    uint16_t dtype;
    uint32_t shape; // in shapes
    uint32_t first_operand, operand_count;
    uint32_t first_word, word_count;
} node_t;

// A node with several results is a tuple: this is its dtype, and its shape is of no dimensions. The
// last words are the dtype and the shape (in shapes) of each result, then their number. Its parts
// are the nodes behind it, in order.
enum { DTYPE_TUPLE = KEEL_DTYPE_COUNT };

typedef struct trace_t {
    KEEL_TABLE(node_t) nodes;
    KEEL_TABLE(uint32_t) operands; // nodes
    KEEL_TABLE(int64_t) words;
    KEEL_TABLE(keel_caller_t) sites; // of each node
    KEEL_TABLE(uint32_t) namings;    // of each node: the named scope around it; KEEL_NONE: none
    KEEL_TABLE(uint32_t) scopes;     // of each node: the region that it is in; KEEL_NONE: none
    KEEL_TABLE(uint8_t) locals;      // of each node: trace_is_local; empty before the first
    uint64_t hash;
} trace_t;

// A computation in the trace: the nodes between begin and end. Regions nest, and a node may use
// nodes of the regions around it. Variables, inputs and numbers are of no region, wherever they
// are used first.
typedef struct region_t {
    uint32_t begin, end; // end is KEEL_NONE while it is open
    uint32_t parent;     // KEEL_NONE: none
    uint32_t control;    // the node that runs it; KEEL_NONE: none yet
} region_t;

// ---- meshes ------------------------------------------------------------------------------------

// Shared by the context and its device. Without axes, it has one device and splits nothing.
typedef struct mesh_t {
    uint32_t axis_count;
    char *names[KEEL_MAX_MESH_AXES];
    int64_t sizes[KEEL_MAX_MESH_AXES];
    int64_t devices; // their product
} mesh_t;

typedef enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER, // a sum
    COLLECTIVE_ALL_TO_ALL,     // splits and joins one axis
    COLLECTIVE_PERMUTE,        // to the device that is so much further
} collective_kind_t;

// For each dimension, the axes that split it: 4 bits each, 1 is the first axis of the mesh, the
// lowest bits are the outermost. All 0: whole on each device.
typedef struct sharding_t {
    uint32_t dims[KEEL_MAX_RANK];
} sharding_t;

// ---- context -----------------------------------------------------------------------------------

// A named scope. Like sites, they are not part of what makes a program.
enum { NAMING_DEPTH = 64 };
typedef struct naming_t {
    uint32_t text;  // where its name begins in naming_text
    uint32_t outer; // KEEL_NONE: none
    uint32_t depth; // from 1
    keel_caller_t site;
} naming_t;

typedef struct variable_t {
    char *name; // NULL: kept without a name
    keel_dtype_t dtype;
    uint32_t shape, sharding;
    keel_caller_t site;    // that made it
    PJRT_Buffer **buffers; // the first is NULL before the first value
    uint32_t node;         // what it means in this step; KEEL_NONE: not used yet
    uint32_t use;          // its place among those that the step uses; KEEL_NONE: none
    uint32_t next_free;    // of released ones
    uint32_t generation;   // counts releases, so that an old handle is noticed
    bool is_live, is_assigned;
    bool is_doomed; // released while the open step needs its value
} variable_t;

typedef struct input_t {
    char *name;
    keel_dtype_t dtype;
    uint32_t shape, sharding;
    PJRT_Buffer **buffers; // of this step
} input_t;

// What keel_number gives while the scan over layers is traced: the numbers of the layer at hand.
typedef struct stand_ins_t {
    const keel_tensor_t *numbers;
    uint32_t count, next;
} stand_ins_t;

// A host number of the step.
typedef struct number_t {
    double value;
    keel_dtype_t dtype;
    const char *name; // the arguments as C has them; the last one is the expression
} number_t;

typedef struct compiled_t compiled_t;

// Of a custom gradient.
typedef struct callbacks_t {
    keel_body_t backward;
    void *user;
} callbacks_t;

struct keel_context_t {
    char *name;
    mesh_t mesh;
    struct device_t *device;
    PJRT_Buffer **room, **computed; // a buffer of each lane
    keel_status_t error;            // the first of this step
    uint32_t step;                  // the open one, from 1
    keel_figures_t figures;
    KEEL_TABLE(keel_shape_t) shapes;
    keel_map_t shape_ids;
    KEEL_TABLE(sharding_t) shardings; // SHARDING_WHOLE is the first
    KEEL_TABLE(uint32_t) mixed;       // of local_mix
    KEEL_TABLE(variable_t) variables;
    uint32_t free_variable;
    KEEL_TABLE(uint32_t) used;     // variables whose value before this step it needs, by first use
    KEEL_TABLE(uint32_t) assigned; // variables, by first assignment
    KEEL_TABLE(input_t) inputs;    // used_inputs of this step come first
    uint32_t used_inputs;
    KEEL_TABLE(number_t) numbers; // of the open step
    trace_t trace;
    KEEL_TABLE(region_t) regions; // of the open step
    uint32_t region;              // the innermost open one; KEEL_NONE: none
    KEEL_TABLE(naming_t) namings; // of the open step
    KEEL_TABLE(char) naming_text;
    uint32_t naming;                 // the innermost open one; KEEL_NONE: none
    uint32_t naming_skipped;         // begun behind an error, and not ended
    KEEL_TABLE(uint8_t) precisions;  // keel_precision_t of the scopes that are open
    KEEL_TABLE(callbacks_t) customs; // of the open step
    KEEL_TABLE(uint32_t) losses;     // of which the open step has gradients
    char *declined;                  // why keel_layers did not scan; NULL: it did
    uint32_t layers;                 // calls of keel_layers that are under way
    uint32_t callbacks;              // other callbacks that trace in no region, and are under way
    KEEL_TABLE(uint32_t) made;       // the numbers that their callbacks asked for, in order
    stand_ins_t *stand_ins;          // NULL: they are numbers
    KEEL_TABLE(uint32_t) adjoints;   // room for a list of nodes at the end of a step
    struct borrowed_t *spare;        // of context_borrow
    struct {
        uint32_t count, capacity;
        compiled_t **data;
    } compiled;
    keel_buffer_t newest; // the HLO of the newest program
    keel_caller_t site;   // of the operation at hand
};

// ---- errors ------------------------------------------------------------------------------------

// The first error of a step is kept, with its place; all others are dropped. Returns an empty
// tensor.
keel_tensor_t context_fail(keel_context_t *context, keel_caller_t site, const char *format, ...)
    KEEL_PRINTF(3, 4);
// The same for a status.
keel_tensor_t context_take(keel_context_t *context, keel_caller_t site, keel_status_t status);

// Memory for as long as a call takes, which the next call gets again: a known step allocates
// nothing. Calls nest, and return the last first.
keel_status_t context_borrow(keel_context_t *context, size_t size, void **out) KEEL_MUST_CHECK;
void context_return(keel_context_t *context, void *memory); // NULL is allowed

// ---- shape.c -----------------------------------------------------------------------------------

enum { SHAPE_TEXT = 200 };
enum { ELEMENT_BYTES = 16 }; // of the largest dtype
// "f32[2,3]"
const char *shape_text(keel_dtype_t dtype, const keel_shape_t *shape, char out[SHAPE_TEXT]);
// False if the number of elements overflows, or a dimension is negative.
bool shape_elements(const keel_shape_t *shape, int64_t *out);
bool shape_equal(const keel_shape_t *x, const keel_shape_t *y);
// With an axis 0 of that size before its own.
keel_shape_t shape_stacked(const keel_shape_t *shape, int64_t size);
bool shape_broadcast(const keel_shape_t *x, const keel_shape_t *y, keel_shape_t *out);
bool dtype_is_float(keel_dtype_t dtype);
bool dtype_is_integer(keel_dtype_t dtype); // bool is not one
bool dtype_is_complex(keel_dtype_t dtype);
bool dtype_has_gradient(keel_dtype_t dtype); // floats and complex numbers
// Of the parts of a complex number; any other dtype is its own.
keel_dtype_t dtype_real(keel_dtype_t dtype);
// The dtype of two operands; false if it would surprise.
bool dtype_promote(keel_dtype_t x, keel_dtype_t y, keel_dtype_t *out);
// -1 is the last axis; false if there is no such axis.
bool axis_resolve(int64_t axis, int32_t rank, int32_t *out);
// Ascending, each once.
bool axes_resolve(const keel_axes_t *axes, int32_t rank, int32_t out[KEEL_MAX_RANK]);

// ---- number.c ----------------------------------------------------------------------------------

// False if it is not an integer that the dtype has, or a float beyond its largest. Floats round
// what is between theirs.
bool number_fits(keel_dtype_t dtype, double value);
// The lowest number of the dtype that is finite; it has one if it is neither bool nor complex.
double number_lowest(keel_dtype_t dtype);
// Writes keel_dtype_size bytes. Integers are truncated and clamped, small floats rounded to even.
void number_encode(keel_dtype_t dtype, double value, void *out);

// ---- trace.c -----------------------------------------------------------------------------------

// The place of a shape in the table of shapes.
keel_status_t trace_shape(keel_context_t *context, const keel_shape_t *shape,
                          uint32_t *out) KEEL_MUST_CHECK;

typedef struct node_spec_t {
    node_kind_t kind;
    int op;
    keel_dtype_t dtype;
    keel_shape_t shape;
    const int64_t *words;
    uint32_t word_count;
} node_spec_t;

// Appends a node and returns it as a tensor of the open step; empty, with the context's error, if
// it cannot. Operands are nodes.
keel_tensor_t trace_add(keel_context_t *context, const node_spec_t *spec, const uint32_t *operands,
                        uint32_t count);

typedef struct result_t {
    keel_dtype_t dtype;
    keel_shape_t shape;
} result_t;

// Appends a node with several results, and a node for each of these: `out`, of which all are empty
// if there is an error. The dtype and the shape of the spec are ignored. The node, or KEEL_NONE.
uint32_t trace_add_tuple(keel_context_t *context, const node_spec_t *spec, const uint32_t *operands,
                         uint32_t count, const result_t *results, uint32_t result_count,
                         keel_tensor_t *out);
// A result of a tuple.
result_t trace_result(const keel_context_t *context, const node_t *tuple, uint32_t which);
static inline uint32_t trace_result_count(const trace_t *trace, const node_t *tuple) {
    return (uint32_t)trace->words.data[tuple->first_word + tuple->word_count - 1];
}
void trace_clear(keel_context_t *context);
bool trace_equal(const trace_t *x, const trace_t *y);
void trace_deinitialize(trace_t *trace);

static inline const node_t *trace_node(const keel_context_t *context, uint32_t node) {
    KEEL_ASSERT(node < context->trace.nodes.count);
    return &context->trace.nodes.data[node];
}
// Whether each device has its own value of it.
static inline bool trace_is_local(const trace_t *trace, uint32_t node) {
    return node < trace->locals.count && trace->locals.data[node];
}
static inline const keel_shape_t *trace_node_shape(const keel_context_t *context, uint32_t node) {
    KEEL_ASSERT(trace_node(context, node)->shape < context->shapes.count);
    return &context->shapes.data[trace_node(context, node)->shape];
}
static inline const uint32_t *trace_operands(const trace_t *trace, const node_t *node) {
    KEEL_ASSERT(node->first_operand <= trace->operands.count);
    return trace->operands.data + node->first_operand;
}
static inline uint32_t trace_operand(const keel_context_t *context, const node_t *node,
                                     uint32_t which) {
    return trace_operands(&context->trace, node)[which];
}
static inline const int64_t *trace_words(const trace_t *trace, const node_t *node) {
    KEEL_ASSERT(node->first_word <= trace->words.count);
    return trace->words.data + node->first_word;
}

// ---- operation.c --------------------------------------------------------------------------------

// Whether a tensor that is not empty is of the open step, or a variable that was not released.
bool ops_is_usable(keel_tensor_t tensor);
// The node of each operand of an operation called `what`, which becomes the context's site. NULL,
// with an error in the context if there is one, if an operand is empty, belongs to another context
// or to a step that has ended.
keel_context_t *ops_begin(keel_caller_t site, const char *what, const keel_tensor_t *operands,
                          uint32_t count, uint32_t *out_nodes);
// The same for any number of operands; the caller frees the nodes, whatever is returned.
keel_context_t *ops_begin_list(keel_caller_t site, const char *what, const keel_tensor_t *operands,
                               uint32_t count, uint32_t **out_nodes);
keel_tensor_t ops_constant(keel_context_t *context, keel_dtype_t dtype, double value);
// Tensors of one dtype and shape, of less than 8 dimensions, along a new axis 0.
keel_tensor_t ops_stack(keel_caller_t site, const keel_tensor_t *x, uint32_t count);

// ---- region.c ----------------------------------------------------------------------------------

typedef KEEL_TABLE(uint32_t) list_t; // nodes

// Opens a region in the open one, and makes it that. KEEL_NONE, with an error, if it cannot.
uint32_t region_open(keel_context_t *context);
keel_tensor_t region_parameter(keel_context_t *context, uint32_t which, const result_t *type);
// Closes the innermost one, whatever happens. False if the end could not be added.
bool region_close(keel_context_t *context, const uint32_t *results, uint32_t count);

// What the user's callback traces becomes a region.
typedef struct body_t {
    const char *what; // "scan"
    keel_caller_t site;
    keel_body_t trace;
    void *user;
    const result_t *parameters;
    uint32_t parameter_count, result_count;
} body_t;
// False, with an error, if there is no such region. Afterwards the site is the body's again.
bool region_trace(keel_context_t *context, const body_t *body, uint32_t *out);

// Whether a node is between begin and end, and no variable, input or number.
static inline bool region_has(const keel_context_t *context, uint32_t region, uint32_t node) {
    KEEL_ASSERT(region < context->regions.count);
    const region_t *it = &context->regions.data[region];
    return node > it->begin && node < it->end && context->trace.scopes.data[node] != KEEL_NONE;
}
// The nodes that it gives.
static inline const uint32_t *region_results(const keel_context_t *context, uint32_t region) {
    return trace_operands(&context->trace, trace_node(context, context->regions.data[region].end));
}
result_t region_node_type(const keel_context_t *context, uint32_t node);
// Appends what the results of a closed region need, each node once, that of regions around it too:
// in an order that follows from the operands alone. `is_used`: of each node of the trace.
keel_status_t region_uses(const keel_context_t *context, uint32_t region, bool *is_used,
                          list_t *out) KEEL_MUST_CHECK;
// Appends what these closed regions use from outside, each once.
keel_status_t region_captures(keel_context_t *context, const int64_t *regions, uint32_t count,
                              list_t *out) KEEL_MUST_CHECK;
// The regions of a control node; their number is 0 for any other node.
const int64_t *region_of_node(const keel_context_t *context, const node_t *node, uint32_t *count);
// True, with an error, if a body is being traced.
bool region_refuses(keel_context_t *context, keel_caller_t site, const char *what);

// ---- control.c ---------------------------------------------------------------------------------

// A scan over a region that is traced already, for its inputs' types.
void control_scan(keel_caller_t site, keel_context_t *context, const keel_scan_t *scan,
                  uint32_t region, keel_tensor_t *out);

// ---- context.c ---------------------------------------------------------------------------------

// Gives a variable another value: a buffer of each lane, which are taken.
void context_fill(keel_context_t *context, variable_t *variable, PJRT_Buffer **buffers);
// A name is a string of the program, and XLA takes no other text than UTF-8.
bool context_is_text(const char *name);
// The file of a caller for a message.
const char *caller_file(keel_caller_t site);
// The variable of a handle with step 0; NULL if it was released.
variable_t *context_variable(keel_tensor_t tensor);
void context_release(keel_context_t *context, uint32_t index);
// Forgets what the open step has, and begins the next one.
void context_begin_step(keel_context_t *context);
// The node of a variable in this step; KEEL_NONE with an error if it has no value.
uint32_t context_variable_node(keel_context_t *context, uint32_t index);

// ---- mesh.c ------------------------------------------------------------------------------------

enum { SHARDING_WHOLE = 0 };

keel_status_t mesh_open(const keel_mesh_t *given, mesh_t *out) KEEL_MUST_CHECK;
void mesh_close(mesh_t *mesh);
// The sharding of a spec for such a tensor. False, with an error in the context, if it has none.
bool mesh_resolve(keel_context_t *context, const char *what, const keel_spec_t *spec,
                  keel_dtype_t dtype, const keel_shape_t *shape, uint32_t *out);
// Parts of each dimension; true if there is more than one in all.
bool mesh_parts(const mesh_t *mesh, const sharding_t *sharding, int64_t out[KEEL_MAX_RANK]);

// Axes of the mesh by their names, "data" or "data,model"; false, with an error, if there is one
// without. Lists of axes are as in sharding_t.
bool mesh_axes(keel_context_t *context, const char *what, const char *names, uint32_t *out);
int64_t mesh_size(const mesh_t *mesh, uint32_t axes); // the devices along these axes
uint32_t mesh_others(const mesh_t *mesh, const sharding_t *sharding); // axes that split nothing
// How far a device is from the first one along these axes; and whether a device is such a first
// one.
int64_t mesh_member(const mesh_t *mesh, uint32_t axes, int64_t index);
bool mesh_is_first(const mesh_t *mesh, uint32_t axes, int64_t position);
// The shape of what has such parts.
bool mesh_grow(keel_context_t *context, const char *what, const keel_spec_t *spec,
               keel_dtype_t dtype, keel_shape_t *shape);
// The part of a tensor that one device of the mesh has.
typedef struct tile_t {
    int64_t from[KEEL_MAX_RANK], dims[KEEL_MAX_RANK];
    bool is_whole;
} tile_t;
// All axes of the mesh, first those that split the first dimension, and so on. Returns their
// number.
uint32_t mesh_order(const mesh_t *mesh, const sharding_t *sharding,
                    int64_t out[KEEL_MAX_MESH_AXES]);
tile_t mesh_tile(const mesh_t *mesh, const sharding_t *sharding, const keel_shape_t *shape,
                 int64_t position);

// ---- op_local.c --------------------------------------------------------------------------------

// Notes whether the next node will be local.
keel_status_t local_note(keel_context_t *context, node_kind_t kind, const uint32_t *operands,
                         uint32_t count) KEEL_MUST_CHECK;
// If one operand is local, all others become so: *operands is then another list, until the next
// call. False, with an error, if they cannot.
bool local_mix(keel_context_t *context, node_kind_t kind, const uint32_t **operands,
               uint32_t count);
// True, with an error, if a node is local.
bool local_refuses(keel_context_t *context, const char *what, uint32_t node);

// ---- order.c -----------------------------------------------------------------------------------

// What some results need of a trace. Its order follows from the operands alone, and so do the
// numbers of its regions.
typedef struct ordered_t {
    trace_t trace;
    KEEL_TABLE(region_t) regions;
    list_t results; // the nodes
} ordered_t;

// Closed whatever is returned.
keel_status_t order_open(const keel_context_t *context, const uint32_t *results, uint32_t count,
                         ordered_t *out) KEEL_MUST_CHECK;
void order_close(ordered_t *ordered);

// ---- emit.c ------------------------------------------------------------------------------------

typedef enum argument_kind { ARGUMENT_VARIABLE, ARGUMENT_INPUT, ARGUMENT_NUMBER } argument_kind_t;
typedef struct argument_t {
    uint8_t kind;   // argument_kind_t
    uint32_t index; // among the step's variables, inputs or numbers
} argument_t;

// What of a trace is computed: `results` are nodes. The program has an argument for each variable,
// input and number that these need. `aliases[i]` is the place of the variable whose buffer result i
// takes over, or KEEL_NONE, and `shardings[i]` how it is split.
// `variables[i]` is the one that it is assigned to; NULL: there is one result, which is read.
typedef struct emit_t {
    const uint32_t *variables;
    const uint32_t *results, *aliases, *shardings;
    uint32_t result_count;
    // The caller frees the data.
    KEEL_TABLE(argument_t) arguments;
    keel_digest_t digest; // of the program without its lines
} emit_t;

// Appends the HLO of the program.
keel_status_t emit_program(const keel_context_t *context, emit_t *emit,
                           keel_buffer_t *out) KEEL_MUST_CHECK;

// ---- device.c ----------------------------------------------------------------------------------

// The devices of a context. Its lanes are those of the mesh that this process has, in order.
typedef struct device_t device_t;

// This process among those of its job.
typedef struct job_t {
    int32_t process, processes; // 0: one
    const char *meet;           // where they find each other
} job_t;

// `count`: of devices, for XLA's CPU plugin; 0: as many as the mesh has. The mesh must outlive it.
keel_status_t device_open(const char *plugin, const mesh_t *mesh, const job_t *job, int64_t count,
                          device_t **out) KEEL_MUST_CHECK;
void device_close(device_t *device);
size_t device_lanes(const device_t *device);
// Whether all devices of the mesh belong to this process.
bool device_has_all(const device_t *device);
keel_status_t device_compile(device_t *device, keel_bytes_t hlo,
                             PJRT_LoadedExecutable **out) KEEL_MUST_CHECK;
void device_forget(device_t *device, PJRT_LoadedExecutable *loaded);
// Lists of buffers, one for each lane. Waits if too many executions are under way.
keel_status_t device_execute(device_t *device, PJRT_LoadedExecutable *loaded,
                             PJRT_Buffer *const *const *arguments, size_t argument_count,
                             PJRT_Buffer **const *results) KEEL_MUST_CHECK;
void device_step(void); // one of the process ended
// The line for which this thread uses the plugin from now on; NULL: none.
void device_at(const keel_caller_t *site);
bool device_is_frozen(void);

// ---- transfer.c: values, which are a buffer for each lane ---------------------------------------

typedef struct layout_t {
    keel_dtype_t dtype;
    const keel_shape_t *shape;
    const sharding_t *sharding;
} layout_t;

// Fills an array of lanes, or leaves it empty. `data` is the whole value, and copied.
keel_status_t device_send(device_t *device, const layout_t *layout, const void *data,
                          PJRT_Buffer **out) KEEL_MUST_CHECK;
keel_status_t device_receive(device_t *device, const layout_t *layout, PJRT_Buffer *const *buffers,
                             void *data) KEEL_MUST_CHECK;
// Destroys and empties them; NULL is allowed.
void device_drop(device_t *device, PJRT_Buffer **buffers);

// ---- sent.c ------------------------------------------------------------------------------------

typedef struct sent_t sent_t;

// The numbers of a program, of which each argument has a place.
typedef struct sent_numbers_t {
    sent_t *data;
    uint32_t *places;  // in data; KEEL_NONE: none yet
    uint32_t *buckets; // of equal hashes, the first place; KEEL_NONE: none
    uint32_t bucket_count, vacant;
    PJRT_Buffer **buffers;
    uint32_t count;
} sent_numbers_t;

// For so many arguments; closed whatever is returned.
keel_status_t sent_open(uint32_t count, size_t lanes, sent_numbers_t *out) KEEL_MUST_CHECK;
void sent_close(device_t *device, sent_numbers_t *sent);
// A buffer of each lane for argument `which`; they stay those of `sent`.
keel_status_t sent_find(keel_context_t *context, sent_numbers_t *sent, uint32_t which,
                        const number_t *number, PJRT_Buffer ***out) KEEL_MUST_CHECK;

// ---- step.c ------------------------------------------------------------------------------------

// Computes one node of the open step, without ending it: whole on each device, a buffer for each
// lane.
keel_status_t step_compute(keel_context_t *context, uint32_t node,
                           PJRT_Buffer **out) KEEL_MUST_CHECK;
void step_forget_programs(keel_context_t *context);
// The newest program; NULL if there is none.
PJRT_LoadedExecutable *step_last_loaded(const keel_context_t *context);

#endif // KEEL_TENSOR_TRACE_H_
