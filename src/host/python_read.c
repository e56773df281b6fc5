// What pieces of Python read from the interpreter of this process.
#include "host/python.h"

const char *keel_python_read(const char *const *sources, keel_arena_t *arena) {
    keel_python_t python;
    if (keel_python_enter(&python)) return "";
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    for (; *sources; ++sources)
        keel_python_ask(&python, *sources, &text);
    keel_python_leave(&python);
    keel_str_t kept = KEEL_STR("");
    if (!text.failed)
        keel_status_ignore(keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept));
    keel_buffer_deinitialize(&text);
    return kept.data;
}
