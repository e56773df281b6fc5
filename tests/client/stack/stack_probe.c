// Asks for the stack of whoever calls, as JSON: [skipped or null, left out, [[file, line,
// function]]]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "host/host.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int probe(char *out, size_t size);
EXPORTED int probe_on_foreign_thread(char *out, size_t size);
EXPORTED int probe_with_error(char *out, size_t size);

static void write_frame(keel_buffer_t *text, const keel_stack_frame_t *frame) {
    keel_buffer_byte(text, '[');
    keel_buffer_json_str(text, keel_str(frame->file));
    keel_buffer_format(text, ",%u,", frame->line);
    keel_buffer_json_str(text, keel_str(frame->function));
    keel_buffer_byte(text, ']');
}

static void write_stack(keel_buffer_t *text, const keel_stack_t *stack) {
    keel_buffer_byte(text, '[');
    if (stack->skipped)
        keel_buffer_json_str(text, keel_str(stack->skipped));
    else
        keel_buffer_text(text, "null");
    keel_buffer_format(text, ",%u,[", stack->left_out);
    for (uint32_t i = 0; i < stack->count; ++i) {
        if (i) keel_buffer_byte(text, ',');
        write_frame(text, &stack->frames[i]);
    }
    keel_buffer_text(text, "]]");
}

// 0, or -1 where `out` is too small.
int probe(char *out, size_t size) {
    keel_arena_t arena;
    keel_buffer_t text;
    keel_stack_t stack;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(&text, 0);
    keel_stack_read(&arena, "", &stack);
    write_stack(&text, &stack);
    int result = !text.failed && text.size < size ? 0 : -1;
    if (!result) memcpy(out, keel_buffer_cstr(&text), text.size + 1);
    keel_buffer_deinitialize(&text);
    keel_arena_deinitialize(&arena);
    return result;
}

typedef struct call_t {
    char *out;
    size_t size;
    int result;
} call_t;

static void *call_probe(void *context) {
    call_t *call = context;
    call->result = probe(call->out, call->size);
    return NULL;
}

int probe_on_foreign_thread(char *out, size_t size) {
    call_t call = {out, size, -1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_probe, &call)) return -1;
    pthread_join(thread, NULL);
    return call.result;
}

// With the interpreter's lock held and an exception on its way.
int probe_with_error(char *out, size_t size) {
    void (*set_error)(void *, const char *);
    void *found = dlsym(RTLD_DEFAULT, "PyErr_SetString");
    void **kind = dlsym(RTLD_DEFAULT, "PyExc_LookupError");
    if (!found || !kind) return -1;
    memcpy(&set_error, &found, sizeof found);
    set_error(*kind, "on its way");
    return probe(out, size);
}
