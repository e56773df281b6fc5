#define _GNU_SOURCE
#include "enforce/letters.h"

#include <time.h>

void letters_initialize(letters_t *letters) {
    *letters = (letters_t){.meet = NULL};
    keel_process_name(letters->own);
}

void letters_deinitialize(letters_t *letters) {
    for (size_t i = 0; i < LETTERS_PROCESSES; ++i)
        keel_free(letters->names[i]);
}

keel_status_t letters_put(const letters_t *letters, const char *key, keel_bytes_t text) {
    keel_buffer_t letter;
    keel_buffer_initialize(&letter, KEEL_MEET_VALUE);
    keel_buffer_text(&letter, letters->own);
    keel_buffer_byte(&letter, '\n');
    keel_buffer_append(&letter, text.data, text.size);
    keel_status_t status = keel_buffer_status(&letter);
    if (!status) status = keel_meet_put(letters->meet, key, keel_buffer_bytes(&letter));
    keel_buffer_deinitialize(&letter);
    return status;
}

bool letters_has_come(const letters_t *letters, uint32_t process) {
    return letters->names[process];
}

bool letters_is_gone(const letters_t *letters, uint32_t process) {
    const char *name = letters->names[process];
    return name && keel_meet_is_gone(letters->meet, name);
}

// Whether the process with this name is the one of that number. A new name takes the place of one
// that has ended.
static keel_status_t check_name(letters_t *letters, uint32_t process, keel_str_t name, bool *out) {
    char *known = letters->names[process], *copy;
    *out = known && keel_str_is(name, known);
    if (*out) return NULL;
    KEEL_TRY(keel_strdup(name, &copy));
    bool is_gone = keel_meet_is_gone(letters->meet, copy);
    bool is_twin = !is_gone && known && !letters_is_gone(letters, process);
    if (is_twin) letters->has_twins = true;
    if (is_gone || is_twin) {
        keel_free(copy);
        return NULL;
    }
    keel_free(known);
    letters->names[process] = copy;
    *out = true;
    return NULL;
}

static keel_status_t take(letters_t *letters, uint32_t process, keel_bytes_t letter,
                          keel_buffer_t *out, bool *out_counts) {
    keel_str_t text = keel_bytes_str(letter), name;
    *out_counts = false;
    if (!keel_str_line(&text, &name) || name.size >= KEEL_PROCESS_NAME) return NULL;
    KEEL_TRY(check_name(letters, process, name, out_counts));
    if (*out_counts) keel_buffer_str(out, text);
    return keel_buffer_status(out);
}

static keel_status_t not_there(const char *key) {
    const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL); // the place did not wait
    return keel_status_make(KEEL_NOT_FOUND, "%s is of an earlier job", key);
}

keel_status_t letters_get(letters_t *letters, uint32_t process, const char *key, uint64_t until,
                          keel_buffer_t *out) {
    for (;;) {
        uint8_t *data;
        size_t size;
        bool counts;
        KEEL_TRY(keel_meet_get(letters->meet, key, until, &data, &size));
        keel_status_t status = take(letters, process, keel_bytes(data, size), out, &counts);
        keel_free(data);
        if (status || counts) return status;
        status = not_there(key);
        if (letters->has_twins || keel_clock_monotonic() >= until) return status;
        keel_status_ignore(status);
    }
}

keel_status_t letters_peek(const letters_t *letters, const char *key, keel_buffer_t *out) {
    uint8_t *data;
    size_t size;
    char writer[KEEL_PROCESS_NAME];
    KEEL_TRY(keel_meet_get(letters->meet, key, 0, &data, &size));
    keel_str_t text = keel_bytes_str(keel_bytes(data, size)), name;
    bool counts = keel_str_line(&text, &name) && name.size < sizeof writer;
    if (counts) {
        memcpy(writer, name.data, name.size);
        writer[name.size] = 0;
        counts = !keel_meet_is_gone(letters->meet, writer);
    }
    if (counts) keel_buffer_str(out, text);
    keel_free(data);
    if (!counts) return keel_status_make(KEEL_NOT_FOUND, "%s is of a process that has ended", key);
    return keel_buffer_status(out);
}
