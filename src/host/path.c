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
    return keel_python_read((const char *const[]){source, NULL}, arena);
}
