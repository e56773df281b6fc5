// Recompiles that follow from host reads, in PyTorch/XLA. A number that was read, or computed on
// the host from one, becomes a constant of the next program. And if nothing ends a step, each read
// compiles everything that was recorded since the first. Then the read is the cause, and the
// differences between the programs are folded under it.
//
// A number comes from a read if it is on the read's own line, or on a line that uses a name which
// that line or a later one assigned.
#include <stdlib.h>

#include "why/internal.h"
#include "why/source.h"

enum { LINES_FOLLOWED = 64, NAMES = 16 };

// Names that hold what a line read, or what was computed from it. Their text belongs to the source.
typedef struct names_t {
    keel_str_t list[NAMES];
    size_t count;
} names_t;

// ---- names -------------------------------------------------------------------------------------

static bool is_of_name(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c & 0x80);
}

// The next word of *text, which then begins after it; empty at the end.
static keel_str_t next_word(keel_str_t *text) {
    while (text->size && !is_of_name(*text->data))
        ++text->data, --text->size;
    keel_str_t word = {text->data, 0};
    while (text->size && is_of_name(*text->data))
        ++text->data, --text->size, ++word.size;
    return word;
}

static bool uses(keel_str_t text, const names_t *names) {
    for (keel_str_t word = next_word(&text); word.size; word = next_word(&text))
        for (size_t i = 0; i < names->count; ++i)
            if (keel_str_equal(word, names->list[i])) return true;
    return false;
}

// The "=" of an assignment; the text's size if it is none.
static size_t assignment_in(keel_str_t text) {
    int depth = 0;
    for (size_t i = 0; i < text.size; ++i) {
        char c = text.data[i], before = i ? text.data[i - 1] : ' ',
             behind = i + 1 < text.size ? text.data[i + 1] : ' ';
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c == '#' || c == '"' || c == '\'') return text.size;
        if (c == '=' && !depth && behind != '=' && !strchr("=<>!:", before)) return i;
    }
    return text.size;
}

// Skips the indices behind a name, which are read and not assigned: "[i]" of "rows[i] = ...".
static void skip_indices(keel_str_t *text) {
    for (int depth = 0; text->size && (depth || *text->data == '[');) {
        depth += (*text->data == '[') - (*text->data == ']');
        ++text->data, --text->size;
    }
}

// Of "self.at, end: int = ..." the names "at" and "end"; of "for i in ..." the name "i".
static void add_assigned(keel_str_t text, names_t *names) {
    size_t end = assignment_in(text);
    keel_str_t left = {text.data, end < text.size ? end : 0}, rest = text;
    if (!left.size && keel_str_is(next_word(&rest), "for")) left = rest;
    for (;;) {
        keel_str_t word = next_word(&left);
        if (!word.size || keel_str_is(word, "in") || names->count == NAMES) return;
        bool is_owner = left.size && *left.data == '.';
        if (!is_owner) names->list[names->count++] = word;
        skip_indices(&left);
        // "end: int": a type up to the next comma.
        while (!is_owner && left.size && *left.data == ':')
            while (left.size && *left.data != ',')
                ++left.data, --left.size;
    }
}

// What a line works on: the text after the "=" of an assignment, or all of it.
static keel_str_t worked_on(keel_str_t text) {
    size_t end = assignment_in(text);
    bool is_augmented = end && end < text.size && strchr("+-*/%&|^@", text.data[end - 1]);
    if (end == text.size || is_augmented) return text;
    return (keel_str_t){text.data + end, text.size - end};
}

// True if the line `used` works on what `read` read.
static bool follows_by_names(const keel_source_t *source, uint32_t read, uint32_t used) {
    names_t names = {.count = 0};
    add_assigned(keel_source_line(source, read), &names);
    if (!names.count) return false;
    for (uint32_t line = read + 1; line < used && line <= read + LINES_FOLLOWED; ++line) {
        keel_str_t text = keel_source_line(source, line);
        if (uses(worked_on(text), &names)) add_assigned(text, &names);
    }
    return uses(worked_on(keel_source_line(source, used)), &names);
}

// ---- reads and what follows --------------------------------------------------------------------

static bool is_at(const char *file, uint32_t line, const keel_run_place_t *place) {
    return line && line == place->line && strcmp(file, place->file) == 0;
}

// "Trainer.step" and "step": the interpreter and PyTorch/XLA name a function differently.
static bool is_in(const char *function, const char *other) {
    const char *a = strrchr(function, '.'), *b = strrchr(other, '.');
    return strcmp(a ? a + 1 : function, b ? b + 1 : other) == 0;
}

// A number on the line of a read was read there, unless the read itself asked for the program.
static bool comes_from(const keel_why_t *why, const keel_why_entry_t *entry,
                       const keel_run_difference_t *root, const keel_reads_line_t *read,
                       keel_source_t *source) {
    const keel_run_place_t *place = &root->place;
    if (is_at(read->file, read->line, place) || is_at(read->call_file, read->call_line, place))
        return !is_at(read->file, read->line, &entry->asked->site);
    bool by_caller = strcmp(read->call_file, place->file) == 0;
    if (!by_caller && strcmp(read->file, place->file) != 0) return false;
    if (!keel_source_open(source, place->file, &why->run.sources)) return false;
    bool is_there = strcmp(read->file, place->file) == 0 && is_in(read->function, place->function);
    if (is_there && follows_by_names(source, read->line, place->line)) return true;
    return by_caller && follows_by_names(source, read->call_line, place->line);
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

static const keel_reads_line_t *read_of(const keel_why_t *why, const keel_why_entry_t *entry,
                                        const keel_run_difference_t *root, keel_source_t *source) {
    bool is_baked = root->kind == KEEL_CAUSE_CONSTANT || root->kind == KEEL_CAUSE_SIZE;
    if (!is_baked || !is_number(root->new_value) || !root->place.line) return NULL;
    for (size_t i = 0; i < why->run.reads.count; ++i)
        if (why->run.reads.lines[i].moved.count &&
            comes_from(why, entry, root, &why->run.reads.lines[i], source))
            return &why->run.reads.lines[i];
    return NULL;
}

// The line that asked for the program, if nothing ends a step.
static const keel_reads_line_t *endless_read(const keel_why_t *why, const keel_why_entry_t *entry) {
    for (size_t i = 0; why->run.reads.endless && i < why->run.reads.count; ++i) {
        const keel_reads_line_t *line = &why->run.reads.lines[i];
        if (line->cuts + line->others && is_at(line->file, line->line, &entry->asked->site))
            return line;
    }
    return NULL;
}

// ---- the entries -------------------------------------------------------------------------------

// If the line that reads has no caller, shows who asked for the program.
static keel_run_place_t place_of_reading_line(const keel_reads_line_t *line,
                                              const keel_run_place_t *folded) {
    keel_run_place_t place = {.file = line->file,
                              .shown = line->shown,
                              .function = line->function,
                              .line = line->line,
                              .call_file = line->call_file,
                              .call_shown = line->call_shown,
                              .call_line = line->call_line,
                              .library_file = line->library_file,
                              .library_shown = line->library_shown,
                              .library_line = line->library_line};
    if (*place.call_file) return place;
    place.call_file = folded->call_file;
    place.call_shown = folded->call_shown;
    place.call_line = folded->call_line;
    return place;
}

static keel_run_difference_t cause_of(const keel_reads_line_t *read, keel_note_t note,
                                      const keel_run_place_t *folded) {
    return (keel_run_difference_t){.kind = KEEL_CAUSE_HOST_READ,
                                   .subject = "",
                                   .old_value = "",
                                   .new_value = "",
                                   .note = keel_note_text(note),
                                   .place = place_of_reading_line(read, folded),
                                   .old_op = KEEL_NONE,
                                   .new_op = KEEL_NONE,
                                   .follows = KEEL_NONE};
}

// A new list of causes; place[i] is the one that cause i became, or is folded under.
typedef struct causes_t {
    keel_run_difference_t *roots;
    size_t root_count;
    uint32_t *place;
    bool *is_folded;
} causes_t;

static keel_status_t make_causes(keel_why_t *why, size_t count, causes_t *out) {
    void *memory;
    *out = (causes_t){0};
    KEEL_TRY(keel_arena_array(&why->texts, count, sizeof *out->roots, &memory));
    out->roots = memory;
    KEEL_TRY(keel_arena_array(&why->texts, count, sizeof *out->place, &memory));
    out->place = memory;
    KEEL_TRY(keel_arena_array(&why->texts, count, sizeof *out->is_folded, &memory));
    out->is_folded = memory;
    memset(out->is_folded, 0, count * sizeof *out->is_folded);
    return NULL;
}

// The cause for this read, added if there is none yet.
static uint32_t cause_at(causes_t *causes, const keel_reads_line_t *read, keel_note_t note,
                         const keel_run_place_t *folded) {
    for (uint32_t i = 0; i < causes->root_count; ++i)
        if (causes->roots[i].kind == KEEL_CAUSE_HOST_READ &&
            is_at(read->file, read->line, &causes->roots[i].place))
            return i;
    causes->roots[causes->root_count] = cause_of(read, note, folded);
    return (uint32_t)causes->root_count++;
}

static void fold_root(causes_t *causes, const keel_why_entry_t *entry, size_t root,
                      uint32_t under) {
    causes->place[root] = under;
    causes->is_folded[root] = true;
    causes->roots[under].folds += 1 + entry->roots[root].folds;
}

static void keep_root(causes_t *causes, const keel_why_entry_t *entry, size_t root) {
    causes->place[root] = (uint32_t)causes->root_count;
    causes->roots[causes->root_count++] = entry->roots[root];
}

// If only one is folded, the read shows its values: "slice start 3 -> 4".
static void lend_values(causes_t *causes, const keel_why_entry_t *entry) {
    for (size_t i = 0; i < entry->root_count; ++i) {
        keel_run_difference_t *cause = &causes->roots[causes->place[i]];
        if (!causes->is_folded[i] || *cause->subject ||
            !keel_note_leads(cause->note, KEEL_NOTE_READ_BACK))
            continue;
        cause->subject = entry->roots[i].subject;
        cause->old_value = entry->roots[i].old_value;
        cause->new_value = entry->roots[i].new_value;
    }
}

static keel_status_t settle_causes(keel_why_t *why, keel_why_entry_t *entry, causes_t *causes) {
    void *memory;
    size_t folded = 0;
    KEEL_TRY(keel_arena_array(&why->texts, entry->root_count + entry->folded_count,
                              sizeof *entry->folded, &memory));
    keel_run_difference_t *list = memory;
    for (size_t i = 0; i < entry->root_count; ++i) {
        if (!causes->is_folded[i]) continue;
        list[folded] = entry->roots[i];
        list[folded].folds = 0;
        list[folded++].follows = causes->place[i];
    }
    uint64_t more = folded;
    for (size_t i = 0; i < entry->folded_count; ++i) {
        list[folded] = entry->folded[i];
        if (list[folded].follows < entry->root_count)
            list[folded].follows = causes->place[list[folded].follows];
        ++folded;
    }
    entry->folded = list;
    entry->folded_count = folded;
    entry->folded_total += more;
    entry->root_total = entry->root_total - entry->root_count + causes->root_count;
    entry->roots = causes->roots;
    entry->root_count = causes->root_count;
    return NULL;
}

static keel_status_t trace_entry(keel_why_t *why, keel_why_entry_t *entry, keel_source_t *source) {
    const keel_reads_line_t *endless = endless_read(why, entry);
    causes_t causes;
    bool any = false;
    KEEL_TRY(make_causes(why, entry->root_count, &causes));
    for (size_t i = 0; i < entry->root_count; ++i) {
        const keel_reads_line_t *read =
            endless ? endless : read_of(why, entry, &entry->roots[i], source);
        any |= read != NULL;
        if (read)
            fold_root(&causes, entry, i,
                      cause_at(&causes, read, endless ? KEEL_NOTE_ENDLESS : KEEL_NOTE_READ_BACK,
                               &entry->roots[i].place));
        else
            keep_root(&causes, entry, i);
    }
    if (!any) return NULL;
    lend_values(&causes, entry);
    return settle_causes(why, entry, &causes);
}

// JAX traces a function separately from what runs, so a read in its step, or in a library on the
// way, says nothing about the numbers that a function closes over.
keel_status_t keel_why_follow_reads(keel_why_t *why) {
    keel_source_t source = {0};
    keel_status_t status = NULL;
    if (strcmp(why->run.framework, "jax") == 0) return NULL;
    for (size_t i = 0; !status && why->run.reads.count && i < why->entry_count; ++i)
        if (keel_why_is_shown(&why->entries[i]) && why->entries[i].root_count &&
            strcmp(why->entries[i].asked->what, "compile") == 0)
            status = trace_entry(why, &why->entries[i], &source);
    keel_source_close(&source);
    return status;
}
