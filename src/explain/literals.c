#include "explain/literals.h"

#include <math.h>
#include <string.h>

#include "pysource/pysource.h"

keel_status_t keel_literals_scan(keel_literals_t *literals, uint32_t file, keel_str_t text) {
    keel_py_tree_t tree;
    keel_status_t status = keel_py_read(text, &tree);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    bool is_read = !status;
    keel_status_ignore(status);
    for (uint32_t i = 0; is_read && i < tree.token_count; ++i) {
        keel_py_number_t number;
        if (tree.tokens[i].kind != KEEL_PY_T_NUMBER ||
            !keel_py_number(keel_py_token_text(&tree, i), &number) || number.is_imaginary ||
            number.value == 0 || !isfinite(number.value) || literals->count == KEEL_LITERALS_KEPT)
            continue;
        literals->data[literals->count++] =
            (keel_literal_t){number.value, tree.tokens[i].line, file};
    }
    if (is_read) keel_py_deinitialize(&tree);
    return NULL;
}

static uint32_t index_of(const keel_literals_t *literals, const char *file) {
    uint32_t at = 0;
    while (at < literals->file_count && strcmp(literals->files[at], file) != 0)
        ++at;
    return at;
}

keel_status_t keel_literals_read(keel_literals_t *literals, const char *file, keel_arena_t *arena) {
    if (!literals->sources || !file || !*file || literals->file_count == KEEL_LITERAL_FILES ||
        index_of(literals, file) < literals->file_count)
        return NULL;
    uint32_t number = literals->file_count++;
    literals->files[number] = file;
    keel_str_t text;
    keel_status_t status = literals->sources->read(literals->sources->context, file, &text);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    bool is_known = !status;
    keel_status_ignore(status);
    if (!is_known) return NULL;
    if (!literals->data)
        KEEL_TRY(keel_arena_array(arena, KEEL_LITERALS_KEPT, sizeof *literals->data,
                                  (void **)&literals->data));
    return keel_literals_scan(literals, number, text);
}

bool keel_literals_have(const keel_literals_t *literals, double value) {
    for (uint32_t i = 0; i < literals->count; ++i)
        if (literals->data[i].value == fabs(value)) return true;
    return false;
}

bool keel_literals_have_at(const keel_literals_t *literals, double value, const char *file,
                           uint32_t line) {
    uint32_t number = file ? index_of(literals, file) : literals->file_count;
    for (uint32_t i = 0; i < literals->count; ++i) {
        const keel_literal_t *literal = &literals->data[i];
        if (literal->file == number && literal->line == line && literal->value == fabs(value))
            return true;
    }
    return false;
}
