// NVIDIA's GPUs. Their topology is slices, hosts and devices of a host ("1x1x8"), and the text of a
// GpuTargetConfigProto (xla/stream_executor/device_description.proto), which says what XLA reads of
// a device when there is one. Most of it decides which code XLA makes.
#include <stdio.h>

#include "target/internal.h"

static void put(keel_buffer_t *out, const char *name, uint64_t value) {
    keel_buffer_format(out, "  %s: %llu\n", name, (unsigned long long)value);
}

// ---- units -------------------------------------------------------------------------------------

// XLA's numbers of types (xla/xla_data.proto).
enum { S8 = 2, S32 = 4, U8 = 6, U32 = 8, F16 = 10, F32 = 11, F64 = 12, BF16 = 16, F4 = 32 };
static const int types_of_8_bits[] = {S8, U8, 19, 20, 23, 24, 25, 28, 29, 33, 35, 36};

// What the units of a core do in a clock, a fused multiply-add counting as one. Sources: NVIDIA's
// H100 architecture paper, table 3; the Blackwell brief; CUDA's guide of best practices, table 5.
typedef struct architecture_t {
    uint32_t capability;
    uint32_t half_operations;   // of each FP32 unit, on 16 bits
    uint32_t tensor_operations; // of each tensor core, on 16 bits
    uint32_t tensor_doubles;    // the same, on doubles
    float tensor_clock;         // relative to the core's
    bool has_f4;
} architecture_t;

// XLA has no such figures for devices before these.
static const architecture_t architectures[] = {
    {90, 2, 512, 32, 0.924F, false},
    {100, 1, 1024, 16, 0.934F, true},
};

static void put_rate(keel_buffer_t *out, int type, float clock, uint32_t units,
                     uint32_t operations) {
    keel_buffer_format(out,
                       "    rate_infos { key: %d value { clock_rate_ghz: %.9g units_per_core: %u "
                       "ops_per_clock: %u } }\n",
                       type, (double)clock, units, operations);
}

static void put_units(const target_gpu_t *gpu, const architecture_t *kind, keel_buffer_t *out) {
    enum { TENSOR_CORES = 4 };
    const float clock = (float)gpu->clock * 1e-6F, tensor = clock * kind->tensor_clock;
    const uint32_t operations = kind->tensor_operations;
    keel_buffer_text(out, "  scalar_unit_description {\n");
    put_rate(out, S32, clock, gpu->units / 2, 1);
    put_rate(out, U32, clock, gpu->units / 2, 1);
    put_rate(out, F16, clock, gpu->units, kind->half_operations);
    put_rate(out, F32, clock, gpu->units, 1);
    put_rate(out, F64, clock, gpu->units / 2, 1);
    put_rate(out, BF16, clock, gpu->units, kind->half_operations);
    keel_buffer_text(out, "  }\n  matrix_unit_description {\n");
    for (size_t i = 0; i < sizeof types_of_8_bits / sizeof *types_of_8_bits; ++i)
        put_rate(out, types_of_8_bits[i], tensor, TENSOR_CORES, 2 * operations);
    put_rate(out, F16, tensor, TENSOR_CORES, operations);
    put_rate(out, BF16, tensor, TENSOR_CORES, operations);
    put_rate(out, F32, tensor, TENSOR_CORES, operations / 2);
    put_rate(out, F64, clock, TENSOR_CORES, kind->tensor_doubles);
    if (kind->has_f4) put_rate(out, F4, tensor, TENSOR_CORES, 4 * operations);
    keel_buffer_text(out, "  }\n");
}

// ---- the text ----------------------------------------------------------------------------------

// The same for all of them: CUDA's programming guide, "technical specifications per compute
// capability".
static void put_limits(keel_buffer_t *out) {
    put(out, "threads_per_block_limit", 1024);
    put(out, "threads_per_warp", 32);
    put(out, "shared_memory_per_block", 49152);
    put(out, "threads_per_core_limit", 2048);
    put(out, "registers_per_core_limit", 65536);
    put(out, "registers_per_block_limit", 65536);
    put(out, "block_dim_limit_x", 2147483647);
    put(out, "block_dim_limit_y", 65535);
    put(out, "block_dim_limit_z", 65535);
    put(out, "thread_dim_limit_x", 1024);
    put(out, "thread_dim_limit_y", 1024);
    put(out, "thread_dim_limit_z", 64);
    put(out, "device_address_bits", 64);
    put(out, "collective_memory_granularity", 2097152);
}

// The libraries that JAX 0.12 is built for. XLA makes code for these versions, and a runtime with
// older ones refuses it. With the version of CUB that XLA has tables for, it would ask a device.
static void put_software(keel_buffer_t *out) {
    keel_buffer_text(out, "  runtime_version: \"12.9.0\"\n"
                          "  compile_time_toolkit_version: \"12.9.0\"\n"
                          "  dnn_version: \"9.10.2\"\n"
                          "  cub_version: \"3.2.0\"\n");
}

static void put_device(const target_gpu_t *gpu, keel_buffer_t *out) {
    put(out, "core_count", gpu->cores);
    put(out, "fpus_per_core", gpu->units);
    put(out, "shared_memory_per_core", gpu->core_memory);
    put(out, "shared_memory_per_block_optin", gpu->block_memory);
    put(out, "l2_cache_size", gpu->l2);
    put(out, "device_memory_size", gpu->memory);
    put(out, "memory_bandwidth", gpu->bandwidth);
    put(out, "pcie_bandwidth", gpu->pcie);
    keel_buffer_format(out, "  clock_rate_ghz: %.9g\n", (double)((float)gpu->clock * 1e-6F));
    keel_buffer_format(out, "  device_interconnect_info { active_links: %u }\n", gpu->links);
    keel_buffer_format(out,
                       "  cuda_compute_capability { major: %u minor: %u feature_extension: %s }\n",
                       gpu->capability / 10, gpu->capability % 10,
                       gpu->capability >= 90 ? "ACCELERATED_FEATURES" : "NONE");
    keel_buffer_format(out, "  platform_version: \"Compute Capability %u.%u%s\"\n",
                       gpu->capability / 10, gpu->capability % 10,
                       gpu->capability >= 90 ? "a" : "");
    keel_buffer_format(out, "  device_vendor: \"NVIDIA Corporation\"\n  name: \"%s\"\n", gpu->kind);
    keel_buffer_text(out, "  ecc_enabled: true\n");
}

static void write_config(const target_gpu_t *gpu, keel_buffer_t *out) {
    keel_buffer_text(out, "gpu_device_info {\n");
    put_limits(out);
    put_device(gpu, out);
    put_software(out);
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; ++i)
        if (architectures[i].capability == gpu->capability) put_units(gpu, &architectures[i], out);
    keel_buffer_format(out, "}\nplatform_name: \"CUDA\"\ndevice_description_str: \"%s\"\n",
                       gpu->kind);
}

// ---- the target --------------------------------------------------------------------------------

enum { HOST_DEVICES = 8 }; // of a host of the usual kind

// The fewest hosts that the devices can be split over.
static uint32_t fewest_hosts(uint32_t devices) {
    uint32_t hosts = devices / HOST_DEVICES + 1;
    while (devices % hosts)
        ++hosts;
    return hosts;
}

static keel_status_t lay_out(const target_shape_t *shape, keel_target_t *out) {
    uint32_t devices = shape->dims[0], hosts = shape->processes;
    char layout[64];
    if (!hosts && devices > HOST_DEVICES && devices % HOST_DEVICES)
        return keel_status_make(KEEL_INVALID,
                                "target %s: %u devices are not a number of hosts with %d; give the "
                                "number of processes, such as %s/%u",
                                out->name, devices, HOST_DEVICES, out->name, fewest_hosts(devices));
    if (!hosts) hosts = devices > HOST_DEVICES ? devices / HOST_DEVICES : 1;
    if (devices % hosts)
        return keel_status_make(KEEL_INVALID,
                                "target %s: %u devices cannot be split evenly over %u processes; "
                                "give another number of either",
                                out->name, devices, hosts);
    snprintf(layout, sizeof layout, "1x%ux%u", hosts, devices / hosts);
    out->device_count = devices;
    out->process_count = hosts;
    return target_add_text(out, &out->topology_options, "topology", keel_str(layout));
}

keel_status_t target_make_gpu(const target_gpu_t *gpu, const target_shape_t *shape,
                              keel_target_t *out) {
    if (shape->dim_count != 1)
        return keel_status_make(KEEL_INVALID, "target %s: give a number of devices, such as %s:8",
                                out->name, gpu->name);
    out->platform = KEEL_TARGET_CUDA;
    out->device_kind = gpu->kind;
    out->memory = gpu->memory;
    out->memory_limit = gpu->memory / 4 * 3; // the share that XLA's allocator takes
    out->topology_name = "";
    KEEL_TRY(lay_out(shape, out));
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    write_config(gpu, &text);
    keel_status_t status = keel_buffer_status(&text);
    if (!status)
        status = target_add_text(out, &out->topology_options, "target_config",
                                 keel_bytes_str(keel_buffer_bytes(&text)));
    keel_buffer_deinitialize(&text);
    return status;
}
