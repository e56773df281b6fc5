#include <string.h>

#include "metrics/metrics.h"

// "231.56G", "31.24 GiB", "17179869184": XLA's units are powers of 1024. Moves *text past the
// number; 0 if there is none.
static uint64_t read_size(const char **text) {
    static const char units[] = "KMGTPE";
    enum { DIGITS = 20 };
    const char *at = *text;
    double value = 0, place = 0;
    for (int digits = 0; digits < DIGITS; ++at, ++digits) {
        if (*at == '.' && place == 0) {
            place = 1;
            continue;
        }
        if (*at < '0' || *at > '9') break;
        value = value * 10 + (*at - '0');
        place *= 10;
    }
    if (place > 1) value /= place;
    const char *unit = at + (*at == ' ');
    const char *found = *unit ? strchr(units, *unit) : NULL;
    for (const char *power = units; found && power <= found; ++power)
        value *= 1024;
    *text = found ? unit + 1 : at;
    return value < 1e19 ? (uint64_t)value : 0;
}

// The size after `word`, searching from `text`.
static uint64_t size_behind(const char *text, const char *word, const char **out_end) {
    const char *found = strstr(text, word);
    *out_end = text;
    if (!found) return 0;
    found += strlen(word);
    uint64_t size = read_size(&found);
    *out_end = found;
    return size;
}

// The last parenthesis before `end` that begins with a size.
static uint64_t size_in_front(const char *text, const char *end) {
    uint64_t size = 0;
    for (const char *open = text; (open = strchr(open, '(')) && open < end;) {
        ++open;
        const char *at = open;
        uint64_t found = read_size(&at);
        if (found) size = found;
    }
    return size;
}

static void read_sizes(const char *message, uint64_t *out_needed, uint64_t *out_available) {
    const char *end;
    const char *exceeds = strstr(message, " exceeds available ");
    if (exceeds) { // "(231.56G) exceeds available HBM (31.24G)"
        *out_needed = size_in_front(message, exceeds);
        *out_available = size_behind(exceeds, "(", &end);
        return;
    }
    *out_needed = size_behind(message, "Used ", &end); // "Used 27.98G of 15.48G hbm."
    if (*out_needed) {
        *out_available = size_behind(end, "of ", &end);
        return;
    }
    *out_needed = size_behind(message, "to allocate ", &end); // "trying to allocate 16.0GiB"
}

bool keel_metrics_is_out_of_memory(const char *code, const char *message, uint64_t *out_needed,
                                   uint64_t *out_available) {
    static const char *const signs[] = {"CompileTimeHbmOom", "Ran out of memory", "Out of memory",
                                        "out of memory"};
    *out_needed = *out_available = 0;
    bool exhausted =
        strcmp(code, "RESOURCE_EXHAUSTED") == 0 || strstr(message, "RESOURCE_EXHAUSTED");
    bool says_so = false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i)
        says_so = says_so || strstr(message, signs[i]);
    if (!exhausted && !says_so) return false;
    read_sizes(message, out_needed, out_available);
    return true;
}
