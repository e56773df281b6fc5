// The recompiles that a run's summary, its figures and its page name, with the causes from `keel
// why`.
#include "why/internal.h"

static const char *as_text(const char *text) {
    return text ? text : "";
}

static void take_cause(const keel_why_entry_t *entry, keel_why_recompile_t *out) {
    const keel_run_difference_t *cause = keel_why_cause(entry);
    out->cause = entry->asked->unrelated ? "unrelated" : "";
    if (!cause) return;
    out->cause = keel_cause_facts(cause->kind)->word;
    out->subject = as_text(cause->subject);
    out->old_value = as_text(cause->old_value);
    out->new_value = as_text(cause->new_value);
    out->shown = as_text(cause->place.shown);
}

static keel_why_recompile_t recompile_of(const keel_run_request_t *request) {
    return (keel_why_recompile_t){.step = request->step,
                                  .took = request->took,
                                  .ops = request->ops,
                                  .name = request->name,
                                  .program = request->program,
                                  .site = request->site,
                                  .cause = "",
                                  .subject = "",
                                  .old_value = "",
                                  .new_value = "",
                                  .shown = ""};
}

static keel_status_t index_entries(const keel_why_t *why, keel_map_t *out) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        keel_bytes_t program = keel_str_bytes(keel_str(entry->asked->program));
        bool is_asked = entry->recompile || entry->asked->is_eager;
        if (!is_asked || !entry->asked->is_compile || keel_map_find(out, program)) continue;
        KEEL_TRY(keel_map_put(out, program, i));
    }
    return NULL;
}

// If it is not explained yet, it is a recompile if the journal says so, unless it ran by itself.
static void list_recompiles(keel_why_t *why, const keel_map_t *entries) {
    keel_why_summary_t *summary = &why->summary;
    for (size_t i = 0; i < why->run.request_count; ++i) {
        const keel_run_request_t *request = &why->run.requests[i];
        bool is_eager = request->operation != SIZE_MAX;
        if (!request->is_compile || (!is_eager && !request->recompile)) continue;
        const uint64_t *at = keel_map_find(entries, keel_str_bytes(keel_str(request->program)));
        const keel_why_entry_t *entry = at ? &why->entries[*at] : NULL;
        if (entry ? !keel_why_is_shown(entry) : is_eager) continue;
        keel_why_recompile_t *out = &summary->recompiles[summary->recompile_count++];
        *out = recompile_of(request);
        if (entry) take_cause(entry, out);
        keel_took_add(&summary->again, &out->took);
    }
}

// A compile of a program that an earlier run had.
static bool is_known(const keel_run_entry_t *asked) {
    if (asked->unrelated || asked->recompile || asked->is_eager) return false;
    if (strcmp(asked->what, "compile") != 0) return false;
    return asked->is_compared && !asked->against_is_ours;
}

static void count_known(keel_why_t *why) {
    keel_why_summary_t *summary = &why->summary;
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        const keel_run_entry_t *asked = entry->asked;
        if (!is_known(asked)) continue;
        bool is_dearest = !summary->known.times ||
                          keel_took_order(&asked->took, asked->ops, &summary->dearest_known.took,
                                          summary->dearest_known.ops) < 0;
        keel_took_add(&summary->known, &asked->took);
        if (!is_dearest) continue;
        summary->dearest_known = recompile_of(&(keel_run_request_t){.step = asked->step,
                                                                    .took = asked->took,
                                                                    .ops = asked->ops,
                                                                    .name = asked->name,
                                                                    .program = asked->program,
                                                                    .site = asked->site});
        take_cause(entry, &summary->dearest_known);
    }
}

keel_status_t keel_why_summarize(keel_why_t *why) {
    void *memory;
    keel_map_t entries;
    KEEL_TRY(keel_calloc(why->run.request_count, sizeof *why->summary.recompiles, &memory));
    why->summary.recompiles = memory;
    keel_map_initialize(&entries);
    keel_status_t status = index_entries(why, &entries);
    if (!status) list_recompiles(why, &entries);
    keel_map_deinitialize(&entries);
    if (!status) count_known(why);
    return status;
}
