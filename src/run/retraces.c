// Retraces that are not explained one by one (engine/repeats.h), most of which a client counts
// instead of writing them: they belong to the last one of their line that is explained.
#include "run/steps.h"

bool keel_run_is_retrace(const keel_run_entry_t *entry) {
    return strcmp(entry->what, "retrace") == 0;
}

// What the retraces of one function have in common, and then those of one line.
typedef struct retrace_t {
    int64_t pid;
    bool is_compile;
    const char *identity, *name;
    const keel_run_place_t *site;
} retrace_t;

static size_t name_retrace(keel_buffer_t *out, const retrace_t *retrace) {
    out->size = 0;
    keel_buffer_append(out, &retrace->pid, sizeof retrace->pid);
    keel_buffer_byte(out, retrace->is_compile);
    keel_buffer_append(out, retrace->identity, strlen(retrace->identity) + 1);
    keel_buffer_append(out, retrace->name, strlen(retrace->name) + 1);
    size_t function = out->size;
    keel_buffer_append(out, &retrace->site->line, sizeof retrace->site->line);
    keel_buffer_append(out, &retrace->site->call_line, sizeof retrace->site->call_line);
    keel_buffer_text(out, retrace->site->file);
    return function;
}

// The last entry of each function, and of each of its lines.
static keel_status_t index_retraces(const keel_run_t *run, keel_buffer_t *name, keel_map_t *out) {
    for (size_t i = 0; i < run->entry_count; ++i) {
        const keel_run_entry_t *entry = &run->entries[i];
        if (!keel_run_is_retrace(entry)) continue;
        const char *identity = *entry->key ? entry->key : entry->program;
        size_t function = name_retrace(
            name, &(retrace_t){entry->pid, entry->is_compile, identity, entry->name, &entry->site});
        KEEL_TRY(keel_buffer_status(name));
        KEEL_TRY(keel_map_put(out, keel_buffer_bytes(name), i));
        KEEL_TRY(keel_map_put(out, keel_bytes(name->data, function), i));
    }
    return NULL;
}

static size_t name_request(keel_buffer_t *out, const keel_run_t *run,
                           const keel_run_request_t *request) {
    return name_retrace(out, &(retrace_t){request->pid, request->is_compile,
                                          run->programs[request->index].identity, request->name,
                                          &request->site});
}

// SIZE_MAX: none.
static keel_status_t find_entry(const keel_run_t *run, const keel_run_request_t *request,
                                keel_buffer_t *name, const keel_map_t *entries, size_t *out) {
    size_t function = name_request(name, run, request);
    KEEL_TRY(keel_buffer_status(name));
    const uint64_t *at = keel_map_find(entries, keel_buffer_bytes(name));
    if (!at) at = keel_map_find(entries, keel_bytes(name->data, function));
    *out = at ? *at : SIZE_MAX;
    return NULL;
}

static keel_status_t add_to_entry(keel_run_t *run, keel_run_request_t *request,
                                  double overhead_seconds, keel_buffer_t *name,
                                  const keel_map_t *entries) {
    KEEL_TRY(find_entry(run, request, name, entries, &request->entry));
    if (request->entry == SIZE_MAX) return NULL;
    keel_run_entry_t *entry = &run->entries[request->entry];
    keel_took_add(&entry->took, &request->took);
    entry->took.seconds += overhead_seconds;
    if (request->step > entry->last_step) entry->last_step = request->step;
    return NULL;
}

keel_status_t keel_retraces_add(const keel_retraces_t *retraces, const keel_steps_t *steps,
                                keel_run_t *run) {
    keel_map_t entries;
    keel_buffer_t name;
    keel_map_initialize(&entries);
    keel_buffer_initialize(&name, 0);
    keel_status_t status = index_retraces(run, &name, &entries);
    for (size_t i = 0; !status && i < steps->request_count; ++i) {
        const keel_steps_request_t *known = &steps->requests[i];
        double overhead = known->is_rehearsed ? 0 : known->overhead_seconds;
        if (known->is_counted)
            status = add_to_entry(run, &run->requests[i], overhead, &name, &entries);
    }
    for (size_t i = 0; !status && i < retraces->count; ++i)
        status = add_to_entry(run, &retraces->sums[i], 0, &name, &entries);
    keel_buffer_deinitialize(&name);
    keel_map_deinitialize(&entries);
    return status;
}

// ---- those that are not kept -------------------------------------------------------------------

void keel_retraces_begin(keel_retraces_t *retraces) {
    *retraces = (keel_retraces_t){0};
    keel_map_initialize(&retraces->index);
}

void keel_retraces_end(keel_retraces_t *retraces) {
    keel_map_deinitialize(&retraces->index);
    keel_free(retraces->sums);
}

static keel_status_t add_sum(keel_retraces_t *retraces, keel_bytes_t name,
                             const keel_run_request_t *request) {
    void *grown = retraces->sums;
    if (retraces->count >= keel_limit(KEEL_LIMIT_REQUESTS)) return NULL;
    KEEL_TRY(keel_grow_array(retraces->count, sizeof *retraces->sums, &retraces->capacity, &grown));
    retraces->sums = grown;
    KEEL_TRY(keel_map_put(&retraces->index, name, retraces->count));
    retraces->sums[retraces->count++] = *request;
    return NULL;
}

keel_status_t keel_retraces_sum(keel_retraces_t *retraces, const keel_run_t *run,
                                const keel_run_request_t *request) {
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    name_request(&name, run, request);
    keel_status_t status = keel_buffer_status(&name);
    const uint64_t *at = status ? NULL : keel_map_find(&retraces->index, keel_buffer_bytes(&name));
    if (at) {
        keel_run_request_t *sum = &retraces->sums[*at];
        keel_took_add(&sum->took, &request->took);
        if (request->step > sum->step) sum->step = request->step;
    } else if (!status) {
        status = add_sum(retraces, keel_buffer_bytes(&name), request);
    }
    keel_buffer_deinitialize(&name);
    return status;
}
