// Random numbers of the device. A key, u32[2], is a tensor like any other: the same key gives the
// same numbers on every device, in any order, and they are jax.random's (Threefry, partitionable).
// Nothing is hidden: keep a key as a variable, and fold the step's count into it, or split it.
#ifndef KEEL_RANDOM_H_
#define KEEL_RANDOM_H_

#include "keel/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// The seed is an input: a different one makes no new program.
#define keel_random_key(...) keel_random_key_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_key_at(keel_caller_t site, keel_context_t *context,
                                          uint64_t seed);
// A key for each number, such as a step's count: a scalar integer of the device.
#define keel_random_fold(...) keel_random_fold_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_fold_at(keel_caller_t site, keel_tensor_t key,
                                           keel_tensor_t number);
// `count` new keys.
#define keel_random_split(...) keel_random_split_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_random_split_at(keel_caller_t site, keel_tensor_t key, size_t count,
                                   keel_tensor_t *out);

// u32
#define keel_random_bits(...) keel_random_bits_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_bits_at(keel_caller_t site, keel_tensor_t key,
                                           keel_shape_t shape);
// f32 in [low, high), which are numbers: others make no new program.
#define keel_random_uniform(...) keel_random_uniform_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_uniform_at(keel_caller_t site, keel_tensor_t key,
                                              keel_shape_t shape, double low, double high);
// f32 of mean 0 and variance 1
#define keel_random_normal(...) keel_random_normal_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_normal_at(keel_caller_t site, keel_tensor_t key,
                                             keel_shape_t shape);
// bool: true with this probability, which is broadcast to the shape
#define keel_random_bernoulli(...) keel_random_bernoulli_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_bernoulli_at(keel_caller_t site, keel_tensor_t key,
                                                keel_shape_t shape, keel_tensor_t probability);
// i32 in [low, high), which are numbers too.
#define keel_random_integers(...) keel_random_integers_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_integers_at(keel_caller_t site, keel_tensor_t key,
                                               keel_shape_t shape, int32_t low, int32_t high);

// f32 of the standard Gumbel distribution, -log(-log(u)).
#define keel_random_gumbel(...) keel_random_gumbel_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_gumbel_at(keel_caller_t site, keel_tensor_t key,
                                             keel_shape_t shape);
// i32: an index along `axis` of `logits`, which is dropped, with the probabilities of its softmax.
#define keel_random_categorical(...) keel_random_categorical_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_random_categorical_at(keel_caller_t site, keel_tensor_t key,
                                                  keel_tensor_t logits, int axis);

#ifdef __cplusplus
}
#endif

#endif // KEEL_RANDOM_H_
