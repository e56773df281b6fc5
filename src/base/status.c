#include "keel/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_LIMIT = 4096 };

struct keel_status_s {
    keel_code_t code;
    char message[];
};

// Never freed and needs no allocation, so running out of memory can always be reported.
static struct {
    keel_code_t code;
    char message[16];
} no_memory = {KEEL_NO_MEMORY, "out of memory"};

static keel_status_t static_no_memory(void) {
    return (keel_status_t)(void *)&no_memory;
}

static keel_status_t make_status(keel_code_t code, const char *text, size_t size) {
    keel_status_t status = malloc(sizeof *status + size + 1);
    if (!status) return static_no_memory();
    status->code = code;
    memcpy(status->message, text, size);
    status->message[size] = 0;
    return status;
}

static size_t clamp(int written) {
    if (written < 0) return 0;
    return written >= MESSAGE_LIMIT ? MESSAGE_LIMIT - 1 : (size_t)written;
}

keel_status_t keel_status_make(keel_code_t code, const char *format, ...) {
    if (code == KEEL_OK) return NULL;
    char text[MESSAGE_LIMIT];
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return make_status(code, text, clamp(written));
}

keel_status_t keel_status_annotate(keel_status_t status, const char *format, ...) {
    if (!status) return NULL;
    char text[MESSAGE_LIMIT];
    va_list arguments;
    va_start(arguments, format);
    size_t used = clamp(vsnprintf(text, sizeof text, format, arguments));
    va_end(arguments);
    used += clamp(snprintf(text + used, sizeof text - used, ": %s", keel_status_message(status)));
    if (used >= sizeof text) used = sizeof text - 1;
    keel_status_t annotated = make_status(keel_status_code(status), text, used);
    keel_status_ignore(status);
    return annotated;
}

keel_code_t keel_status_code(keel_status_t status) {
    return status ? status->code : KEEL_OK;
}

const char *keel_status_message(keel_status_t status) {
    return status ? status->message : "";
}

const char *keel_code_word(keel_code_t code) {
    switch (code) {
        case KEEL_OK:
            return "ok";
#define WORD(name, word, sentence)                                                                 \
    case KEEL_##name:                                                                              \
        return word;
            KEEL_STATUS_CODES(WORD)
#undef WORD
    }
    return "unknown";
}

void keel_status_ignore(keel_status_t status) {
    if (status && status != static_no_memory()) free(status);
}
