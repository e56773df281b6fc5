// The outlines of executables' optimized programs, for clients that ask for no more.
#include "engine/core.h"
#include "engine/executables.h"
#include "pjrt/pjrt.h"
#include "signature/signature.h"

static const char FORMAT[] = "hlo_with_config";

// The entry's, or the plugin's own if there is none.
static keel_status_t read_whole(keel_engine_t *engine, PJRT_Executable *executable,
                                keel_buffer_t *room, uint8_t **owned, keel_payload_t *payload,
                                keel_stored_t **out_stored) {
    keel_stored_t *stored = keel_engine_stored(engine, executable, payload);
    *out_stored = stored;
    if (stored && payload->program.size) return keel_payload_expand(payload, owned);
    KEEL_TRY(keel_pjrt_optimized_program(engine->api, executable, room, &payload->format));
    payload->program = keel_buffer_bytes(room);
    return NULL;
}

static keel_status_t make(keel_engine_t *engine, PJRT_Executable *executable, uint8_t **out,
                          size_t *out_size) {
    keel_buffer_t room, outline;
    keel_payload_t payload = {0};
    keel_stored_t *stored;
    uint8_t *owned = NULL;
    keel_buffer_initialize(&room, 0);
    keel_buffer_initialize(&outline, 0);
    keel_status_t status = read_whole(engine, executable, &room, &owned, &payload, &stored);
    if (!status && !keel_str_is(payload.format, FORMAT))
        status = keel_status_make(KEEL_UNSUPPORTED, "an optimized program in another format");
    if (!status) status = keel_signature_outline(payload.program, &outline);
    if (!status) status = keel_buffer_take(&outline, out, out_size);
    keel_buffer_deinitialize(&outline);
    keel_buffer_deinitialize(&room);
    keel_free(owned);
    keel_stored_release(stored);
    return status;
}

bool keel_engine_outline(keel_engine_t *engine, PJRT_Executable *executable,
                         PJRT_Program *program) {
    keel_code_t code = executables_outline(engine, executable, program);
    if (code == KEEL_NOT_FOUND) {
        uint8_t *outline = NULL;
        size_t size = 0;
        keel_status_ignore(make(engine, executable, &outline, &size));
        executables_keep_outline(engine, executable, outline, size);
        code = executables_outline(engine, executable, program);
    }
    if (code != KEEL_OK) return false;
    program->format = FORMAT;
    program->format_size = sizeof FORMAT - 1;
    return true;
}
