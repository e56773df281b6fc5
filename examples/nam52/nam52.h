// NAM52, a mixed stack: attention (A), experts (E), Mamba-2 (M) and Engram (G) blocks in turn, and
// heads that predict further tokens (MTP).
//
//   config.c     the configurations, and what of one cannot be
//   attention.c  A: grouped queries, softcap, on some blocks sparse by an indexer
//   experts.c    E: top-k of sigmoid scores, a static capacity, a shared expert
//   mamba.c      M: Mamba-2 in its chunked matrix form
//   engram.c     G: a memory that hashed n-grams look up
//   model.c      the stack, its ends, the loss
//   batches.c    a text as enriched rows
//   step.c       a step of training
//   nam52.c      training
//   accidents.c  what a training like this gets wrong, on demand; by_hand.c: with its gradients
//
// Everything is f32. B rows, T positions, d the width. Blocks get rms(x) and give what is added to
// x; G norms x itself. No tensor's value decides a shape, a branch or a constant.
#ifndef KEEL_EXAMPLES_NAM52_H_
#define KEEL_EXAMPLES_NAM52_H_

#include <keel/keel.h>

enum { MAX_BLOCKS = 64, MAX_MTP = 3, MAX_HASHES = 16, MAX_FIELDS = 9, PAD_ID = 261 };

typedef struct config_t {
    const char *name;
    int vocabulary, width, blocks;   // blocks are A, E, M, G in turn
    int length, rows, micro_batches; // rows of a micro-batch
    int heads, groups, head;         // of attention: queries, keys and values; their width
    int sparse_from, sparse_except;  // attention blocks from this rank on are sparse, but each
                                     // sparse_except-th; 0: no exception
    int index_heads, index_width, keys, near; // of sparse ones; keys that a row keeps
    int experts, top, expert_width, shared_width;
    int inner, mamba_head, state, mamba_groups, chunk;
    int hash_heads, hash_width, first_prime; // of each order, which are 2 and 3
    int mtp_width;
    double rate, warmup, end;
    int mtp;            // depth
    int capacity;       // of an expert; 0: what a micro-batch needs, and a quarter more
    keel_dtype_t dtype; // that products are computed in; KEEL_BOOL: f32
    int is_exact;       // products of f32, on plugins that round otherwise
} config_t;

// What a step's tensors share.
typedef struct masks_t {
    keel_tensor_t tokens, place;   // i32 [B, T], i32 [T]
    keel_tensor_t is_valid, valid; // [B, T], as bool and as f32
    keel_tensor_t document;        // i32 [B, T]; -1: padding
    keel_tensor_t allow;           // bool [B, T, T]
    keel_tensor_t valid_count;     // f32, at least 1
} masks_t;

typedef struct model_t {
    keel_context_t *keel;
    keel_tree_t *tree;
    config_t config;
    unsigned accidents; // bits; 0: none
    int loss_rows;      // of an accident: tokens that count, in this batch
    int primes[MAX_BLOCKS / 4][MAX_HASHES], table_rows[MAX_BLOCKS / 4]; // of each Engram block
} model_t;

// What the blocks give beside x, summed over blocks.
typedef struct extras_t {
    keel_tensor_t balance, z, indexer;                           // losses; empty: none yet
    keel_tensor_t load[MAX_BLOCKS / 4], dropped[MAX_BLOCKS / 4]; // i32 [E], i32; of each E block
} extras_t;

// ---- config.c ----------------------------------------------------------------------------------

// {0} if there is none of that name.
config_t config_of(const char *name);
// "heads=3", for sizes that the table does not have.
keel_status_t config_set(config_t *config, const char *setting) KEEL_MUST_CHECK;
keel_status_t config_check(const config_t *config) KEEL_MUST_CHECK;
int config_is_sparse(const config_t *config, int rank); // of an attention block
int64_t config_capacity(const config_t *config);

// ---- blocks ------------------------------------------------------------------------------------

// Weights are added below the names that the tree has entered, and got there. `in`: 1 / sqrt of
// what goes in, `out` the same for maps into the residual stream.
void attention_add(model_t *model, int is_sparse);
keel_tensor_t attention(const model_t *model, keel_tensor_t x, const masks_t *masks, int is_sparse,
                        extras_t *extras);
void experts_add(model_t *model);
keel_tensor_t experts(const model_t *model, keel_tensor_t x, const masks_t *masks, int rank,
                      extras_t *extras);
void mamba_add(model_t *model);
keel_tensor_t mamba(const model_t *model, keel_tensor_t x, const masks_t *masks);
void engram_add(model_t *model, int rank);
keel_tensor_t engram(const model_t *model, keel_tensor_t x, const masks_t *masks, int rank);

// ---- model.c -----------------------------------------------------------------------------------

keel_tensor_t weight(const model_t *model, const char *name);
void add_map(const model_t *model, const char *name, int in, int out, int is_residual);
keel_init_t uniform_of(double deviation); // of this standard deviation
keel_tensor_t rms(keel_tensor_t x);
keel_tensor_t add_up(keel_tensor_t sum, keel_tensor_t x); // `sum` may be empty
// The value of position t - by, `fill` before the first one. [B, T] or [B, T, n].
keel_tensor_t shifted(keel_tensor_t x, int by, double fill);
// A causal convolution of width 4 for each channel, in which a document ends. w: [n, 4].
keel_tensor_t document_convolution(keel_tensor_t x, keel_tensor_t w, keel_tensor_t document,
                                   int dilation);
keel_tensor_t swiglu(keel_tensor_t x, keel_tensor_t gate, keel_tensor_t up, keel_tensor_t down);
// The mean over valid positions.
keel_tensor_t mean_valid(keel_tensor_t x, const masks_t *masks);

void model_add(model_t *model);

#define FIELDS(X)                                                                                  \
    X(tokens)                                                                                      \
    X(targets)                                                                                     \
    X(loss_mask)                                                                                   \
    X(doc_ids)                                                                                     \
    X(valid_token_count)                                                                           \
    X(fim_bounds)                                                                                  \
    X(structure_ids)                                                                               \
    X(dep_levels)                                                                                  \
    X(aux_mask)

// A micro-batch, each field [B, ...], or those of a step, [A, B, ...]. keel_batch_next makes all of
// them whole; only an accident leaves one empty.
typedef struct fields_t {
#define FIELD(name) keel_tensor_t name;
    FIELDS(FIELD)
#undef FIELD
} fields_t;

fields_t model_micro_batch(const fields_t *all, keel_tensor_t micro);
masks_t model_masks(const model_t *model, const fields_t *fields);
// The parts of a loss: x before the first block, after some of them, the cross entropies of what x
// says (`out_loss` gets that of the next token), and what the blocks add to them.
keel_tensor_t model_begin(const model_t *model, const fields_t *fields, const masks_t *masks);
keel_tensor_t model_blocks(const model_t *model, keel_tensor_t x, int from, int to,
                           const masks_t *masks, extras_t *extras);
keel_tensor_t model_logits(const model_t *model, keel_tensor_t x);
keel_tensor_t model_end(const model_t *model, const fields_t *fields, const masks_t *masks,
                        keel_tensor_t x, keel_tensor_t *out_loss);
keel_tensor_t model_extras(const model_t *model, const extras_t *extras); // empty: none
// All of it.
keel_tensor_t model_loss(const model_t *model, const fields_t *fields, extras_t *extras,
                         keel_tensor_t *out_loss);

// ---- batches.c ---------------------------------------------------------------------------------

typedef struct loader_t loader_t;

keel_status_t loader_open(const config_t *config, const char *path, loader_t **out) KEEL_MUST_CHECK;
void loader_close(loader_t *loader); // NULL is allowed
keel_status_t loader_fields(const config_t *config, keel_context_t *keel,
                            keel_batch_t **out) KEEL_MUST_CHECK;
// Reads the micro-batches of one step; loader_arrays gives them, the loader's until the next ones,
// and says how many arrays there are. Optional fields are missing in some steps.
void loader_next(loader_t *loader, long step);
size_t loader_arrays(const loader_t *loader, keel_host_array_t arrays[MAX_FIELDS]);
// Of accidents. At first rows are those of the configuration, which has the most, 16 tokens are
// padding in each second row, and optional fields are missing in some steps.
typedef struct habits_t {
    int rows, length, is_padded_by_step, is_complete;
} habits_t;
void loader_become(loader_t *loader, const habits_t *habits);
// Real tokens of the first micro-batch, and of a document on average; the most tokens of a
// micro-batch whose loss counts.
typedef struct counts_t {
    int real, counted, average;
} counts_t;
counts_t loader_counts(const loader_t *loader);
// Where in the text the next row begins, so that a run can go on.
uint64_t loader_place(const loader_t *loader);
void loader_seek(loader_t *loader, uint64_t place);
double loader_entropy(const loader_t *loader); // of single tokens, in nats

// ---- step.c ------------------------------------------------------------------------------------

enum { MAX_SUMS = 1 + MAX_BLOCKS / 2 };

typedef struct accidents_t accidents_t;

typedef struct training_t {
    model_t model;
    keel_batch_t *batch;
    keel_optimizer_t *optimizer;
    loader_t *loader;
    keel_tensor_t loss, next, place; // metrics and where the text goes on, on the device
    fields_t inputs;                 // of the open step
    accidents_t *accidents;          // NULL: none
} training_t;

// What the loss of a micro-batch gives beside itself, to be summed: the cross entropy of the next
// token, and for each block of experts its load and what it dropped.
keel_tensor_t step_loss(const model_t *model, const fields_t *fields, keel_tensor_t *out);
size_t step_sums(const config_t *config); // how many
// Assigns these sums over micro-batches and the mean loss to where they are kept.
void step_account(const training_t *training, keel_tensor_t loss, const keel_tensor_t *sums);
void step_inputs(training_t *training); // of what the loader read
void step_trace(training_t *training);
keel_status_t step_train(training_t *training, long step) KEEL_MUST_CHECK;

// ---- accidents.c -------------------------------------------------------------------------------

// Each as one writes it by mistake, where the front end would have had another way.
#define ACCIDENTS(X)                                                                               \
    X(COUNTER, "counter",                                                                          \
      "the host reads what the experts dropped, and it comes back as a literal")                   \
    X(ITEM, "item", "each A and M block asks the host whether documents meet, and branches")       \
    X(BRANCH, "branch", "gradients are clipped until the host has seen a loss below 5")            \
    X(OPTIONAL, "optional", "the model branches on the fields that a batch has")                   \
    X(GATHER, "gather", "the head gets the tokens whose loss counts, as many as there are")        \
    X(TOPK, "topk", "sparse attention keeps as many keys as a document has tokens, on average")    \
    X(LENGTHS, "lengths", "rows are as long as the longest one of their batch")                    \
    X(CAPACITY, "capacity", "the experts' capacity is that of the batch's real tokens")            \
    X(MICROSTEP, "microstep", "a program for each micro-batch; the first creates the gradients")   \
    X(SET_NONE, "set_none", "gradients are dropped after even steps, set to zero after odd ones")  \
    X(ADAMW, "adamw", "the host counts AdamW's steps, and its corrections are literals")           \
    X(BARRIER, "barrier", "the trace is cut behind each two blocks")                               \
    X(MTP_BRANCH, "mtp_branch", "the depth of MTP changes from step to step")                      \
    X(WARMUP, "warmup", "three shapes are traced in advance, and the loader gives another one")    \
    X(GROW, "grow", "after each tenth step it writes, with a sequence that grows")                 \
    X(BF16, "bf16", "all weights are cast to bf16 from step 10 on")                                \
    X(FLAGS, "flags", "products are exact from step 10 on")

typedef enum accident_t {
#define ACCIDENT(name, text, what) ACCIDENT_##name,
    ACCIDENTS(ACCIDENT)
#undef ACCIDENT
        ACCIDENT_COUNT,
} accident_t;

int happens(const model_t *model, accident_t accident);
// "item,counter" or "all" as bits.
keel_status_t accidents_named(const char *names, unsigned *out) KEEL_MUST_CHECK;
keel_status_t accidents_create(training_t *training) KEEL_MUST_CHECK;
void accidents_free(accidents_t *accidents);
keel_status_t accidents_step(training_t *training, long step) KEEL_MUST_CHECK;
// Around each trace of a step: its inputs, and what is traced last.
void accidents_begin(training_t *training);
void accidents_end(training_t *training);
// What the model's blocks and head do by mistake.
masks_t accidents_masks(const model_t *model, int block, const masks_t *masks);
void accidents_rows(const model_t *model, keel_tensor_t *x, keel_tensor_t *targets,
                    keel_tensor_t *weights);

// ---- by_hand.c ---------------------------------------------------------------------------------

// A step whose gradients the program sums itself, a micro-batch behind the other.
typedef struct by_hand_t by_hand_t;

keel_status_t by_hand_create(training_t *training, by_hand_t **out) KEEL_MUST_CHECK;
void by_hand_free(by_hand_t *by_hand);
keel_status_t by_hand_step(training_t *training, by_hand_t *by_hand, long step) KEEL_MUST_CHECK;

#endif // KEEL_EXAMPLES_NAM52_H_
