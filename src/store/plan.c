#include "store/plan.h"

#include <inttypes.h>

#include "store/layout.h"

static const char head[] = "keel plan 2\n";

enum {
    DIGITS = 2 * KEEL_DIGEST_SIZE,
    HEAD_SIZE = sizeof head - 1,
    NAME_DIGITS = 16,
    COUNT_DIGITS = 8,
    TIME_DIGITS = 16,
    COST_SIZE = NAME_DIGITS + 1 + COUNT_DIGITS + 1 + TIME_DIGITS + 1,
    LINE_SIZE = 3 * (DIGITS + 1) + COST_SIZE,
    FILE_LIMIT = HEAD_SIZE + KEEL_PLAN_LIMIT * LINE_SIZE,
};

static uint64_t micros(const keel_cost_t *cost) {
    return cost->seconds > 0 && cost->seconds < 1e9 ? (uint64_t)(cost->seconds * 1e6 + 0.5) : 0;
}

static bool is_same_program(const keel_planned_t *a, const keel_planned_t *b) {
    return keel_digest_equal(&a->program, &b->program) &&
           keel_digest_equal(&a->options, &b->options) &&
           keel_digest_equal(&a->assignment, &b->assignment);
}

bool keel_plan_add(keel_plan_t *plan, const keel_planned_t *planned) {
    for (size_t i = 0; i < plan->count; ++i)
        if (is_same_program(&plan->programs[i], planned)) return false;
    if (plan->count == KEEL_PLAN_LIMIT) return false;
    plan->programs[plan->count++] = *planned;
    return true;
}

bool keel_plan_equal(const keel_plan_t *a, const keel_plan_t *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; ++i) {
        const keel_planned_t *x = &a->programs[i], *y = &b->programs[i];
        if (!is_same_program(x, y) || x->cost.name != y->cost.name ||
            x->cost.operations != y->cost.operations || micros(&x->cost) != micros(&y->cost))
            return false;
    }
    return true;
}

uint64_t keel_plan_name(const char *name) {
    return keel_quick_hash(keel_str_bytes(keel_str(name)));
}

static uint64_t distance(uint64_t a, uint64_t b) {
    return a < b ? b - a : a - b;
}

double keel_plan_seconds(const keel_plan_t *plan, const char *name, uint64_t operations) {
    const keel_cost_t *best = NULL;
    uint64_t hash = keel_plan_name(name);
    for (size_t i = 0; i < plan->count; ++i) {
        const keel_cost_t *cost = &plan->programs[i].cost;
        if (cost->name != hash || cost->seconds <= 0) continue;
        if (!best ||
            distance(cost->operations, operations) <= distance(best->operations, operations))
            best = cost;
    }
    return best ? best->seconds : 0;
}

// ---- the file's bytes --------------------------------------------------------------------------

static bool parse_number(const uint8_t *text, size_t digits, char behind, uint64_t *out) {
    uint8_t bytes[8] = {0};
    *out = 0;
    if (text[digits] != (uint8_t)behind ||
        !keel_unhex((keel_str_t){(const char *)text, digits}, bytes, digits / 2))
        return false;
    for (size_t i = 0; i < digits / 2; ++i)
        *out = *out << 8 | bytes[i];
    return true;
}

static bool parse_cost(const uint8_t *text, keel_cost_t *out) {
    uint64_t operations, took;
    if (!parse_number(text, NAME_DIGITS, ' ', &out->name) ||
        !parse_number(text + NAME_DIGITS + 1, COUNT_DIGITS, ' ', &operations) ||
        !parse_number(text + NAME_DIGITS + COUNT_DIGITS + 2, TIME_DIGITS, '\n', &took))
        return false;
    out->operations = (uint32_t)operations;
    out->seconds = (double)took / 1e6;
    return true;
}

static bool parse_digest(const uint8_t *text, char behind, keel_digest_t *out) {
    return text[DIGITS] == (uint8_t)behind &&
           keel_digest_unhex((keel_str_t){(const char *)text, DIGITS}, out);
}

static bool parse_line(const uint8_t *line, keel_planned_t *out) {
    return parse_digest(line, ' ', &out->program) &&
           parse_digest(line + DIGITS + 1, ' ', &out->options) &&
           parse_digest(line + 2 * (DIGITS + 1), ' ', &out->assignment) &&
           parse_cost(line + 3 * (DIGITS + 1), &out->cost);
}

static bool parse_plan(keel_bytes_t bytes, keel_plan_t *plan) {
    if (bytes.size < HEAD_SIZE || bytes.size > FILE_LIMIT) return false;
    if (memcmp(bytes.data, head, HEAD_SIZE) || (bytes.size - HEAD_SIZE) % LINE_SIZE) return false;
    for (size_t at = HEAD_SIZE; at < bytes.size; at += LINE_SIZE) {
        keel_planned_t planned;
        if (!parse_line(bytes.data + at, &planned)) return false;
        keel_plan_add(plan, &planned);
    }
    return true;
}

keel_status_t keel_plan_parse(keel_bytes_t bytes, keel_plan_t *out) {
    out->count = 0;
    if (parse_plan(bytes, out)) return NULL;
    out->count = 0;
    return keel_status_make(KEEL_CORRUPT, "not a plan of programs, or a damaged one");
}

static void write_line(const keel_planned_t *planned, keel_buffer_t *out) {
    char program[KEEL_DIGEST_HEX], options[KEEL_DIGEST_HEX], assignment[KEEL_DIGEST_HEX];
    keel_digest_hex(&planned->program, program);
    keel_digest_hex(&planned->options, options);
    keel_digest_hex(&planned->assignment, assignment);
    keel_buffer_format(out, "%s %s %s %016" PRIx64 " %08" PRIx32 " %016" PRIx64 "\n", program,
                       options, assignment, planned->cost.name, planned->cost.operations,
                       micros(&planned->cost));
}

// ---- the file ----------------------------------------------------------------------------------

static keel_status_t path_of(const char *folder, const char *script, char **out) {
    return keel_path(out, "%s/plans/%s.plan", folder, script);
}

static keel_status_t read_at(const char *path, keel_plan_t *out) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_read_with_facts(path, FILE_LIMIT, &data, &size, &facts));
    keel_status_t status = keel_plan_parse(keel_bytes(data, size), out);
    keel_free(data);
    return status;
}

keel_status_t keel_plan_read(const char *folder, const char *script, keel_plan_t *out) {
    char *path;
    out->count = 0;
    KEEL_TRY(path_of(folder, script, &path));
    keel_status_t status = read_at(path, out);
    keel_free(path);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

keel_status_t keel_plan_write(const char *folder, const char *script, const keel_plan_t *plan) {
    keel_buffer_t text;
    char *path;
    KEEL_TRY(path_of(folder, script, &path));
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, head);
    for (size_t i = 0; i < plan->count; ++i)
        write_line(&plan->programs[i], &text);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_store_replace(path, keel_buffer_bytes(&text));
    keel_buffer_deinitialize(&text);
    keel_free(path);
    return status;
}

keel_status_t keel_plan_keep(const char *folder, const char *script, const keel_plan_t *plan) {
    char *path;
    KEEL_TRY(path_of(folder, script, &path));
    keel_status_t status = keel_file_touch(path);
    keel_free(path);
    bool is_gone = keel_status_code(status) == KEEL_NOT_FOUND;
    keel_status_ignore(status); // a folder that may not be changed still has the plan
    return is_gone ? keel_plan_write(folder, script, plan) : NULL;
}

// ---- removing ----------------------------------------------------------------------------------

keel_status_t keel_plan_remove(const char *folder, const char *script) {
    char *path;
    KEEL_TRY(path_of(folder, script, &path));
    keel_status_t status = keel_file_remove(path);
    keel_free(path);
    return status;
}

static bool is_plan(const char *name) {
    static const char ending[] = ".plan";
    size_t size = strlen(name);
    return size >= sizeof ending && strcmp(name + size - (sizeof ending - 1), ending) == 0;
}

keel_status_t keel_plans_remove(const char *folder, uint64_t age) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/plans", folder));
    keel_status_t status = keel_store_remove_aged(path, is_plan, age);
    keel_free(path);
    return status;
}
