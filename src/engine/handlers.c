#include "engine/handlers.h"

#include "compiler/handlers.h"
#include "engine/background.h"
#include "engine/once.h"

// A library has many functions, and its file may have hundreds of megabytes.
typedef struct build_t {
    struct build_t *next;
    const char *library; // the first handler's
    keel_digest_t digest;
} build_t;

struct handlers_t {
    build_t *builds; // the background thread's own
};

typedef struct writing_t {
    task_t task;
    const keel_handler_t *handler;
} writing_t;

keel_status_t handlers_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(handlers_t), &memory));
    engine->handlers = memory;
    return NULL;
}

void handlers_destroy(handlers_t *handlers) {
    keel_free(handlers);
}

// ---- in the background -------------------------------------------------------------------------

static keel_status_t build_of(keel_engine_t *engine, const char *library, build_t **out) {
    void *memory;
    for (*out = engine->handlers->builds; *out; *out = (*out)->next)
        if (strcmp((*out)->library, library) == 0) return NULL;
    KEEL_TRY(keel_calloc(1, sizeof(build_t), &memory));
    build_t *build = memory;
    *build = (build_t){.next = engine->handlers->builds, .library = library};
    keel_status_t status = engine_build_of(engine, library, &build->digest);
    if (status) {
        keel_free(build);
        return status;
    }
    engine->handlers->builds = *out = build;
    return NULL;
}

static keel_status_t write_handler(keel_engine_t *engine, const keel_handler_t *handler) {
    keel_journal_place_t places[KEEL_HANDLER_PLACES] = {{0}};
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i) {
        const keel_handler_place_t *place = &handler->places[i];
        build_t *build;
        if (!place->library) continue;
        KEEL_TRY(build_of(engine, place->library, &build));
        places[i] = (keel_journal_place_t){place->library, place->offset, &build->digest};
    }
    keel_journal_handler(engine->journal,
                         &(keel_journal_handler_t){.kind = keel_handler_kinds[handler->kind],
                                                   .name = handler->name,
                                                   .platform = handler->platform,
                                                   .api_version = (unsigned)handler->api_version,
                                                   .traits = handler->traits,
                                                   .places = places,
                                                   .place_count = KEEL_HANDLER_PLACES});
    return NULL;
}

static void run_writing(keel_engine_t *engine, task_t *head) {
    keel_status_t status = write_handler(engine, ((writing_t *)head)->handler);
    if (status) engine_fell_through(engine, "handler", NULL, status);
}

static void destroy_writing(task_t *head) {
    keel_free(head);
}

// ---- on the client's thread --------------------------------------------------------------------

static keel_status_t write_later(keel_engine_t *engine, const keel_handler_t *handler) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(writing_t), &memory));
    writing_t *writing = memory;
    *writing = (writing_t){{NULL, run_writing, destroy_writing, NULL, 0}, handler};
    keel_status_t status = background_add(engine, &writing->task);
    if (status) keel_free(writing);
    return status;
}

static bool is_one_of(const char *name, const keel_str_t *names, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (keel_str_is(names[i], name)) return true;
    return false;
}

static bool is_called(const keel_handler_t *handler, const client_t *client,
                      const keel_str_t *names, size_t count) {
    return handler->kind == KEEL_HANDLER_CALL && keel_handler_fits(handler, client->platform) &&
           is_one_of(handler->name, names, count);
}

static keel_status_t write_called(keel_engine_t *engine, const client_t *client,
                                  const keel_str_t *names, size_t count) {
    size_t end = keel_handler_count(), called = 0;
    for (size_t i = 0; i < end; ++i)
        called += is_called(keel_handler_at(i), client, names, count);
    for (size_t i = 0; i < end && called; ++i) {
        const keel_handler_t *handler = keel_handler_at(i);
        bool is_needed =
            is_called(handler, client, names, count) ||
            (handler->kind == KEEL_HANDLER_TYPE && keel_handler_fits(handler, client->platform));
        if (is_needed && once_first(engine->once, ONCE_HANDLER, keel_bytes(&i, sizeof i)))
            KEEL_TRY(write_later(engine, handler));
    }
    return NULL;
}

void handlers_asked(keel_engine_t *engine, const client_t *client, const keel_program_t *program) {
    keel_str_t *names;
    size_t count;
    if (!engine->journal || !keel_handler_count()) return;
    keel_status_t status = keel_key_calls(program, &names, &count);
    if (!status) {
        if (count) status = write_called(engine, client, names, count);
        keel_free(names);
    }
    if (status) engine_fell_through(engine, "handler", NULL, status);
}
