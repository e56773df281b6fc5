// How many devices XLA's CPU plugins have behind Keel. By themselves they have four, and XLA's flag
// xla_force_host_platform_device_count does not reach them: only the create option does. The CPU
// clients of JAX and PyTorch/XLA, whose place these plugins take, have one device unless the
// program asks for more.
#include <stdatomic.h>
#include <stdlib.h>

#include "host/host.h"
#include "key/key.h"
#include "pjrt/error.h"
#include "shim/shim.h"

static const PJRT_Api *plugin;
static int64_t otherwise; // for programs that ask for no number; 0: the plugin's own number
static _Atomic int64_t asked = -1;

void keel_shim_ask_devices(int64_t count) {
    atomic_store(&asked, count);
}

static int64_t count_devices(void) {
    int64_t count = atomic_load(&asked);
    if (count >= 0 ||
        keel_key_flag_number(getenv("XLA_FLAGS"), "xla_force_host_platform_device_count", &count))
        return count;
    return otherwise;
}

// The client's options have its own stride, which is the first one's size, and may be longer than
// this header's.
static size_t stride_of(const PJRT_Client_Create_Args *args) {
    enum { ALIGNMENT = _Alignof(PJRT_NamedValue) };
    size_t size = args->num_options ? args->create_options->struct_size : sizeof(PJRT_NamedValue);
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static bool has_option(const PJRT_Client_Create_Args *args, size_t stride) {
    for (size_t i = 0; i < args->num_options; ++i) {
        const PJRT_NamedValue *value =
            (const void *)((const char *)args->create_options + i * stride);
        if (keel_str_is((keel_str_t){value->name, value->name_size}, KEEL_CPU_DEVICES_OPTION))
            return true;
    }
    return false;
}

// *out has the client's options and this one, or is NULL if nothing is to be added.
static keel_status_t add_option(const PJRT_Client_Create_Args *args, void **out) {
    size_t stride = stride_of(args), size = args->num_options * stride;
    bool is_whole = stride >= sizeof(PJRT_NamedValue);
    *out = NULL;
    if (!otherwise || !is_whole || has_option(args, stride)) return NULL;
    KEEL_TRY(keel_calloc(args->num_options + 1, stride, out));
    if (size) memcpy(*out, args->create_options, size);
    PJRT_NamedValue *added = (void *)((char *)*out + size);
    *added = keel_pjrt_cpu_devices(count_devices());
    if (size) added->struct_size = args->create_options->struct_size;
    return NULL;
}

PJRT_Error *keel_shim_create(PJRT_Client_Create_Args *args, keel_shim_created_t *created) {
    const PJRT_NamedValue *options = args->create_options;
    size_t count = args->num_options;
    void *more;
    keel_status_t status = add_option(args, &more);
    if (status) return keel_pjrt_error(status);
    if (more) args->create_options = more;
    if (more) args->num_options = count + 1;
    uint64_t began = keel_clock_monotonic();
    PJRT_Error *error = plugin->PJRT_Client_Create(args);
    keel_preparing_add(KEEL_PREPARING_CLIENT, keel_seconds(keel_clock_monotonic() - began));
    if (!error) created(args);
    args->create_options = options;
    args->num_options = count;
    keel_free(more);
    return error;
}

void keel_shim_take_devices(const keel_plugin_t *taken, uint32_t count) {
    plugin = taken->api;
    otherwise = keel_pjrt_takes_cpu_devices(plugin) ? count : 0;
}
