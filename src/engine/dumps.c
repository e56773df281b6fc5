#include "engine/dumps.h"

#include <pthread.h>
#include <stdlib.h>

#include "key/key.h"

// XLA reads these variables once per process too.
static const char *of_process;

static void read_variables(void) {
    static const char *const variables[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS"};
    for (size_t i = 0; !of_process && i < sizeof variables / sizeof *variables; ++i)
        of_process = keel_key_dumps_of_flags(getenv(variables[i]));
}

const char *dumps_of_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_variables);
    return of_process;
}

const char *dumps_of_program(keel_bytes_t options) {
    const char *flag = dumps_of_process();
    if (!flag) flag = keel_key_dumps_of_options(options);
    if (flag)
        keel_log_once("dumps",
                      "XLA was asked for dumps (--%s), so programs are compiled, not loaded", flag);
    return flag;
}
