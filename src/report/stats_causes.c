// Causes of the recompiles that are counted: those of `keel why`, so that a run's summary and its
// page say the same.
#include "report/stats_internal.h"
#include "report/why_internal.h"

static keel_status_t keep(keel_stats_t *stats, const char *text, const char **out) {
    return keel_event_keep(&stats->texts, text, out);
}

static keel_status_t take_cause(keel_stats_t *stats, const keel_why_entry_t *entry,
                                keel_stats_recompile_t *out) {
    const keel_why_difference_t *cause = keel_why_cause(entry);
    out->cause = entry->unrelated ? "unrelated" : "";
    if (!cause) return NULL;
    out->cause = keel_cause_facts(cause->kind)->word;
    KEEL_TRY(keep(stats, cause->subject, &out->subject));
    KEEL_TRY(keep(stats, cause->old_value, &out->old_value));
    KEEL_TRY(keep(stats, cause->new_value, &out->new_value));
    return keep(stats, cause->place.shown, &out->shown);
}

static keel_status_t index_entries(const keel_why_t *why, keel_map_t *out) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        keel_bytes_t program = keel_str_bytes(keel_str(entry->program));
        bool is_asked = entry->recompile || entry->is_eager;
        if (!is_asked || strcmp(entry->what, "compile") != 0 || keel_map_find(out, program))
            continue;
        KEEL_TRY(keel_map_put(out, program, i));
    }
    return NULL;
}

// What is not explained yet is a recompile by the journal, unless it ran by itself.
static keel_status_t settle(const keel_why_t *why, const keel_map_t *entries, keel_stats_t *stats) {
    size_t kept = 0;
    stats->recompile_seconds = 0;
    for (size_t i = 0; i < stats->recompile_count; ++i) {
        keel_stats_recompile_t *recompile = &stats->recompiles[i];
        const uint64_t *at = keel_map_find(entries, keel_str_bytes(keel_str(recompile->program)));
        const keel_why_entry_t *entry = at ? &why->entries[*at] : NULL;
        if (entry ? !keel_why_is_shown(entry) : recompile->is_eager) continue;
        if (entry) KEEL_TRY(take_cause(stats, entry, recompile));
        if (recompile->is_eager) keel_eager_forget(&stats->eager, recompile->site.shown);
        stats->recompile_seconds += recompile->seconds;
        stats->recompiles[kept++] = *recompile;
    }
    stats->recompile_count = kept;
    return NULL;
}

keel_status_t keel_stats_take_causes(keel_bytes_t bytes, keel_stats_t *stats) {
    keel_why_t why;
    keel_map_t entries;
    KEEL_TRY(keel_why_parse_brief(bytes, &why));
    keel_map_initialize(&entries);
    keel_status_t status = index_entries(&why, &entries);
    if (!status) status = settle(&why, &entries, stats);
    keel_map_deinitialize(&entries);
    keel_why_deinitialize(&why);
    return status;
}
