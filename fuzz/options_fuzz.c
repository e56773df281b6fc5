// Arbitrary compile options and flags: nothing breaks, the answer depends only on the bytes, and a
// canonical form does not change when it is made canonical again.
#include <stdlib.h>

#include "key/key.h"

typedef struct answer_t {
    keel_buffer_t canonical, assignment, readable;
    bool understood;
} answer_t;

static void release(answer_t *answer) {
    keel_buffer_deinitialize(&answer->canonical);
    keel_buffer_deinitialize(&answer->assignment);
    keel_buffer_deinitialize(&answer->readable);
}

static void ask(keel_bytes_t bytes, answer_t *out) {
    keel_buffer_initialize(&out->canonical, 0);
    keel_buffer_initialize(&out->assignment, 0);
    keel_buffer_initialize(&out->readable, 0);
    keel_status_t status = keel_key_options(bytes, KEEL_BACKEND_CPU, &out->canonical,
                                            &out->assignment, &out->readable, &out->understood);
    if (status) abort();
}

static bool same(const keel_buffer_t *a, const keel_buffer_t *b) {
    return keel_bytes_equal(keel_buffer_bytes(a), keel_buffer_bytes(b));
}

// "options <size>\n" precedes the message.
static keel_bytes_t message_of(const answer_t *answer) {
    const char *text = keel_buffer_cstr(&answer->canonical);
    const char *line = strchr(text, '\n');
    if (!line) abort();
    size_t size = strtoull(text + sizeof "options", NULL, 10);
    if (size > answer->canonical.size) abort();
    return keel_bytes(line + 1, size);
}

static void check_options(keel_bytes_t bytes) {
    answer_t first, second;
    ask(bytes, &first);
    ask(bytes, &second);
    if (first.understood != second.understood || !same(&first.canonical, &second.canonical) ||
        !same(&first.assignment, &second.assignment) || !same(&first.readable, &second.readable))
        abort();
    release(&second);
    if (first.understood) {
        ask(message_of(&first), &second);
        if (!second.understood || !same(&first.canonical, &second.canonical)) abort();
        release(&second);
    }
    release(&first);
}

static void check_flags(keel_bytes_t bytes) {
    char *text;
    // A leading dash keeps it from being a file name.
    if (bytes.size && bytes.data[0] != '-') return;
    if (keel_strdup(keel_bytes_str(bytes), &text)) abort();
    keel_buffer_t flags;
    keel_buffer_initialize(&flags, 0);
    if (keel_key_flags(text, &flags)) abort();
    keel_buffer_deinitialize(&flags);
    keel_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_options(keel_bytes(data, size));
    check_flags(keel_bytes(data, size));
    return 0;
}
