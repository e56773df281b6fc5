// What distinguishes functions of one name (keel_site_t): their origin, as a text.
#define _GNU_SOURCE // memrchr, memmem
#include <stdio.h>
#include <string.h>

#include "host/site.h"

// "FUNCTION at FILE:LINE for FILE:LINE"; the function and the last part may be absent.
static const char text_at[] = " at ", text_for[] = " for ";

typedef struct origin_t {
    keel_str_t function, within; // within: whose function a library's runs
    keel_str_t file;
    uint32_t line;
    const keel_place_t *asker; // of a library's function: the user's line; NULL
} origin_t;

static const char *make_origin(keel_arena_t *arena, const origin_t *origin) {
    char line[16], asked[16] = "";
    const keel_place_t *asker = origin->asker;
    snprintf(line, sizeof line, ":%u", origin->line);
    if (asker) snprintf(asked, sizeof asked, ":%u", asker->line);
    keel_str_t file = keel_is_cell(origin->file) ? KEEL_STR("<cell>") : origin->file;
    keel_str_t parts[] = {origin->function,
                          keel_str(origin->within.size ? " of " : ""),
                          origin->within,
                          keel_str(origin->function.size ? text_at : ""),
                          file,
                          keel_str(line),
                          keel_str(asker ? text_for : ""),
                          keel_str(asker ? asker->file : ""),
                          keel_str(asked)};
    keel_buffer_t text;
    keel_str_t kept = KEEL_STR("");
    keel_buffer_initialize(&text, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_buffer_append(&text, parts[i].data, parts[i].size);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&text);
    return kept.data;
}

keel_str_t keel_origin_function(keel_str_t origin) {
    const char *end = memrchr(origin.data, ':', origin.size);
    bool is_function = memmem(origin.data, origin.size, text_at, sizeof text_at - 1) ||
                       memmem(origin.data, origin.size, text_for, sizeof text_for - 1);
    return end && is_function ? (keel_str_t){origin.data, (size_t)(end - origin.data)} : origin;
}

keel_str_t keel_origin_shared(keel_str_t origin) {
    const char *asker = memmem(origin.data, origin.size, text_for, sizeof text_for - 1);
    keel_str_t file = keel_origin_file(origin);
    if (!asker || !file.size || site_is_of_jax(file)) return origin;
    return (keel_str_t){origin.data, (size_t)(asker - origin.data)};
}

keel_str_t keel_origin_place(keel_str_t origin) {
    static const char lambda[] = "<lambda>", of[] = " of ";
    const char *at = memmem(origin.data, origin.size, text_at, sizeof text_at - 1);
    const char *colon = memrchr(origin.data, ':', origin.size);
    if (!at || !colon || colon < at ||
        (colon[1] == '0' && colon + 2 == origin.data + origin.size) ||
        memmem(origin.data, origin.size, text_for, sizeof text_for - 1))
        return origin;
    keel_str_t function = {origin.data, (size_t)(at - origin.data)};
    if (memmem(function.data, function.size, lambda, sizeof lambda - 1) ||
        memmem(function.data, function.size, of, sizeof of - 1))
        return origin;
    const char *place = at + sizeof text_at - 1;
    return (keel_str_t){place, (size_t)(origin.data + origin.size - place)};
}

// The user's function that the asking line had JAX run; NULL if there is none. For jax.pmap and for
// a scan outside jit, JAX chooses the name, and the frames end there; flax leaves its own frames
// out.
static const keel_frame_t *function_behind_line(const found_t *found) {
    const chain_t *chain = &found->chain;
    if (!found->stack || !found->stack->count || !chain->count) return NULL;
    uint32_t asker = site_find_stack(chain, found->stack, found->application);
    if (!asker) return NULL;
    const keel_frame_t *frame = &chain->frames[asker - 1];
    return keel_is_foreign_file(frame->file, found->application) ? NULL : frame;
}

// The user's function that a library's function, jitted by the user, runs: model.init of one model
// is not that of another. Empty if the library jits its own.
static keel_str_t function_within(const found_t *found) {
    const chain_t *chain = &found->chain;
    uint32_t at = found->own;
    if (at + 1 >= chain->count ||
        keel_is_foreign_file(chain->frames[at + 1].file, found->application))
        return KEEL_STR("");
    while (at-- > 0)
        if (!keel_is_foreign_file(chain->frames[at].file, found->application))
            return chain->frames[at].function;
    return KEEL_STR("");
}

static origin_t origin_of_frame(const found_t *found, const keel_frame_t *frame,
                                keel_str_t traced) {
    origin_t origin = {.function = frame->function, .file = frame->file};
    if (site_is_lambda(frame->function)) origin.line = frame->line;
    if (traced.size && keel_str_equal(traced, frame->file)) origin.line = found->stack->traced_line;
    return origin;
}

// True if the library jits its own function. That is one function for all its callers; what it is
// given to run distinguishes calls (closure.c).
static bool is_librarys_jit(const found_t *found) {
    uint32_t caller = found->own + 1;
    return found->own < found->chain.count &&
           (caller == found->chain.count ||
            keel_is_foreign_file(found->chain.frames[caller].file, found->application));
}

// Identifies the function by a frame, or by what the client says. False if neither does.
static bool find_origin(const found_t *found, origin_t *out) {
    const chain_t *chain = &found->chain;
    const keel_stack_t *stack = found->stack;
    keel_str_t traced = keel_str(stack && stack->traced_file ? stack->traced_file : "");
    const keel_frame_t *behind = function_behind_line(found);
    if (found->own < chain->count) {
        *out = origin_of_frame(found, &chain->frames[found->own], traced);
        out->within = function_within(found);
    } else if (traced.size && !site_is_of_jax(traced)) {
        keel_str_t name = found->name.size ? found->name : found->module;
        *out = (origin_t){.function = name, .file = traced, .line = stack->traced_line};
        if (behind) out->within = behind->function;
    } else if (behind) {
        *out = origin_of_frame(found, behind, traced);
    } else if (chain->count) {
        const keel_frame_t *frame = &chain->frames[found->shared];
        *out = (origin_t){.file = frame->file, .line = frame->line};
    }
    return out->file.size;
}

// A library's function that the user jits, and a loop that a library runs outside jit, are
// different functions for each line of the user's that asks.
const char *site_origin(const found_t *found, const keel_place_t *place, keel_arena_t *arena) {
    origin_t origin = {0};
    if (!find_origin(found, &origin)) return "";
    bool is_foreign = keel_is_foreign_file(origin.file, found->application);
    bool is_asked =
        *place->file && !keel_is_foreign_file(keel_str(place->file), found->application);
    if (is_foreign && is_asked && !is_librarys_jit(found)) origin.asker = place;
    if (!is_foreign) origin.within = KEEL_STR("");
    bool is_moving = keel_is_cell(origin.file) && origin.function.size;
    if (is_moving && !site_is_lambda(origin.function)) origin.line = 0;
    return make_origin(arena, &origin);
}

const char *site_origin_of_graph(const keel_site_t *site, bool is_called, keel_arena_t *arena) {
    const keel_place_t *place = &site->place;
    return make_origin(arena, &(origin_t){.function = keel_str(site->graph),
                                          .file = keel_str(place->file),
                                          .line = is_called ? place->line : 0,
                                          .within = keel_str(is_called ? "" : place->function)});
}

const char *site_origin_traced(const keel_traced_graph_t *traced, const char *graph,
                               keel_arena_t *arena) {
    return make_origin(arena, &(origin_t){.function = keel_str(graph),
                                          .within = keel_str(traced->function),
                                          .file = keel_str(traced->file),
                                          .line = traced->line});
}

// One line of the user's may lead to programs from several lines of a library.
const char *site_origin_asked(const keel_site_t *site, keel_arena_t *arena) {
    const keel_place_t *place = &site->place;
    char library[24] = "", name[512];
    if (place->library_file) snprintf(library, sizeof library, ":%u", place->library_line);
    keel_str_t file = keel_str(place->library_file ? keel_library_shown(place->library_file) : "");
    int size = snprintf(name, sizeof name, "%.*s%s", KEEL_STR_ARGS(file), library);
    if (size < 0 || (size_t)size >= sizeof name) size = 0;
    return make_origin(arena, &(origin_t){.function = {name, (size_t)size},
                                          .file = keel_str(place->file),
                                          .line = place->line});
}
