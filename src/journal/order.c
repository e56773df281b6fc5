// The order of executions, as text: "0 1x16 (0 2)x50" is program 0, sixteen times program 1, and 50
// times programs 0 and 2 in turn.
#include "journal/line.h"

enum {
    PART = 1024,   // executions in one event, so that a line stays short
    LONGEST = 32,  // programs of a block that is looked for
    UNKNOWN = PART // the index of programs that no digest names
};

typedef struct part_t {
    const keel_digest_t *programs[PART]; // different ones, in the order in which they came
    size_t program_count;
    uint16_t order[PART];
    size_t count;
} part_t;

static keel_status_t index_of(part_t *part, keel_map_t *known, const keel_digest_t *program,
                              uint16_t *out) {
    *out = UNKNOWN;
    if (!program) return NULL;
    keel_bytes_t name = keel_bytes(program->bytes, KEEL_DIGEST_SIZE);
    const uint64_t *found = keel_map_find(known, name);
    if (found) {
        *out = (uint16_t)*found;
        return NULL;
    }
    *out = (uint16_t)part->program_count;
    part->programs[part->program_count++] = program;
    return keel_map_put(known, name, *out);
}

static keel_status_t read_part(part_t *part, const keel_digest_t *const *executed, size_t count) {
    keel_map_t known;
    keel_map_initialize(&known);
    keel_status_t status = NULL;
    for (size_t i = 0; i < count && !status; ++i)
        status = index_of(part, &known, executed[i], &part->order[i]);
    keel_map_deinitialize(&known);
    part->count = count;
    return status;
}

// How often the `size` programs from `at` on follow each other.
static size_t repeats(const part_t *part, size_t at, size_t size) {
    const uint16_t *block = part->order + at;
    size_t times = 1;
    while (at + (times + 1) * size <= part->count &&
           memcmp(block, block + times * size, size * sizeof *block) == 0)
        ++times;
    return times;
}

// The block from `at` on that says most.
static size_t find_block(const part_t *part, size_t at, size_t *out_times) {
    size_t best = 1, most = 0;
    *out_times = 1;
    for (size_t size = 1; size <= LONGEST && at + 2 * size <= part->count; ++size) {
        size_t times = repeats(part, at, size), saved = (times - 1) * size;
        if (saved <= most) continue;
        most = saved;
        best = size;
        *out_times = times;
    }
    return best;
}

static void write_block(const part_t *part, size_t at, size_t size, size_t times,
                        keel_buffer_t *out) {
    keel_buffer_text(out, at ? " " : "");
    keel_buffer_text(out, size > 1 ? "(" : "");
    for (size_t i = 0; i < size; ++i) {
        keel_buffer_text(out, i ? " " : "");
        if (part->order[at + i] == UNKNOWN)
            keel_buffer_byte(out, '?');
        else
            keel_buffer_format(out, "%u", part->order[at + i]);
    }
    keel_buffer_text(out, size > 1 ? ")" : "");
    if (times > 1) keel_buffer_format(out, "x%zu", times);
}

static void write_part(keel_journal_t *journal, const part_t *part, uint64_t from) {
    keel_line_t line;
    keel_buffer_t order;
    if (!keel_line_begin(journal, &line, "order")) return;
    keel_buffer_initialize(&order, 0);
    for (size_t at = 0, times; at < part->count;) {
        size_t size = find_block(part, at, &times);
        write_block(part, at, size, times, &order);
        at += size * times;
    }
    keel_json_unsigned(&line.json, "from", from);
    keel_json_array(&line.json, "programs");
    for (size_t i = 0; i < part->program_count; ++i)
        keel_json_digest(&line.json, NULL, part->programs[i]);
    keel_json_end_array(&line.json);
    keel_json_str(&line.json, "order", keel_bytes_str(keel_buffer_bytes(&order)));
    keel_status_ignore(keel_buffer_status(&order));
    keel_buffer_deinitialize(&order);
    keel_line_finish(journal, &line);
}

void keel_journal_order(keel_journal_t *journal, uint64_t from,
                        const keel_digest_t *const *executed, size_t count) {
    for (size_t at = 0; journal && at < count; at += PART) {
        part_t part = {.program_count = 0};
        size_t size = count - at < PART ? count - at : PART;
        keel_status_t status = read_part(&part, executed + at, size);
        if (!status) write_part(journal, &part, from + at);
        keel_status_ignore(status); // no memory: this part is missing
    }
}
