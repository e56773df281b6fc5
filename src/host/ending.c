// Until 3.14, Python ends a thread that wants its lock while the interpreter ends (pthread_exit).
// That unwinds the thread's stack, and if a destructor of the client waits for the lock, it may not
// be unwound: C++ ends the process with exit code 134. So it does without Keel, but then such
// threads mostly wait for results or compile; in a rehearsal, and where programs are loaded, that
// takes no time, so they come for the lock. They are left to wait for the end of the process, as
// Python 3.14 does itself.
#define _GNU_SOURCE // RTLD_DEFAULT
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"

typedef void handler_t(void);
typedef handler_t *set_handler_t(handler_t *handler);
typedef int is_ending_t(void);

static handler_t *before;
static is_ending_t *is_ending;
static pid_t process;

// On the thread that C++ is about to end the process for.
static void leave_waiting(void) {
    while (getpid() == process && gettid() != process && is_ending())
        pause();
    if (before) before();
}

static void *find(void *library, const char *name) {
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

static void set_handler(void) {
    void *ending = find(NULL, "Py_IsFinalizing");
    if (!ending) ending = find(NULL, "_Py_IsFinalizing");
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD); // what the client has
    void *found = library ? find(library, "_ZSt13set_terminatePFvvE") : NULL;
    if (!ending || !found) return;
    set_handler_t *set;
    memcpy(&set, &found, sizeof set);
    memcpy(&is_ending, &ending, sizeof is_ending);
    process = getpid();
    before = set(leave_waiting);
}

void keel_python_leave_threads(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_handler);
}
