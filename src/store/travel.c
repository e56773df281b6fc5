#include "store/travel.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/layout.h"

static const char head[] = "keel travel 1\n";

enum { DIGITS = 2 * KEEL_DIGEST_SIZE, HASH_DIGITS = 16 };

void keel_travel_free(keel_travel_t *travel) {
    keel_free(travel->sections);
    *travel = (keel_travel_t){.count = 0};
}

// ---- reading -----------------------------------------------------------------------------------

// The next line without its newline. False at the end.
static bool next_line(keel_str_t *rest, keel_str_t *out) {
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    if (!end) return false;
    *out = (keel_str_t){rest->data, (size_t)(end - rest->data)};
    *rest = (keel_str_t){end + 1, rest->size - out->size - 1};
    return true;
}

static bool take_word(keel_str_t *line, const char *word) {
    size_t size = strlen(word);
    if (line->size < size || memcmp(line->data, word, size) != 0) return false;
    *line = (keel_str_t){line->data + size, line->size - size};
    return true;
}

static bool take_digest(keel_str_t *line, keel_digest_t *out) {
    if (line->size < DIGITS || !keel_digest_unhex((keel_str_t){line->data, DIGITS}, out))
        return false;
    *line = (keel_str_t){line->data + DIGITS, line->size - DIGITS};
    return true;
}

static bool take_number(keel_str_t *line, size_t digits, uint64_t *out) {
    uint8_t bytes[8] = {0};
    if (line->size < digits || !keel_unhex((keel_str_t){line->data, digits}, bytes, digits / 2))
        return false;
    *out = 0;
    for (size_t i = 0; i < digits / 2; ++i)
        *out = *out << 8 | bytes[i];
    *line = (keel_str_t){line->data + digits, line->size - digits};
    return true;
}

static void copy(keel_str_t from, char *to, size_t size) {
    snprintf(to, size, "%.*s", (int)(from.size < size ? from.size : size - 1), from.data);
}

static bool take_component(keel_str_t line, keel_travel_section_t *section) {
    if (section->component_count == KEEL_TRAVEL_COMPONENTS) return false;
    keel_travel_component_t *component = &section->components[section->component_count];
    if (!take_digest(&line, &component->digest) || !take_word(&line, " ")) return false;
    const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
    if (!tab) return false;
    size_t size = (size_t)(tab - line.data);
    copy((keel_str_t){line.data, size}, component->name, sizeof component->name);
    copy((keel_str_t){tab + 1, line.size - size - 1}, component->value, sizeof component->value);
    ++section->component_count;
    return true;
}

static bool take_program(keel_str_t line, keel_travel_section_t *section) {
    keel_planned_t planned;
    keel_digest_t key;
    uint64_t operations, took;
    bool is_good = take_digest(&line, &planned.program) && take_word(&line, " ") &&
                   take_digest(&line, &planned.options) && take_word(&line, " ") &&
                   take_digest(&line, &planned.assignment) && take_word(&line, " ") &&
                   take_number(&line, 16, &planned.cost.name) && take_word(&line, " ") &&
                   take_number(&line, 8, &operations) && take_word(&line, " ") &&
                   take_number(&line, 16, &took) && take_word(&line, " ") &&
                   take_digest(&line, &key) && !line.size;
    if (!is_good) return false;
    planned.cost.operations = (uint32_t)operations;
    planned.cost.seconds = (double)took / 1e6;
    size_t at = section->plan.count;
    if (keel_plan_add(&section->plan, &planned)) section->keys[at] = key;
    return true;
}

// *out_is_whole: its end was there.
static bool take_section(keel_str_t *rest, keel_travel_section_t *out, bool *out_is_whole) {
    keel_str_t line;
    *out_is_whole = false;
    while (!*out_is_whole && next_line(rest, &line)) {
        if (take_word(&line, "script "))
            copy(line, out->script, sizeof out->script);
        else if (take_word(&line, "time ") && !take_number(&line, HASH_DIGITS, &out->time))
            return false;
        else if (take_word(&line, "component ") && !take_component(line, out))
            return false;
        else if (take_word(&line, "program ") && !take_program(line, out))
            return false;
        else if (take_word(&line, "end"))
            *out_is_whole = true;
    }
    return true;
}

static bool parse(keel_str_t rest, keel_travel_t *out) {
    bool is_whole = true;
    if (!take_word(&rest, head)) return false;
    while (rest.size && out->count < KEEL_TRAVEL_SECTIONS) {
        if (!take_section(&rest, &out->sections[out->count], &is_whole) || !is_whole) return false;
        ++out->count;
    }
    return true;
}

static keel_status_t make_room(keel_travel_t *out) {
    void *memory;
    *out = (keel_travel_t){.count = 0};
    KEEL_TRY(keel_calloc(KEEL_TRAVEL_SECTIONS, sizeof *out->sections, &memory));
    out->sections = memory;
    return NULL;
}

keel_status_t keel_travel_parse(keel_bytes_t bytes, keel_travel_t *out) {
    KEEL_TRY(make_room(out));
    if (bytes.size <= KEEL_TRAVEL_LIMIT && parse(keel_bytes_str(bytes), out)) return NULL;
    keel_travel_free(out);
    return keel_status_make(KEEL_CORRUPT, "not a list of a script's programs, or a damaged one");
}

// ---- writing -----------------------------------------------------------------------------------

static void write_digest(keel_buffer_t *out, const char *before, const keel_digest_t *digest) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    keel_buffer_format(out, "%s%s", before, hex);
}

// On one line.
static void write_text(keel_buffer_t *out, const char *text) {
    for (; *text; ++text)
        keel_buffer_byte(out, (unsigned char)*text < 0x20 ? ' ' : (uint8_t)*text);
}

static void write_program(const keel_travel_section_t *section, size_t at, keel_buffer_t *out) {
    const keel_planned_t *planned = &section->plan.programs[at];
    double seconds = planned->cost.seconds;
    uint64_t micros = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e6 + 0.5) : 0;
    write_digest(out, "program ", &planned->program);
    write_digest(out, " ", &planned->options);
    write_digest(out, " ", &planned->assignment);
    keel_buffer_format(out, " %016" PRIx64 " %08" PRIx32 " %016" PRIx64, planned->cost.name,
                       planned->cost.operations, micros);
    write_digest(out, " ", &section->keys[at]);
    keel_buffer_byte(out, '\n');
}

void keel_travel_write(const keel_travel_t *travel, keel_buffer_t *out) {
    keel_buffer_text(out, head);
    for (size_t i = 0; i < travel->count; ++i) {
        const keel_travel_section_t *section = &travel->sections[i];
        keel_buffer_text(out, "script ");
        write_text(out, section->script);
        keel_buffer_format(out, "\ntime %016" PRIx64 "\n", section->time);
        for (size_t j = 0; j < section->component_count; ++j) {
            const keel_travel_component_t *component = &section->components[j];
            write_digest(out, "component ", &component->digest);
            keel_buffer_byte(out, ' ');
            write_text(out, component->name);
            keel_buffer_byte(out, '\t');
            write_text(out, component->value);
            keel_buffer_byte(out, '\n');
        }
        for (size_t j = 0; j < section->plan.count; ++j)
            write_program(section, j, out);
        keel_buffer_text(out, "end\n");
    }
}

// ---- sections ----------------------------------------------------------------------------------

// How many components agree; *out_first is the first that does not.
static size_t agree(const keel_travel_section_t *a, const keel_travel_section_t *b,
                    size_t *out_first) {
    size_t count = 0;
    *out_first = SIZE_MAX;
    for (size_t i = 0; i < a->component_count && i < b->component_count; ++i) {
        bool is_same = strcmp(a->components[i].name, b->components[i].name) == 0 &&
                       keel_digest_equal(&a->components[i].digest, &b->components[i].digest);
        count += is_same;
        if (!is_same && *out_first == SIZE_MAX) *out_first = i;
    }
    return count;
}

static bool is_same_client(const keel_travel_section_t *a, const keel_travel_section_t *b) {
    size_t first;
    return a->component_count == b->component_count && agree(a, b, &first) == a->component_count;
}

keel_status_t keel_travel_merge(keel_travel_t *travel, const keel_travel_section_t *section) {
    if (!travel->sections) KEEL_TRY(make_room(travel));
    size_t at = 0;
    while (at < travel->count && at < KEEL_TRAVEL_SECTIONS - 1 &&
           !(strcmp(travel->sections[at].script, section->script) == 0 &&
             is_same_client(&travel->sections[at], section)))
        ++at;
    if (at == travel->count) ++travel->count;
    memmove(&travel->sections[1], &travel->sections[0], at * sizeof *travel->sections);
    travel->sections[0] = *section;
    return NULL;
}

const keel_travel_section_t *keel_travel_find(const keel_travel_t *travel, const char *script,
                                              const keel_travel_section_t *client,
                                              const keel_travel_component_t **out_other,
                                              const keel_travel_component_t **out_own) {
    const keel_travel_section_t *found = NULL;
    size_t most = 0;
    *out_other = *out_own = NULL;
    for (size_t i = 0; i < travel->count; ++i) {
        const keel_travel_section_t *section = &travel->sections[i];
        if (is_same_client(section, client)) {
            if (strcmp(section->script, script) == 0) return section;
            if (!found) found = section;
            continue;
        }
        size_t first, count = agree(section, client, &first) + 1;
        if (count <= most || first == SIZE_MAX) continue;
        most = count;
        *out_other = &section->components[first];
        *out_own = &client->components[first];
    }
    return found;
}

const keel_travel_section_t *keel_travel_newest(const keel_travel_t *travel, const char *script) {
    for (size_t i = 0; i < travel->count; ++i)
        if (strcmp(travel->sections[i].script, script) == 0) return &travel->sections[i];
    return travel->count ? travel->sections : NULL;
}

keel_str_t keel_travel_label(const char *script) {
    keel_str_t name = keel_str(script);
    bool has_hash = name.size > HASH_DIGITS + 1 && name.data[name.size - HASH_DIGITS - 1] == '-';
    if (has_hash) name.size -= HASH_DIGITS + 1;
    return name;
}

// ---- on this machine ---------------------------------------------------------------------------

static keel_status_t path_of(const char *folder, const char *script, char **out) {
    return keel_path(out, "%s/plans/%s.travel.plan", folder, script);
}

keel_status_t keel_travel_read(const char *folder, const char *script, keel_travel_t *out) {
    char *path;
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    *out = (keel_travel_t){.count = 0};
    KEEL_TRY(path_of(folder, script, &path));
    keel_status_t status = keel_file_read_with_facts(path, KEEL_TRAVEL_LIMIT, &data, &size, &facts);
    keel_free(path);
    KEEL_TRY(status);
    status = keel_travel_parse(keel_bytes(data, size), out);
    keel_free(data);
    return status;
}

keel_status_t keel_travel_keep(const char *folder, const keel_travel_section_t *section) {
    const keel_travel_t travel = {1, (keel_travel_section_t *)(uintptr_t)section};
    keel_buffer_t text;
    char *path;
    KEEL_TRY(path_of(folder, section->script, &path));
    keel_buffer_initialize(&text, 0);
    keel_travel_write(&travel, &text);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_store_replace(path, keel_buffer_bytes(&text));
    keel_buffer_deinitialize(&text);
    keel_free(path);
    return status;
}
