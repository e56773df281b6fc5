#include "base/json.h"
#include "bundle/compare.h"

// ---- a bundle ----------------------------------------------------------------------------------

void keel_bundle_section_text(const keel_bundle_t *bundle, keel_bundle_section_t section,
                              keel_buffer_t *out) {
    bool any = false;
    if (!bundle->known[section]) return;
    keel_buffer_format(out, "%s\n", keel_bundle_section_name(section));
    for (size_t i = 0; i < bundle->count; ++i) {
        const keel_bundle_fact_t *fact = &bundle->facts[i];
        if (fact->section != section) continue;
        keel_buffer_format(out, "  %-28s %s\n", fact->name, *fact->value ? fact->value : "\"\"");
        any = true;
    }
    if (!any) keel_buffer_text(out, "  none\n");
}

void keel_bundle_text(const keel_bundle_t *bundle, keel_buffer_t *out) {
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        keel_bundle_section_text(bundle, (keel_bundle_section_t)i, out);
    if (bundle->left_out)
        keel_buffer_format(out, "%zu more facts were left out\n", bundle->left_out);
}

// ---- two bundles -------------------------------------------------------------------------------

static const struct {
    const char *word, *heading;
} weights[] = {
#define WEIGHT(name, word, heading) {word, heading},
    KEEL_BUNDLE_WEIGHTS(WEIGHT)
#undef WEIGHT
};

// Cut at `longest` bytes (0: not cut), never inside a character.
static void put_side(const char *value, size_t longest, keel_buffer_t *out) {
    const char *shown = !value ? "nothing" : *value ? value : "\"\"";
    size_t size = strlen(shown), end = longest && size > longest ? longest : size;
    while (end < size && ((unsigned char)shown[end] & 0xc0) == 0x80)
        --end;
    keel_buffer_append(out, shown, end);
    if (end < size) keel_buffer_text(out, "...");
}

static void put_change(const keel_bundle_change_t *change, bool whole, keel_buffer_t *out) {
    size_t longest = whole ? 0 : change->section == KEEL_BUNDLE_KEY ? 12 : 120;
    bool is_named = change->section != KEEL_BUNDLE_PACKAGES &&
                    change->section != KEEL_BUNDLE_CLIENTS && change->section != KEEL_BUNDLE_FLAGS;
    keel_buffer_format(out, "  %s%s%s: ", is_named ? keel_bundle_section_name(change->section) : "",
                       is_named ? " " : "", change->name);
    put_side(change->old_value, longest, out);
    keel_buffer_text(out, " -> ");
    put_side(change->new_value, longest, out);
    keel_buffer_byte(out, '\n');
}

void keel_bundle_changes_text(const keel_bundle_changes_t *changes, bool whole,
                              keel_bundle_weight_t last, keel_buffer_t *out) {
    const char *before = "not fully compared, because one bundle lacks part of it: ";
    size_t count = 0;
    for (; count < changes->count && changes->list[count].weight <= last; ++count) {
        const keel_bundle_change_t *change = &changes->list[count];
        if (!count || change[-1].weight != change->weight)
            keel_buffer_format(out, "%s:\n", weights[change->weight].heading);
        put_change(change, whole, out);
    }
    if (!changes->count) keel_buffer_text(out, "nothing differs\n");
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        if (!changes->untold[i]) continue;
        keel_buffer_format(out, "%s%s", before, keel_bundle_section_name((keel_bundle_section_t)i));
        before = ", ";
    }
    if (before[0] == ',') keel_buffer_byte(out, '\n');
}

void keel_bundle_changes_json(const keel_bundle_changes_t *changes, keel_json_t *json) {
    keel_json_array(json, "changes");
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_bundle_change_t *change = &changes->list[i];
        keel_json_break(json, "\n ");
        keel_json_object(json, NULL);
        keel_json_string(json, "weight", weights[change->weight].word);
        keel_json_string(json, "section", keel_bundle_section_name(change->section));
        keel_json_string(json, "name", change->name);
        if (change->old_value) keel_json_string(json, "old", change->old_value);
        if (change->new_value) keel_json_string(json, "new", change->new_value);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_array(json, "untold");
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        if (changes->untold[i])
            keel_json_string(json, NULL, keel_bundle_section_name((keel_bundle_section_t)i));
    keel_json_end_array(json);
}
