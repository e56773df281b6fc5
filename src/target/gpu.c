// NVIDIA's GPUs. Their topology is slices, hosts and devices of a host ("1x1x8"), and the text of a
// GpuTargetConfigProto (xla/stream_executor/device_description.proto), which says what XLA reads of
// a device when there is one.
#include <stdio.h>

#include "target/internal.h"

// ---- the text ----------------------------------------------------------------------------------

// What is the same in all of them: CUDA's programming guide, "technical specifications per compute
// capability".
static void write_limits(keel_buffer_t *out) {
    keel_buffer_text(out, "  threads_per_block_limit: 1024\n"
                          "  threads_per_warp: 32\n"
                          "  shared_memory_per_block: 49152\n"
                          "  threads_per_core_limit: 2048\n"
                          "  registers_per_core_limit: 65536\n"
                          "  registers_per_block_limit: 65536\n"
                          "  block_dim_limit_x: 2147483647\n"
                          "  block_dim_limit_y: 65535\n"
                          "  block_dim_limit_z: 65535\n"
                          "  thread_dim_limit_x: 1024\n"
                          "  thread_dim_limit_y: 1024\n"
                          "  thread_dim_limit_z: 64\n"
                          "  device_address_bits: 64\n"
                          "  ecc_enabled: true\n"
                          "  device_vendor: \"NVIDIA Corporation\"\n");
}

static void write_config(const target_gpu_t *gpu, keel_buffer_t *out) {
    keel_buffer_text(out, "gpu_device_info {\n");
    write_limits(out);
    keel_buffer_format(out, "  core_count: %u\n  fpus_per_core: %u\n", gpu->cores, gpu->units);
    keel_buffer_format(out, "  shared_memory_per_core: %llu\n",
                       (unsigned long long)gpu->core_memory);
    keel_buffer_format(out, "  shared_memory_per_block_optin: %llu\n",
                       (unsigned long long)gpu->block_memory);
    keel_buffer_format(out, "  l2_cache_size: %llu\n", (unsigned long long)gpu->l2);
    keel_buffer_format(out, "  device_memory_size: %llu\n", (unsigned long long)gpu->memory);
    keel_buffer_format(out, "  memory_bandwidth: %llu\n", (unsigned long long)gpu->bandwidth);
    keel_buffer_format(out, "  pcie_bandwidth: %llu\n", (unsigned long long)gpu->pcie);
    keel_buffer_format(out, "  clock_rate_ghz: %g\n", (double)gpu->clock * 1e-6);
    keel_buffer_format(out,
                       "  cuda_compute_capability { major: %u minor: %u feature_extension: %s }\n",
                       gpu->capability / 10, gpu->capability % 10,
                       gpu->capability >= 90 ? "ACCELERATED_FEATURES" : "NONE");
    keel_buffer_format(out, "  name: \"%s\"\n}\n", gpu->kind);
    keel_buffer_format(out, "platform_name: \"CUDA\"\ndevice_description_str: \"%s\"\n", gpu->kind);
}

// ---- the target --------------------------------------------------------------------------------

enum { HOST_DEVICES = 8 }; // of a host of the usual kind

static keel_status_t lay_out(const target_shape_t *shape, keel_target_t *out) {
    uint32_t devices = shape->dims[0], hosts = shape->processes;
    char layout[64];
    if (!hosts) hosts = devices <= HOST_DEVICES ? 1 : devices / HOST_DEVICES;
    if (devices % hosts || (!shape->processes && devices > HOST_DEVICES && devices % HOST_DEVICES))
        return keel_status_make(KEEL_INVALID,
                                "target %s: %u devices cannot be split evenly over %s; give the "
                                "number of processes, such as %u/%u",
                                out->name, devices, shape->processes ? "them" : "hosts of 8",
                                devices, devices);
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
