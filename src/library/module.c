#include "keel/module.h"

#include "key/key.h"
#include "program/program.h"
#include "read/print.h"
#include "read/read.h"

struct keel_module_t {
    uint8_t *bytes;
    char *name;
    keel_program_t program;
    keel_cacheable_t cacheable;
};

static keel_status_t fill_module(keel_module_t *module, keel_bytes_t bytes) {
    KEEL_TRY(keel_bytes_dup(bytes, &module->bytes));
    KEEL_TRY(keel_read(keel_bytes(module->bytes, bytes.size), &module->program));
    keel_key_cacheable(&module->program, NULL, &module->cacheable);
    return keel_strdup(keel_program_str(&module->program, module->program.name), &module->name);
}

keel_status_t keel_module_read(const void *data, size_t size, keel_module_t **out) {
    if (!data && size) return keel_status_make(KEEL_INVALID, "no data for %zu bytes", size);
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(keel_module_t), &memory));
    keel_module_t *module = memory;
    keel_program_initialize(&module->program);
    keel_status_t status = fill_module(module, keel_bytes(data, size));
    if (status) {
        keel_module_free(module);
        return status;
    }
    *out = module;
    return NULL;
}

void keel_module_free(keel_module_t *module) {
    if (!module) return;
    keel_program_deinitialize(&module->program);
    keel_free(module->bytes);
    keel_free(module->name);
    keel_free(module);
}

const char *keel_module_name(const keel_module_t *module) {
    return module->name;
}

const char *keel_module_format(const keel_module_t *module) {
    return keel_format_name(module->program.format);
}

uint32_t keel_module_operation_count(const keel_module_t *module) {
    return keel_program_op_count(&module->program);
}

static keel_status_t take_text(keel_status_t status, keel_buffer_t *buffer, char **out) {
    uint8_t *text;
    size_t size;
    if (!status) status = keel_buffer_take(buffer, &text, &size);
    if (!status) *out = (char *)text;
    keel_buffer_deinitialize(buffer);
    return status;
}

keel_status_t keel_module_text(const keel_module_t *module, char **out) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_print_options_t options = {.locations = true, .largest_value = 16};
    return take_text(keel_print_text(&module->program, &options, &buffer), &buffer, out);
}

keel_status_t keel_module_json(const keel_module_t *module, char **out) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    return take_text(keel_print_json(&module->program, &buffer), &buffer, out);
}

void keel_text_free(char *text) {
    keel_free(text);
}

keel_status_t keel_module_fingerprint(const keel_module_t *module,
                                      char out[KEEL_FINGERPRINT_SIZE]) {
    keel_digest_t digest;
    KEEL_TRY(keel_key_program(&module->program, &digest));
    keel_digest_hex(&digest, out);
    return NULL;
}

const char *keel_module_uncacheable(const keel_module_t *module) {
    return module->cacheable.yes ? NULL : module->cacheable.reason;
}
