#include "base/json.h"
#include "bundle/compare.h"

static const char *const headings[] = {
#define HEADING(name, word, sentence) sentence,
    KEEL_BUNDLE_WEIGHTS(HEADING)
#undef HEADING
};

static const char *const words[] = {
#define WORD(name, word, sentence) word,
    KEEL_BUNDLE_WEIGHTS(WORD)
#undef WORD
};

// Text that may come from a foreign file: on one line, cut at `longest` bytes (0: not cut).
static void put_cut(const char *text, size_t longest, keel_buffer_t *out) {
    size_t size = strlen(text), end = longest && size > longest ? longest : size;
    while (end < size && end && ((unsigned char)text[end] & 0xc0) == 0x80)
        --end; // never inside a character
    for (size_t i = 0; i < end; ++i) {
        unsigned char c = (unsigned char)text[i];
        keel_buffer_byte(out, c == '\n' || c == '\t' ? ' ' : c < ' ' || c == 0x7f ? '?' : c);
    }
    if (end < size) keel_buffer_text(out, "...");
}

// ---- a bundle ----------------------------------------------------------------------------------

static void put_row(const char *name, const char *value, keel_buffer_t *out) {
    enum { COLUMN = 28 };
    keel_buffer_text(out, "  ");
    put_cut(name, 0, out);
    for (size_t at = strlen(name); at < COLUMN; ++at)
        keel_buffer_byte(out, ' ');
    keel_buffer_byte(out, ' ');
    put_cut(*value ? value : "\"\"", 0, out);
    keel_buffer_byte(out, '\n');
}

void keel_bundle_text(const keel_bundle_t *bundle, keel_buffer_t *out) {
    size_t at = 0;
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        keel_bundle_section_t section = (keel_bundle_section_t)i;
        if (!bundle->known[i]) continue;
        keel_buffer_format(out, "%s\n", keel_bundle_section_name(section));
        size_t before = at;
        for (; at < bundle->count && bundle->facts[at].section == section; ++at)
            put_row(bundle->facts[at].name, bundle->facts[at].value, out);
        if (at == before) keel_buffer_text(out, "  none\n");
    }
    if (bundle->left_out)
        keel_buffer_format(out, "%zu more facts were left out\n", bundle->left_out);
}

// ---- two bundles -------------------------------------------------------------------------------

static void put_side(const char *value, size_t longest, keel_buffer_t *out) {
    put_cut(!value ? "nothing" : *value ? value : "\"\"", longest, out);
}

static void put_change(const keel_bundle_change_t *change, bool whole, keel_buffer_t *out) {
    enum { LONGEST = 120 };
    bool is_named = change->section != KEEL_BUNDLE_PACKAGES &&
                    change->section != KEEL_BUNDLE_CLIENTS && change->section != KEEL_BUNDLE_FLAGS;
    keel_buffer_format(out, "  %s%s", is_named ? keel_bundle_section_name(change->section) : "",
                       is_named ? " " : "");
    put_cut(change->name, 0, out);
    keel_buffer_text(out, ": ");
    put_side(change->old_value, whole ? 0 : LONGEST, out);
    keel_buffer_text(out, " -> ");
    put_side(change->new_value, whole ? 0 : LONGEST, out);
    keel_buffer_byte(out, '\n');
}

void keel_bundle_changes_text(const keel_bundle_changes_t *changes, bool whole,
                              keel_buffer_t *out) {
    const char *before = "not fully compared, because one bundle lacks part of it: ";
    if (!changes->count) keel_buffer_text(out, "nothing differs\n");
    for (size_t i = 0; i < changes->count; ++i) {
        keel_bundle_weight_t weight = changes->list[i].weight;
        if (!i || changes->list[i - 1].weight != weight)
            keel_buffer_format(out, "%s:\n", headings[weight]);
        put_change(&changes->list[i], whole, out);
    }
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        if (!changes->untold[i]) continue;
        keel_buffer_format(out, "%s%s", before, keel_bundle_section_name((keel_bundle_section_t)i));
        before = ", ";
    }
    if (before[0] == ',') keel_buffer_byte(out, '\n');
}

void keel_bundle_changes_json(const keel_bundle_changes_t *changes, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "same", !changes->count);
    keel_json_array(&json, "changes");
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_bundle_change_t *change = &changes->list[i];
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "weight", words[change->weight]);
        keel_json_string(&json, "section", keel_bundle_section_name(change->section));
        keel_json_string(&json, "name", change->name);
        if (change->old_value) keel_json_string(&json, "old", change->old_value);
        if (change->new_value) keel_json_string(&json, "new", change->new_value);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_array(&json, "untold");
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        if (changes->untold[i])
            keel_json_string(&json, NULL, keel_bundle_section_name((keel_bundle_section_t)i));
    keel_json_end_array(&json);
    keel_json_end_object(&json);
}
