#include <stdio.h>
#include <stdlib.h>

#include "pjrt/identity.h"
#include "pjrt/toolkit.h"

static keel_status_t set_buffer(keel_key_t *key, keel_component_t component,
                                const keel_buffer_t *buffer) {
    return keel_key_set(key, component, keel_buffer_bytes(buffer),
                        keel_bytes_str(keel_buffer_bytes(buffer)));
}

static keel_status_t set_flags(keel_key_t *key, keel_component_t component, const char *flags) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_status_t status = keel_key_flags(flags, &canonical);
    if (!status) status = set_buffer(key, component, &canonical);
    keel_buffer_deinitialize(&canonical);
    return status;
}

static keel_status_t set_environment(keel_key_t *key, unsigned backends) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_status_t status = keel_key_environment(backends, &text);
    if (!status) status = set_buffer(key, KEEL_COMPONENT_ENVIRONMENT, &text);
    keel_buffer_deinitialize(&text);
    return status;
}

// A platform that calls itself "cpu" runs on this machine's processor.
static keel_status_t set_cpu(keel_key_t *key, const keel_backend_t *backend) {
    keel_buffer_t canonical;
    keel_buffer_initialize(&canonical, 0);
    keel_status_t status = NULL;
    // How many of several processes' devices are this one's is not known here.
    uint64_t devices = backend->process_count == 1 ? backend->device_count : 1;
    if (strcmp(backend->platform_name, "cpu") == 0 || !backend->topology_known)
        status = keel_key_cpu(devices, &canonical);
    if (!status) status = set_buffer(key, KEEL_COMPONENT_CPU, &canonical);
    keel_buffer_deinitialize(&canonical);
    return status;
}

static keel_status_t set_topology(keel_key_t *key, const keel_backend_t *backend) {
    char size[48];
    snprintf(size, sizeof size, "%zu bytes serialized", backend->topology.size);
    return keel_key_set(key, KEEL_COMPONENT_TOPOLOGY, keel_buffer_bytes(&backend->topology),
                        backend->topology_known
                            ? keel_str(size)
                            : keel_bytes_str(keel_buffer_bytes(&backend->topology)));
}

static keel_status_t set_surroundings(keel_key_t *key, unsigned backends) {
    KEEL_TRY(set_flags(key, KEEL_COMPONENT_XLA_FLAGS, getenv("XLA_FLAGS")));
    const char *libtpu = backends & KEEL_BACKEND_TPU ? getenv("LIBTPU_INIT_ARGS") : NULL;
    KEEL_TRY(set_flags(key, KEEL_COMPONENT_LIBTPU_FLAGS, libtpu));
    return set_environment(key, backends);
}

static keel_status_t set_toolkit(keel_key_t *key, const char *plugin) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_status_t status = keel_toolkit_of_plugin(plugin, &text);
    if (!status) status = set_buffer(key, KEEL_COMPONENT_TOOLKIT, &text);
    keel_buffer_deinitialize(&text);
    return status;
}

keel_status_t keel_backend_key(const keel_backend_t *backend, const char *plugin,
                               const keel_digest_t *build, keel_key_t *key) {
    unsigned backends = keel_key_backends(backend->platform_name);
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(build, hex);
    KEEL_TRY(keel_key_set(key, KEEL_COMPONENT_PLUGIN_BUILD,
                          keel_bytes(build->bytes, KEEL_DIGEST_SIZE), keel_str(hex)));
    KEEL_TRY(set_surroundings(key, backends));
    if (backends == KEEL_BACKEND_GPU) KEEL_TRY(set_toolkit(key, plugin));
    KEEL_TRY(set_buffer(key, KEEL_COMPONENT_PLATFORM, &backend->platform));
    KEEL_TRY(set_topology(key, backend));
    KEEL_TRY(set_buffer(key, KEEL_COMPONENT_DEVICE_KINDS, &backend->device_kinds));
    KEEL_TRY(set_buffer(key, KEEL_COMPONENT_CREATE_OPTIONS, &backend->create_options));
    return set_cpu(key, backend);
}
