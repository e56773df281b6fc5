// Where the user's source copies over a tensor what an earlier line computed: kept.copy_(new),
// kept[:] = new. PyTorch/XLA records no operation for it.
#include "explain/stored.h"

static keel_str_t without_indent(keel_str_t line) {
    while (line.size && (*line.data == ' ' || *line.data == '\t'))
        ++line.data, --line.size;
    return line;
}

static keel_str_t without_comment(keel_str_t line) {
    const char *mark = line.size ? memchr(line.data, '#', line.size) : NULL;
    if (mark) line.size = (size_t)(mark - line.data);
    return line;
}

// "new" of "new = f(x)". Empty for anything else.
static keel_str_t assigned_name(keel_str_t line) {
    line = without_indent(line);
    keel_str_t name = {line.data, 0};
    while (name.size < line.size && keel_is_of_name(line.data[name.size]))
        ++name.size;
    keel_str_t rest = without_indent((keel_str_t){line.data + name.size, line.size - name.size});
    bool is_assigned = rest.size > 1 && rest.data[0] == '=' && rest.data[1] != '=';
    return is_assigned ? name : (keel_str_t){line.data, 0};
}

// The name stands whole behind the part: ".copy_(new)" and ".copy_(new.detach())".
static bool takes_name(keel_str_t line, keel_str_t part, keel_str_t name) {
    for (; line.size >= part.size + name.size; ++line.data, --line.size) {
        if (!keel_str_starts(line, part)) continue;
        keel_str_t behind = {line.data + part.size, line.size - part.size};
        if (keel_str_starts(behind, name) &&
            (behind.size == name.size || !keel_is_of_name(behind.data[name.size])))
            return true;
    }
    return false;
}

static bool stores(keel_str_t line, keel_str_t name) {
    line = without_comment(line);
    return takes_name(line, KEEL_STR(".copy_("), name) || takes_name(line, KEEL_STR("] = "), name);
}

static bool begins_function(keel_str_t line) {
    line = without_indent(line);
    return keel_str_starts(line, KEEL_STR("def ")) || keel_str_starts(line, KEEL_STR("class "));
}

uint32_t keel_stored_at(keel_str_t text, uint32_t computed) {
    enum { FAR = 64 };
    keel_str_t line, name = {NULL, 0};
    uint32_t number = 0, found = 0;
    while (keel_str_line(&text, &line)) {
        if (++number < computed) continue;
        if (number == computed) name = assigned_name(line);
        if (!name.size || number > computed + FAR) break;
        if (number == computed) continue;
        if (begins_function(line)) break;
        if (!stores(line, name)) continue;
        if (found) return 0; // either of them
        found = number;
    }
    return found;
}
