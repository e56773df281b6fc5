// The keys that the run's programs have now: the components of the backend come from a client of
// the target, as a rehearsal makes it (rehearse/rehearse.h).
#include "cli/replay.h"
#include "journal/journal.h"
#include "pjrt/identity.h"
#include "pjrt/kernels.h"
#include "read/read.h"
#include "rehearse/rehearse.h"

// ---- the backend -------------------------------------------------------------------------------

static bool names_devices(const cli_recorded_t *recorded) {
    for (size_t i = 0; i < recorded->count; ++i)
        if (keel_str_is((keel_str_t){recorded->options[i].name, recorded->options[i].name_size},
                        KEEL_CPU_DEVICES_OPTION))
            return true;
    return !recorded->is_known;
}

static keel_status_t make_client(replay_t *replay, const PJRT_Api *api, PJRT_Client **out) {
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    // As the plugin door asks for them, if the run's did.
    if (replay->target.platform == KEEL_TARGET_CPU && names_devices(&replay->recorded))
        KEEL_TRY(cli_recorded_set_number(&replay->recorded, KEEL_CPU_DEVICES_OPTION,
                                         replay->target.device_count));
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create),
                                      .create_options = replay->recorded.options,
                                      .num_options = replay->recorded.count};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Plugin_Initialize, initialize));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Create, create));
    *out = create.client;
    return NULL;
}

static keel_status_t key_client(const replay_t *replay, const PJRT_Api *api, PJRT_Client *client,
                                keel_key_t *out) {
    keel_backend_t backend;
    KEEL_TRY(
        keel_backend_read(api, client, replay->recorded.options, replay->recorded.count, &backend));
    keel_status_t status =
        keel_backend_key(&backend, replay->after.plugin, &replay->after.build, out);
    keel_backend_deinitialize(&backend);
    return status;
}

// The plugin and the target stay with the process, and so does the rehearsal.
static keel_status_t read_backend(replay_t *replay, keel_key_t *out) {
    static keel_plugin_t plugin;
    const PJRT_Api *api;
    PJRT_Client *client;
    KEEL_TRY(keel_plugin_load(replay->after.plugin, &plugin));
    const keel_rehearse_settings_t settings = {.target = &replay->target,
                                               .plugin = &plugin,
                                               .compiles = KEEL_REHEARSE_NONE,
                                               .calculator = "",
                                               .interpreter = replay->interpreter};
    KEEL_TRY(keel_rehearse_begin(&settings, &api));
    KEEL_TRY(make_client(replay, api, &client));
    keel_status_t status = key_client(replay, api, client, out);
    PJRT_Client_Destroy_Args destroy = {KEEL_PJRT_SIZE(PJRT_Client_Destroy), .client = client};
    keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_Client_Destroy, destroy));
    return status;
}

// ---- programs ----------------------------------------------------------------------------------

static keel_status_t build_of_kernel(void *context, keel_str_t kernel, bool *out_known,
                                     keel_digest_t *out) {
    (void)context;
    return keel_kernel_build(kernel, out_known, out);
}

static keel_status_t key_program(keel_bytes_t code, keel_bytes_t options, replay_program_t *out) {
    keel_program_t program;
    keel_digest_t digest;
    KEEL_TRY(keel_read(code, &program));
    keel_status_t status = keel_key_program_under(&program, options, &digest);
    if (!status)
        status = keel_key_set(&out->key, KEEL_COMPONENT_PROGRAM,
                              keel_bytes(digest.bytes, KEEL_DIGEST_SIZE), KEEL_STR(""));
    if (!status) status = keel_key_set_kernels(&out->key, &program, build_of_kernel, NULL);
    keel_program_deinitialize(&program);
    return status;
}

static keel_status_t key_bytes(keel_bytes_t code, keel_bytes_t options, unsigned backends,
                               replay_program_t *out) {
    KEEL_TRY(key_program(code, options, out));
    KEEL_TRY(cli_key_options(options, backends, out->options, &out->key));
    KEEL_TRY(keel_key_finish(&out->key));
    out->is_keyed = true;
    return NULL;
}

static keel_status_t key_of(const keel_key_t *backend, unsigned backends, replay_program_t *out) {
    uint8_t *code, *options;
    size_t code_size, options_size;
    KEEL_TRY(keel_key_copy(backend, &out->key));
    KEEL_TRY(keel_journal_read_program(out->path, &code, &code_size));
    keel_status_t status = keel_journal_read_program(out->options, &options, &options_size);
    if (!status) {
        status = key_bytes(keel_bytes(code, code_size), keel_bytes(options, options_size), backends,
                           out);
        keel_free(options);
    }
    keel_free(code);
    return status;
}

// ---- what differs ------------------------------------------------------------------------------

// What the run recorded of this program: the components of its client, under its own. What it did
// not record counts as unchanged.
static keel_status_t recorded_key(const replay_t *replay, const replay_program_t *program,
                                  keel_key_t *out) {
    KEEL_TRY(keel_key_copy(&replay->recorded_key, out));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (!keel_key_has(&program->recorded, (keel_component_t)i)) continue;
        const char *value = program->recorded.values[i];
        KEEL_TRY(keel_key_set(out, (keel_component_t)i, keel_bytes(NULL, 0),
                              keel_str(value ? value : "")));
        out->components[i] = program->recorded.components[i];
    }
    return NULL;
}

static keel_status_t compare(const replay_t *replay, replay_program_t *program) {
    keel_key_t recorded;
    keel_key_initialize(&recorded);
    keel_status_t status = recorded_key(replay, program, &recorded);
    if (!status)
        status = keel_explain_components(&recorded, &program->key, KEEL_NONE, &program->moved);
    keel_key_deinitialize(&recorded);
    return status;
}

// A program that cannot be read or keyed is left to the compiler.
keel_status_t replay_keys_make(replay_t *replay) {
    keel_key_t backend;
    keel_key_initialize(&backend);
    unsigned backends = keel_key_backends(keel_target_platform_names[replay->target.platform]);
    keel_status_t status = read_backend(replay, &backend);
    for (size_t i = 0; i < replay->count && !status; ++i) {
        replay_program_t *program = replay->programs[i];
        if (!program->options) continue;
        keel_status_t keyed = key_of(&backend, backends, program);
        // The libraries of its kernels are not here, so its key cannot be known.
        if (keel_key_has(&program->recorded, KEEL_COMPONENT_KERNELS) &&
            !keel_key_has(&program->key, KEEL_COMPONENT_KERNELS))
            program->is_keyed = false;
        if (keel_status_code(keyed) == KEEL_NO_MEMORY)
            status = keyed;
        else if (!keyed && replay_recompiles(program))
            status = compare(replay, program);
        else
            keel_status_ignore(keyed);
    }
    keel_key_deinitialize(&backend);
    return status;
}
