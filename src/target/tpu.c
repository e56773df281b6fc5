// TPU slices. Their topologies are libtpu's: a name ("v6e:2x4"), and options for what the name
// leaves open.
#include <stdio.h>

#include "target/internal.h"

enum { HOST_WIDTH = 2 }; // a host has 2 by 2 chips

static uint32_t hosts_of(const target_shape_t *shape) {
    uint32_t x = (shape->dims[0] + HOST_WIDTH - 1) / HOST_WIDTH;
    uint32_t y = (shape->dims[1] + HOST_WIDTH - 1) / HOST_WIDTH;
    return x * y * shape->dims[2];
}

// The chips of each process. Without this option, libtpu gives each host 2 by 2, and older ones
// refuse a slice that is no multiple of that.
static keel_status_t set_bounds(const uint32_t chips[3], keel_target_t *out) {
    static const char name[] = "chips_per_host_bounds";
    const int64_t bounds[] = {chips[0], chips[1], chips[2]};
    PJRT_NamedValue value = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = sizeof name - 1,
                             .type = PJRT_NamedValue_kInt64List,
                             .int64_array_value = bounds,
                             .value_size = 3};
    return target_add_value(out, &out->topology_options, &value);
}

// As on a machine with TPUs, where clients read how many chips it has.
static keel_status_t describe_hosts(const target_tpu_t *tpu, const target_shape_t *shape,
                                    keel_target_t *out) {
    const uint32_t *chips = shape->dims;
    char hosts[64], each[64];
    bool is_one = shape->processes ? shape->processes == 1
                                   : chips[0] * chips[1] * chips[2] <= tpu->host_chips;
    uint32_t x = is_one ? chips[0] : HOST_WIDTH, y = is_one ? chips[1] : HOST_WIDTH;
    snprintf(hosts, sizeof hosts, "%u,%u,%u", (chips[0] + x - 1) / x, (chips[1] + y - 1) / y,
             is_one ? 1 : chips[2]);
    snprintf(each, sizeof each, "%u,%u,%u", x, y, is_one ? chips[2] : 1);
    KEEL_TRY(target_add_variable(out, "TPU_HOST_BOUNDS", hosts));
    return target_add_variable(out, "TPU_CHIPS_PER_HOST_BOUNDS", each);
}

keel_status_t target_compiler_environment(const char *type, keel_target_t *out) {
    const keel_target_variable_t variables[] = {
        {"TPU_SKIP_MDS_QUERY", "1"}, // otherwise it asks a server of the cloud for minutes
        {"TPU_ACCELERATOR_TYPE", type}, {"TPU_WORKER_HOSTNAMES", "localhost"},
        {"TPU_WORKER_ID", "0"},         {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
        {"TPU_LOG_DIR", "disabled"},
    };
    if (out->platform != KEEL_TARGET_TPU) return NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        if (variables[i].value)
            KEEL_TRY(target_add_variable(out, variables[i].name, variables[i].value));
    return NULL;
}

keel_status_t target_make_tpu(const target_tpu_t *tpu, const target_shape_t *shape,
                              keel_target_t *out) {
    static const uint32_t one_chip[] = {1, 1, 1};
    char name[64], type[64];
    const char *example = tpu->dims == 2 ? "2x4" : "2x2x2";
    uint32_t chips = shape->dims[0] * shape->dims[1] * shape->dims[2], hosts = hosts_of(shape);
    if (shape->dim_count != tpu->dims)
        return keel_status_make(KEEL_INVALID,
                                "target %s: a slice of %s has %u dimensions of chips; give them, "
                                "such as %s:%s",
                                out->name, tpu->name, tpu->dims, tpu->name, example);
    bool is_one = shape->processes ? shape->processes == 1 : chips <= tpu->host_chips;
    bool is_each = shape->processes == chips && !is_one;
    if (shape->processes > 1 && shape->processes != hosts && !is_each)
        return keel_status_make(KEEL_INVALID,
                                "target %s: with 2 by 2 chips each, it has %u hosts; give /%u, /1, "
                                "or /%u for a process for each chip",
                                out->name, hosts, hosts, chips);
    out->platform = KEEL_TARGET_TPU;
    out->device_kind = tpu->kind;
    out->device_count = chips * tpu->devices;
    out->process_count = is_one ? 1 : is_each ? chips : hosts;
    out->memory = (uint64_t)tpu->gigabytes << 30;
    snprintf(name, sizeof name, tpu->dims == 2 ? "%s:%ux%u" : "%s:%ux%ux%u", tpu->name,
             shape->dims[0], shape->dims[1], shape->dims[2]);
    KEEL_TRY(target_keep(out, keel_str(name), &out->topology_name));
    bool is_even = shape->dims[0] % HOST_WIDTH == 0 && shape->dims[1] % HOST_WIDTH == 0;
    if (is_one && (hosts > 1 || !is_even)) KEEL_TRY(set_bounds(shape->dims, out));
    if (is_each) KEEL_TRY(set_bounds(one_chip, out));
    if (tpu->chip_config)
        KEEL_TRY(target_add_text(out, &out->topology_options, "chip_config_name",
                                 keel_str(tpu->chip_config)));
    KEEL_TRY(describe_hosts(tpu, shape, out));
    snprintf(type, sizeof type, "%s-%u", tpu->accelerator, chips * tpu->type_scale);
    return target_compiler_environment(type, out);
}
