// A byte-level GPT, the same as in examples/jax/train_gpt.py: gpt.c trains it, generate.c writes
// with it.
#ifndef GPT_MODEL_H_
#define GPT_MODEL_H_

#include <keel/keel.h>

enum { BYTES = 256, HEAD_WIDTH = 64, MAX_LAYERS = 64 };

typedef struct gpt_t {
    keel_context_t *keel;
    keel_tree_t *tree; // of the weights, and of what else is kept
    int layers, width;
    int length; // bytes in a row
} gpt_t;

// What attention has seen of one row: the keys and the values of each layer. They stay on the
// device, and there is room for a whole row of them, so that no shape depends on how many there
// are.
typedef struct gpt_cache_t {
    keel_tensor_t keys[MAX_LAYERS], values[MAX_LAYERS]; // f32[1,length,heads,HEAD_WIDTH]
    keel_tensor_t is_next; // bool[length,1,1]: where one more byte goes; empty: the row begins
} gpt_cache_t;

// Adds the weights to the tree.
void gpt_add_weights(gpt_t *gpt);
// Adds a cache to the tree. It has no value before a row begins.
void gpt_add_cache(gpt_t *gpt, gpt_cache_t *cache);

// bool[n,m]: each of n places sees those of m that are not behind it.
keel_tensor_t gpt_past(const gpt_t *gpt, int n, int m);

// The logits of the byte that follows each byte: i32[rows,n] to f32[rows,n,BYTES].
//   places   f32[n,width]: the rows of "position" for these bytes
//   visible  bool[n,m]: the bytes that each byte sees; m is n, or `length` if there is a cache
//   cache    NULL, or where keys and values are added and taken from
keel_tensor_t gpt_logits(const gpt_t *gpt, keel_tensor_t bytes, keel_tensor_t places,
                         keel_tensor_t visible, gpt_cache_t *cache);

#endif // GPT_MODEL_H_
