// A text's findings: its functions are read until nothing more is learnt.
#include "lint/lint.h"

#include <stdlib.h> // qsort

#include "lint/ignore.h"
#include "lint/walk.h"

static const keel_lint_facts_t rules[] = {
#define FACTS(name, word, page_jax, page_torch, sentence, jax, torch)                              \
    {word, {page_jax, page_torch}, sentence, {jax, torch}},
    KEEL_LINT_RULES(FACTS)
#undef FACTS
};

const keel_lint_facts_t *keel_lint_facts(keel_lint_rule_t rule) {
    return &rules[rule];
}

keel_lint_rule_t keel_lint_by_name(keel_str_t name) {
    unsigned rule = 0;
    while (rule < KEEL_LINT_RULE_COUNT && !keel_str_is(name, rules[rule].name))
        ++rule;
    return (keel_lint_rule_t)rule;
}

bool keel_lint_imports_xla(keel_str_t text) {
    static const char *const modules[] = {"torch_xla", "torch_tpu"};
    keel_str_t line;
    while (keel_str_line(&text, &line)) {
        while (line.size && (*line.data == ' ' || *line.data == '\t')) {
            ++line.data;
            --line.size;
        }
        bool is_import =
            keel_str_starts(line, KEEL_STR("import ")) || keel_str_starts(line, KEEL_STR("from "));
        for (size_t i = 0; is_import && i < sizeof modules / sizeof *modules; ++i)
            if (keel_str_contains(line, modules[i])) return true;
    }
    return false;
}

// ---- reading -----------------------------------------------------------------------------------

// Each turn reads what the one before learnt of; what is passed through many functions is left.
static keel_status_t read_functions(source_t *source) {
    enum { TURNS = 6 };
    bool is_dirty = true;
    for (unsigned turn = 0; turn < TURNS && is_dirty; ++turn) {
        is_dirty = false;
        for (uint32_t i = 0; i < source->function_count; ++i) {
            if (!source->functions[i].is_dirty) continue;
            walk_function(source, i);
            is_dirty = true;
            if (source->status) {
                keel_status_t status = source->status;
                source->status = NULL;
                return status;
            }
        }
    }
    return NULL;
}

// ---- findings ----------------------------------------------------------------------------------

static int order_found(const void *a, const void *b) {
    const found_t *one = a, *other = b;
    if (one->line != other->line) return one->line < other->line ? -1 : 1;
    if (one->column != other->column) return one->column < other->column ? -1 : 1;
    if (one->node != other->node) return one->node < other->node ? -1 : 1;
    return (int)one->rule - (int)other->rule;
}

// The code on one line: blanks for what separates lines, and its beginning if it is long.
static keel_status_t take_code(const source_t *source, uint32_t node, keel_arena_t *arena,
                               const char **out) {
    enum { LONGEST = 72 };
    const keel_py_node_t *is = source_node(source, node);
    const keel_py_tree_t *tree = &source->tree;
    keel_buffer_t text;
    keel_str_t kept;
    size_t from = tree->lines[is->line - 1] + is->column,
           to = tree->lines[is->end_line - 1] + is->end_column;
    keel_buffer_initialize(&text, 0);
    bool is_blank = false;
    for (size_t i = from; i < to && i < tree->text.size && text.size < LONGEST; ++i) {
        char c = tree->text.data[i];
        bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\\';
        if (!is_space && is_blank && text.size) keel_buffer_byte(&text, ' ');
        if (!is_space) keel_buffer_byte(&text, (uint8_t)c);
        is_blank = is_space;
    }
    bool is_cut = text.size >= LONGEST;
    size_t last = text.size; // not in the middle of a character
    while (is_cut && last && (text.data[last - 1] & 0xc0) == 0x80)
        --last;
    if (is_cut && last && !keel_utf8_length(keel_bytes_str(keel_buffer_bytes(&text)), last - 1))
        text.size = last - 1;
    if (is_cut) keel_buffer_text(&text, "...");
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept);
    keel_buffer_deinitialize(&text);
    KEEL_TRY(status);
    *out = kept.data;
    return NULL;
}

static keel_status_t take_function(const source_t *source, uint32_t function, keel_arena_t *arena,
                                   const char **out) {
    keel_str_t kept, name = KEEL_STR("");
    for (uint32_t at = function; at && at != KEEL_NONE && !name.size;
         at = source->functions[at].parent)
        name = keel_py_name(&source->tree, source->functions[at].node);
    KEEL_TRY(keel_arena_str(arena, name, &kept));
    *out = kept.data;
    return NULL;
}

static keel_status_t take_findings(source_t *source, keel_lint_report_t *out) {
    void *memory;
    if (source->found_count)
        qsort(source->found, source->found_count, sizeof *source->found, order_found);
    KEEL_TRY(
        keel_arena_array(&out->texts, source->found_count + 1, sizeof *out->findings, &memory));
    out->findings = memory;
    for (size_t i = 0; i < source->found_count; ++i) {
        const found_t *found = &source->found[i];
        bool is_again = i && found[-1].node == found->node && found[-1].rule == found->rule;
        if (is_again) continue;
        const keel_py_node_t *is = source_node(source, found->node);
        keel_lint_finding_t *finding = &out->findings[out->count];
        *finding = (keel_lint_finding_t){.rule = (keel_lint_rule_t)found->rule,
                                         .client = (keel_lint_client_t)found->client,
                                         .line = is->line,
                                         .column = is->column + 1,
                                         .end_line = is->end_line,
                                         .end_column = is->end_column + 1};
        if (keel_lint_is_ignored(&source->tree, is->line, finding->rule)) {
            ++out->ignored;
            continue;
        }
        KEEL_TRY(take_code(source, found->node, &out->texts, &finding->code));
        KEEL_TRY(take_function(source, found->function, &out->texts, &finding->function));
        ++out->count;
    }
    return NULL;
}

keel_status_t keel_lint_text(keel_str_t text, const keel_lint_options_t *options,
                             keel_lint_report_t *out) {
    source_t source;
    *out = (keel_lint_report_t){0};
    keel_arena_initialize(&out->texts, 0);
    keel_status_t status = source_read(text, options, &source);
    if (!status) status = read_functions(&source);
    if (!status) status = take_findings(&source, out);
    if (!status && source.tree.error_line) {
        out->error_line = source.tree.error_line;
        out->error_column = source.tree.error_column + 1;
    }
    source_deinitialize(&source);
    if (status) keel_lint_deinitialize(out);
    return status;
}

void keel_lint_deinitialize(keel_lint_report_t *report) {
    keel_arena_deinitialize(&report->texts);
    *report = (keel_lint_report_t){0};
}
