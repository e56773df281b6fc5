// The devices that have names. Sources: docs/targets.md.
#ifndef KEEL_TARGET_MODELS_H_
#define KEEL_TARGET_MODELS_H_

#include <stdint.h>

// CPU(name): the processor of this machine.
//
// GPU(name, kind, capability, cores, FP32 units of a core, shared memory of a core and what of it a
// block may ask for, L2, memory, its bandwidth, clock, PCIe bandwidth, NVLinks): sizes in bytes,
// bandwidths in bytes a second, clocks in kHz. A core is a streaming multiprocessor.
//
// TPU(name, kind, accelerator type, what that counts a chip, dimensions, devices a chip, memory of
// a device, chip configuration, chips that one host may have): a slice is laid out in chips; a
// host has 2 by 2 of them, or all if the slice has no more than it may have.
#define KEEL_TARGET_MODELS(CPU, GPU, TPU)                                                          \
    CPU("cpu")                                                                                     \
    GPU("a100", "NVIDIA A100-SXM4-80GB", 80, 108, 64, 167936, 166912, 41943040, 85100068864,       \
        2039040000000, 1410000, 34359738368, 12)                                                   \
    GPU("h100", "NVIDIA H100 80GB HBM3", 90, 132, 128, 233472, 232448, 52428800, 84942979072,      \
        3352320000000, 1980000, 34359738368, 18)                                                   \
    GPU("h200", "NVIDIA H200", 90, 132, 128, 233472, 232448, 52428800, 151397597184,               \
        4800000000000, 1980000, 34359738368, 18)                                                   \
    GPU("b200", "NVIDIA B200", 100, 148, 128, 233472, 232448, 132644864, 191514411008,             \
        7672320000000, 1965000, 68719476736, 18)                                                   \
    TPU("v2", "TPU v2", "v2", 2, 2, 2, 8, NULL, 4)                                                 \
    TPU("v3", "TPU v3", "v3", 2, 2, 2, 16, NULL, 4)                                                \
    TPU("v4", "TPU v4", "v4", 2, 3, 1, 32, "megacore", 4)                                          \
    TPU("v5e", "TPU v5 lite", "v5litepod", 1, 2, 1, 16, NULL, 8)                                   \
    TPU("v5p", "TPU v5", "v5p", 2, 3, 1, 95, NULL, 4)                                              \
    TPU("v6e", "TPU v6 lite", "v6e", 1, 2, 1, 32, NULL, 8)                                         \
    TPU("tpu7x", "TPU7x", "tpu7x", 2, 3, 2, 96, NULL, 4)

#endif // KEEL_TARGET_MODELS_H_
