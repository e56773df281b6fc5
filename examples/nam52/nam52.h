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
//   nam52.c      training
//
// Everything is f32. B rows, T positions, d the width. Blocks get rms(x) and give what is added to
// x; G norms x itself. No tensor's value decides a shape, a branch or a constant.
#ifndef KEEL_EXAMPLES_NAM52_H_
#define KEEL_EXAMPLES_NAM52_H_

#include <keel/keel.h>

enum { MAX_BLOCKS = 64, MAX_MTP = 3, MAX_HASHES = 16, PAD_ID = 261 };

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
    int mtp; // depth
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

// A micro-batch, each field [B, ...]; keel_batch_next made it whole.
typedef struct fields_t {
    keel_tensor_t tokens, targets, loss_mask, doc_ids, valid_token_count, fim_bounds, structure_ids,
        dep_levels, aux_mask;
} fields_t;

masks_t model_masks(const model_t *model, const fields_t *fields);
// The whole loss; `out_loss` gets the cross entropy of the next token.
keel_tensor_t model_loss(const model_t *model, const fields_t *fields, extras_t *extras,
                         keel_tensor_t *out_loss);

// ---- batches.c ---------------------------------------------------------------------------------

typedef struct loader_t loader_t;

keel_status_t loader_open(const config_t *config, const char *path, loader_t **out) KEEL_MUST_CHECK;
void loader_close(loader_t *loader); // NULL is allowed
keel_status_t loader_fields(const config_t *config, keel_context_t *keel,
                            keel_batch_t **out) KEEL_MUST_CHECK;
// The micro-batches of one step. Optional fields are missing in some steps.
void loader_next(loader_t *loader, long step, keel_batch_t *batch);
// Where in the text the next row begins, so that a run can go on.
uint64_t loader_place(const loader_t *loader);
void loader_seek(loader_t *loader, uint64_t place);
double loader_entropy(const loader_t *loader); // of single tokens, in nats

#endif // KEEL_EXAMPLES_NAM52_H_
