#include "keel/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_LIMIT = 4096 };

struct keel_status_s {
    keel_code_t code;
#ifdef KEEL_STATUS_PLACES
    char place[128];
#endif
    char message[];
};

// Never freed and needs no allocation, so running out of memory can always be reported.
static struct {
    keel_code_t code;
#ifdef KEEL_STATUS_PLACES
    char place[128];
#endif
    char message[16];
} no_memory = {.code = KEEL_NO_MEMORY, .message = "out of memory"};

static keel_status_t static_no_memory(void) {
    return (keel_status_t)(void *)&no_memory;
}

static keel_status_t make_status(keel_code_t code, const char *text, size_t size) {
    keel_status_t status = malloc(sizeof *status + size + 1);
    if (!status) return static_no_memory();
    status->code = code;
#ifdef KEEL_STATUS_PLACES
    status->place[0] = 0;
#endif
    memcpy(status->message, text, size);
    status->message[size] = 0;
    return status;
}

static size_t clamp(int written) {
    if (written < 0) return 0;
    return written >= MESSAGE_LIMIT ? MESSAGE_LIMIT - 1 : (size_t)written;
}

static keel_status_t format_status(keel_code_t code, const char *format, va_list arguments)
    KEEL_PRINTF(2, 0);
static keel_status_t format_status(keel_code_t code, const char *format, va_list arguments) {
    if (code == KEEL_OK) return NULL;
    char text[MESSAGE_LIMIT];
    int written = vsnprintf(text, sizeof text, format, arguments);
    return make_status(code, text, clamp(written));
}

#undef keel_status_make
keel_status_t keel_status_make(keel_code_t code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keel_status_t status = format_status(code, format, arguments);
    va_end(arguments);
    return status;
}

#ifdef KEEL_STATUS_PLACES
// Any thread may get this status, so it must not change.
static bool has_place(keel_status_t status) {
    return status && status != static_no_memory();
}

keel_status_t keel_status_make_at(const char *file, int line, keel_code_t code, const char *format,
                                  ...) {
    va_list arguments;
    va_start(arguments, format);
    keel_status_t status = format_status(code, format, arguments);
    va_end(arguments);
    while (strncmp(file, "../", 3) == 0)
        file += 3;
    if (has_place(status)) snprintf(status->place, sizeof status->place, " [%s:%d]", file, line);
    return status;
}

static void copy_place(keel_status_t to, keel_status_t from) {
    if (has_place(to)) memcpy(to->place, from->place, sizeof to->place);
}

const char *keel_status_place(keel_status_t status) {
    return status ? status->place : "";
}
#else
static void copy_place(keel_status_t to, keel_status_t from) {
    (void)to;
    (void)from;
}

const char *keel_status_place(keel_status_t status) {
    (void)status;
    return "";
}
#endif

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
    copy_place(annotated, status);
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
