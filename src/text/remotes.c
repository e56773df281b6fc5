#include "text/remotes.h"

#include <inttypes.h>

#include "text/facts.h"
#include "text/flow.h"
#include "text/write.h"

static void found(const keel_remote_use_t *use, keel_buffer_t *out) {
    char size[16];
    keel_format_size(use->bytes, size);
    keel_buffer_format(out, "%" PRIu64 " found", use->found);
    keel_buffer_format(out, " (%s in ", size);
    keel_write_seconds(out, use->seconds);
    keel_buffer_text(out, ", the slowest ");
    keel_write_seconds(out, use->slowest);
    keel_buffer_byte(out, ')');
}

void keel_remote_sentence(const keel_remote_use_t *use, keel_buffer_t *out) {
    const char *before = ": ";
    keel_write_foreign(out, use->url);
    if (use->found || !keel_remote_use_troubles(use)) {
        keel_buffer_text(out, before);
        found(use, out);
        before = ", ";
    }
    if (use->absent) {
        keel_buffer_format(out, "%s%" PRIu64 " not there", before, use->absent);
        before = "; ";
    }
    for (size_t i = 0; i < KEEL_REMOTE_TROUBLE_COUNT; ++i) {
        if (!use->troubles[i]) continue;
        keel_buffer_format(out, "%s%" PRIu64 " %s", before, use->troubles[i],
                           keel_remote_trouble_word((keel_remote_trouble_t)i));
        if (*use->whys[i]) keel_buffer_text(out, ": ");
        keel_write_foreign(out, use->whys[i]);
        before = "; ";
    }
}

void keel_tiers_sentence(const keel_run_t *run, keel_buffer_t *out) {
    for (size_t i = 0; i < run->remotes.tier_count; ++i) {
        const keel_tier_use_t *tier = &run->remotes.tiers[i];
        keel_buffer_format(out, "%s%" PRIu64 " from ", i ? ", " : "", tier->loads);
        keel_write_foreign(out, tier->name);
    }
}

static void tier_of(const keel_run_t *run, const char *tier, const char *key, keel_buffer_t *out) {
    keel_remote_trouble_t trouble;
    const keel_remote_use_t *use = keel_remote_uses_trouble(&run->remotes, key, &trouble);
    if (*tier) {
        keel_buffer_text(out, "from ");
        keel_write_foreign(out, tier);
    } else if (use) {
        keel_write_foreign(out, use->url);
        keel_buffer_format(out, ": %s", keel_remote_trouble_word(trouble));
    }
}

void keel_program_tier(const keel_run_t *run, const keel_run_program_t *program,
                       keel_buffer_t *out) {
    tier_of(run, program->tier, program->identity, out);
}

void keel_asked_tier(const keel_run_t *run, const keel_run_entry_t *entry, keel_buffer_t *out) {
    tier_of(run, entry->tier, entry->key, out);
}

void keel_tier_json(const keel_run_t *run, const char *tier, const char *key, keel_json_t *json) {
    keel_remote_trouble_t trouble;
    const keel_remote_use_t *use = keel_remote_uses_trouble(&run->remotes, key, &trouble);
    if (*tier) keel_json_string(json, "tier", tier);
    if (!use || *tier) return;
    keel_json_object(json, "unused");
    keel_json_string(json, "remote", use->url);
    keel_json_string(json, "got", keel_remote_trouble_word(trouble));
    keel_json_end_object(json);
}

void keel_remotes_tell(const keel_run_t *run, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    if (run->remotes.count && run->remotes.tier_count) {
        keel_buffer_initialize(&text, 0);
        keel_buffer_text(&text, "Loaded: ");
        keel_tiers_sentence(run, &text);
        keel_buffer_byte(&text, '.');
        keel_flow_paragraph(&text, width, out);
    }
    for (size_t i = 0; i < run->remotes.count; ++i) {
        const keel_remote_use_t *use = &run->remotes.list[i];
        keel_buffer_initialize(&text, 0);
        keel_buffer_text(&text, "Remote ");
        keel_remote_sentence(use, &text);
        keel_buffer_byte(&text, '.');
        if (keel_remote_use_troubles(use))
            keel_buffer_text(&text, " `keel cache remotes` tries it.");
        keel_flow_paragraph(&text, width, out);
    }
}

static void use_json(const keel_remote_use_t *use, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "remote", use->url);
    keel_json_unsigned(json, "found", use->found);
    keel_json_unsigned(json, "absent", use->absent);
    for (size_t i = 0; i < KEEL_REMOTE_TROUBLE_COUNT; ++i)
        keel_json_unsigned(json, keel_remote_trouble_word((keel_remote_trouble_t)i),
                           use->troubles[i]);
    keel_json_unsigned(json, "bytes", use->bytes);
    keel_text_seconds(json, "seconds", use->seconds);
    keel_text_seconds(json, "slowest_seconds", use->slowest);
    keel_json_object(json, "why");
    for (size_t i = 0; i < KEEL_REMOTE_TROUBLE_COUNT; ++i)
        if (use->troubles[i])
            keel_json_string(json, keel_remote_trouble_word((keel_remote_trouble_t)i),
                             use->whys[i]);
    keel_json_end_object(json);
    keel_json_end_object(json);
}

void keel_remotes_json(const keel_run_t *run, keel_json_t *json) {
    keel_json_object(json, "tiers");
    for (size_t i = 0; i < run->remotes.tier_count; ++i) {
        keel_json_key(json, keel_str(run->remotes.tiers[i].name));
        keel_json_unsigned(json, NULL, run->remotes.tiers[i].loads);
    }
    keel_json_end_object(json);
    keel_json_array(json, "remotes");
    for (size_t i = 0; i < run->remotes.count; ++i)
        use_json(&run->remotes.list[i], json);
    keel_json_end_array(json);
}
