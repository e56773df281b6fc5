// Where this process's Python looks for modules.
#include "host/host.h"
#include "host/python.h"

static const char source[] =
    KEEL_PYTHON_GUARDED("    import sys\n"
                        "    place = sys.modules['os'].path.abspath\n"
                        "    found = [place(x) for x in sys.path[:64] if type(x) is str]\n"
                        "    libraries = '/lib/python', '/lib64/python', '-packages', '\\n'\n"
                        "    own = [x for x in found if not any(y in x for y in libraries)]\n"
                        "    names = '\\n'.join(own)\n");

const char *keel_python_path_read(keel_arena_t *arena) {
    keel_python_t python;
    if (keel_python_enter(&python)) return "";
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_python_ask(&python, source, &text);
    keel_python_leave(&python);
    keel_str_t kept = KEEL_STR("");
    if (!text.failed)
        keel_status_ignore(
            keel_arena_str(arena, (keel_str_t){(const char *)text.data, text.size}, &kept));
    keel_buffer_deinitialize(&text);
    return kept.data;
}
