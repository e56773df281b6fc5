// Shared by all parts of the engine.
#define _GNU_SOURCE
#include <signal.h>

#include "engine/core.h"

static _Atomic(keel_engine_t *) newest;

keel_engine_t *engine_newest(void) {
    return atomic_load(&newest);
}

void engine_add(keel_engine_t *engine) {
    engine->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &engine->next, engine))
        ;
}

double engine_patience = 60;

// What is compiled for an hour may take minutes to load.
uint64_t engine_patience_for(double compile_seconds) {
    const double day = 86400;
    return (uint64_t)((engine_patience + (compile_seconds < day ? compile_seconds : day)) * 1e9);
}

static const char *text_or_null(const char *text) {
    return text && *text ? text : NULL;
}

keel_journal_site_t engine_site(const keel_place_t *place) {
    return (keel_journal_site_t){.file = text_or_null(place->file),
                                 .line = place->line,
                                 .function = text_or_null(place->function),
                                 .call_file = text_or_null(place->call_file),
                                 .call_line = place->call_line,
                                 .library_file = text_or_null(place->library_file),
                                 .library_line = place->library_line,
                                 .application = text_or_null(place->application),
                                 .script_file = text_or_null(place->script_file),
                                 .script_line = place->script_line};
}

void engine_fell_through(keel_engine_t *engine, const char *what,
                         const keel_journal_subject_t *subject, keel_status_t status) {
    keel_log_once(what, "%s: %s; the run continues without it%s", what, keel_status_message(status),
                  keel_status_place(status));
    keel_journal_fallback(engine->journal, what, subject, keel_status_message(status));
    keel_status_ignore(status);
}

// Signals belong to the client: its handlers may expect its own threads, and a signal that lands
// here would not wake the thread that waits for it. Crash signals stay unblocked.
bool engine_start_thread(void *(*body)(void *), void *context) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; ++i)
        sigdelset(&blocked, crashes[i]);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int failed = pthread_create(&thread, NULL, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) pthread_detach(thread);
    return !failed;
}
