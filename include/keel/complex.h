// Complex numbers and Fourier transforms. They follow the rules of keel/tensor.h.
//
// KEEL_C64 and KEEL_C128 are two numbers of KEEL_F32 or KEEL_F64, the real part first. They have
// sources (a number or a constant has no imaginary part), keel_select, what moves elements, scans,
// loops and branches; sums, products and means; keel_add, keel_subtract, keel_multiply,
// keel_divide, keel_equal, keel_not_equal, keel_dot, keel_matmul and keel_einsum; keel_negate,
// keel_abs, keel_exp, keel_log, keel_sqrt, keel_sin, keel_cos and keel_tanh; keel_cast from other
// dtypes. Everything else refuses them by name: what has an order, convolutions and parameters of
// optimizers, for example.
//
// A gradient is of a real loss. That of x + iy is d loss / dx - i d loss / dy, as JAX has it: to go
// downhill, take its conjugate.
#ifndef KEEL_COMPLEX_H_
#define KEEL_COMPLEX_H_

#include "keel/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- parts -------------------------------------------------------------------------------------

// real + i imaginary, both of f32 or of f64; they are broadcast.
#define keel_complex(...) keel_complex_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_complex_at(keel_caller_t site, keel_tensor_t real,
                                       keel_tensor_t imaginary);
// f32 of c64, f64 of c128; anything else is refused.
#define keel_real(...) keel_real_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_real_at(keel_caller_t site, keel_tensor_t x);
#define keel_imag(...) keel_imag_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_imag_at(keel_caller_t site, keel_tensor_t x);
// In (-pi, pi]. keel_abs is the other part of the polar form.
#define keel_angle(...) keel_angle_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_angle_at(keel_caller_t site, keel_tensor_t x);
#define keel_conj(...) keel_conj_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_conj_at(keel_caller_t site, keel_tensor_t x);

// ---- Fourier transforms ------------------------------------------------------------------------

// Over the last `rank` dimensions, 1 to 3, none of which may be empty. Nothing is scaled forward,
// and the inverse is divided by the number of elements.

// Of complex numbers: the same shape and dtype.
#define keel_fft(...) keel_fft_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_fft_at(keel_caller_t site, keel_tensor_t x, int rank);
#define keel_ifft(...) keel_ifft_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_ifft_at(keel_caller_t site, keel_tensor_t x, int rank);
// Of f32 or f64 [..., n]: the first half, c64 or c128 [..., n / 2 + 1]. The rest follows from it.
#define keel_rfft(...) keel_rfft_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_rfft_at(keel_caller_t site, keel_tensor_t x, int rank);
// Its inverse: [..., size / 2 + 1] gives [..., size]. An odd and an even size have such halves of
// one size, so it has to be said.
#define keel_irfft(...) keel_irfft_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_irfft_at(keel_caller_t site, keel_tensor_t x, int rank, int64_t size);

#ifdef __cplusplus
}
#endif

#endif // KEEL_COMPLEX_H_
