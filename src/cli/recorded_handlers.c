// The functions that a recorded run's programs call by name, for children that compile these
// programs without their client.
#include <jansson.h>
#include <stdio.h>

#include "cli/recorded.h"
#include "journal/journal.h"
#include "pjrt/kernels.h"

// ---- events ------------------------------------------------------------------------------------

static keel_status_t keep(cli_recorded_t *recorded, const char **text) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&recorded->arena, keel_str(*text), &kept));
    *text = kept.data;
    return NULL;
}

static bool read_kind(const json_t *event, keel_handler_kind_t *out) {
    const char *kind = keel_event_text(event, "kind");
    for (*out = 0; *out < KEEL_HANDLER_KINDS; ++*out)
        if (strcmp(kind, keel_handler_kinds[*out]) == 0) return true;
    return false;
}

// Without the build of a library, nobody can say whether it is still the run's.
static bool read_places(const json_t *event, cli_handler_t *out) {
    const json_t *places = json_object_get(event, "places");
    bool is_anywhere = false;
    if (json_array_size(places) > KEEL_HANDLER_PLACES) return false;
    for (size_t i = 0; i < json_array_size(places); ++i) {
        const json_t *place = json_array_get(places, i);
        const char *library = keel_event_text(place, "library");
        uint64_t offset = keel_event_count(place, "offset");
        if (!*library) continue;
        if (!offset || !keel_event_digest(place, "build", &out->builds[i])) return false;
        out->handler.places[i] = (keel_handler_place_t){library, offset};
        is_anywhere = true;
    }
    return is_anywhere;
}

static bool read_handler(const json_t *event, cli_handler_t *out) {
    uint64_t version = keel_event_count(event, "api_version"),
             traits = keel_event_count(event, "traits");
    *out = (cli_handler_t){.handler = {.name = keel_event_text(event, "name"),
                                       .platform = keel_event_text(event, "platform"),
                                       .api_version = (int)version,
                                       .traits = (uint32_t)traits}};
    return read_kind(event, &out->handler.kind) && *out->handler.name && version <= INT32_MAX &&
           traits <= UINT32_MAX && read_places(event, out);
}

static bool is_of_one_name(const keel_handler_t *a, const keel_handler_t *b) {
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
           strcmp(a->platform, b->platform) == 0;
}

static bool is_at_one_place(const cli_handler_t *a, const cli_handler_t *b) {
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i) {
        const keel_handler_place_t *one = &a->handler.places[i], *other = &b->handler.places[i];
        bool is_same = !one->library == !other->library && one->offset == other->offset &&
                       (!one->library || strcmp(one->library, other->library) == 0) &&
                       keel_digest_equal(&a->builds[i], &b->builds[i]);
        if (!is_same) return false;
    }
    return true;
}

// Every process of a run writes its own.
static bool is_listed(const cli_recorded_t *recorded, const cli_handler_t *handler) {
    for (size_t i = 0; i < recorded->handler_count; ++i)
        if (is_of_one_name(&recorded->handlers[i].handler, &handler->handler) &&
            is_at_one_place(&recorded->handlers[i], handler))
            return true;
    return false;
}

static keel_status_t list(cli_recorded_t *recorded, const cli_handler_t *handler) {
    void *memory = recorded->handlers;
    KEEL_TRY(keel_grow_array(recorded->handler_count, sizeof *handler, &recorded->handler_room,
                             &memory));
    recorded->handlers = memory;
    recorded->handlers[recorded->handler_count++] = *handler;
    return NULL;
}

// Those whose build is in keys (pjrt/kernels.h).
static keel_status_t know_kernel(const keel_handler_t *handler) {
    const char *library = handler->places[KEEL_HANDLER_EXECUTE].library;
    bool is_kernel = handler->kind == KEEL_HANDLER_CALL && keel_handler_fits(handler, "cpu");
    for (int i = 0; i < KEEL_HANDLER_EXECUTE; ++i)
        is_kernel = is_kernel && !handler->places[i].library;
    return is_kernel && keel_is_file(library) ? keel_kernel_know(handler->name, library) : NULL;
}

keel_status_t cli_recorded_take_handler(cli_recorded_t *recorded, const json_t *event,
                                        const char *platform) {
    cli_handler_t handler;
    if (recorded->is_foreign || !read_handler(event, &handler) ||
        !keel_handler_fits(&handler.handler, platform) || is_listed(recorded, &handler))
        return NULL;
    KEEL_TRY(keep(recorded, &handler.handler.name));
    KEEL_TRY(keep(recorded, &handler.handler.platform));
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i)
        if (handler.handler.places[i].library)
            KEEL_TRY(keep(recorded, &handler.handler.places[i].library));
    KEEL_TRY(list(recorded, &handler));
    return know_kernel(&handler.handler);
}

// ---- libraries ---------------------------------------------------------------------------------

typedef struct library_t {
    struct library_t *next;
    const char *path, *trouble; // NULL: it can be read
    keel_digest_t build;
} library_t;

// In the order in which the handlers name them.
typedef struct libraries_t {
    keel_arena_t *arena;
    const char *digests; // folder; NULL: none
    library_t *first, **last;
} libraries_t;

static keel_status_t find_library(libraries_t *libraries, const char *path, library_t **out) {
    void *memory;
    for (*out = libraries->first; *out; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0) return NULL;
    KEEL_TRY(keel_arena_alloc(libraries->arena, sizeof **out, &memory));
    library_t *library = *out = *libraries->last = memory;
    libraries->last = &library->next;
    *library = (library_t){.path = path};
    if (!keel_is_file(path)) {
        library->trouble = "is gone";
        return NULL;
    }
    keel_status_t status = keel_key_plugin_build(path, libraries->digests, &library->build);
    if (status) library->trouble = "cannot be read";
    keel_status_ignore(status);
    return NULL;
}

// The first library of the handler's that is not what the run had; NULL: all are.
static keel_status_t find_other(libraries_t *libraries, const cli_handler_t *handler,
                                library_t **out) {
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i) {
        const char *path = handler->handler.places[i].library;
        if (!path) continue;
        KEEL_TRY(find_library(libraries, path, out));
        if ((*out)->trouble || !keel_digest_equal(&(*out)->build, &handler->builds[i])) return NULL;
    }
    *out = NULL;
    return NULL;
}

static bool is_registered(const keel_handler_t *handler) {
    for (size_t i = 0, end = keel_handler_count(); i < end; ++i)
        if (is_of_one_name(keel_handler_at(i), handler)) return true;
    return false;
}

static keel_status_t report(const cli_recorded_t *recorded, libraries_t *libraries,
                            const library_t *library) {
    size_t count = 0;
    const char *name = "";
    for (size_t i = 0; i < recorded->handler_count; ++i) {
        const cli_handler_t *handler = &recorded->handlers[i];
        library_t *other;
        KEEL_TRY(find_other(libraries, handler, &other));
        if (other != library || is_registered(&handler->handler)) continue;
        if (!count++) name = handler->handler.name;
    }
    char more[40] = "";
    if (count > 1) snprintf(more, sizeof more, " and %zu more", count - 1);
    if (count)
        cli_say(
            "%s %s, so programs that call %s%s do not compile; record the run again, with `keel "
            "rehearse` or `keel run`",
            library->path, library->trouble ? library->trouble : "has changed since the run", name,
            more);
    return NULL;
}

static keel_status_t add_same(cli_recorded_t *recorded, libraries_t *libraries) {
    for (size_t i = 0; i < recorded->handler_count; ++i) {
        library_t *other;
        KEEL_TRY(find_other(libraries, &recorded->handlers[i], &other));
        if (!other) KEEL_TRY(keel_handler_add(&recorded->handlers[i].handler));
    }
    for (const library_t *library = libraries->first; library; library = library->next)
        KEEL_TRY(report(recorded, libraries, library));
    return NULL;
}

keel_status_t cli_recorded_add_handlers(cli_recorded_t *recorded, const keel_settings_t *settings) {
    char *digests;
    KEEL_TRY(cli_digests_folder(settings, &digests));
    libraries_t libraries = {.arena = &recorded->arena, .digests = digests};
    libraries.last = &libraries.first;
    keel_status_t status = add_same(recorded, &libraries);
    keel_free(digests);
    return status;
}
