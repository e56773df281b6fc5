// Recompiles that follow from host reads, in PyTorch/XLA. A number that was read, or computed on
// the host from one, becomes a constant of the next program. And if nothing ends a step, each read
// compiles everything that was recorded since the first. Then the read is the cause, and the
// differences between the programs are folded under it.
//
// A number comes from a read if it is on the read's own line, or on a line that uses a name which
// that line or a later one assigned (number.h). For a read in a function, the line that called it
// counts as well if the function returns what it read.
#include <stdlib.h>

#include "why/internal.h"
#include "why/number.h"

// ---- reads and what follows --------------------------------------------------------------------

static bool is_at(const char *file, uint32_t line, const keel_run_place_t *place) {
    return line && line == place->line && strcmp(file, place->file) == 0;
}

// "Trainer.step" and "step": the interpreter and PyTorch/XLA name a function differently. A
// comprehension ("<listcomp>") or a lambda belongs to the function around it, which its line shows.
static bool is_in(const char *function, const char *other) {
    const char *a = strrchr(function, '.'), *b = strrchr(other, '.');
    a = a ? a + 1 : function;
    b = b ? b + 1 : other;
    bool is_inner = *b == '<' && strcmp(b, "<module>") != 0;
    return is_inner || strcmp(a, b) == 0;
}

// One source file is kept for the constant's line and one for the read's, which may be in another.
typedef struct sources_t {
    keel_source_t constant, read;
} sources_t;

// How a number may have come from a read, the surest last.
typedef enum way { WAY_NONE, WAY_BY_CALLER, WAY_BY_NAMES, WAY_ON_LINE } way_t;

static bool reaches(const keel_why_t *why, const keel_run_difference_t *root,
                    const keel_number_t *from, sources_t *sources) {
    const keel_run_place_t *place = &root->place;
    bool is_known = keel_source_open(&sources->constant, place->file, &why->run);
    if (!is_known) return from->line == place->line && !*from->callee;
    return keel_number_reaches(&sources->constant, from, place->line, root->subject);
}

static bool is_returned(const keel_why_t *why, const keel_reads_line_t *read, sources_t *sources) {
    return keel_source_open(&sources->read, read->file, &why->run) &&
           keel_number_is_returned(&sources->read, read->line, read->function);
}

// A number on the line of a read was read there, unless the read itself asked for the program.
static way_t way_from(const keel_why_t *why, const keel_why_entry_t *entry,
                      const keel_run_difference_t *root, const keel_reads_line_t *read,
                      sources_t *sources) {
    const keel_run_place_t *place = &root->place;
    keel_number_t own = {read->line, ""}, caller = {read->call_line, read->function};
    bool is_own = is_at(read->file, read->line, place);
    bool is_callers = is_at(read->call_file, read->call_line, place);
    if ((is_own || is_callers) && is_at(read->file, read->line, &entry->asked->site))
        return WAY_NONE;
    if (is_own && reaches(why, root, &own, sources)) return WAY_ON_LINE;
    bool is_there = strcmp(read->file, place->file) == 0 && is_in(read->function, place->function);
    if (is_there && !is_own && reaches(why, root, &own, sources)) return WAY_BY_NAMES;
    if (strcmp(read->call_file, place->file) != 0 || !read->call_line) return WAY_NONE;
    bool comes_back = reaches(why, root, &caller, sources) && is_returned(why, read, sources);
    return comes_back ? WAY_BY_CALLER : WAY_NONE;
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

// The read from which the number most surely comes; of equals the first.
static const keel_reads_line_t *read_of(const keel_why_t *why, const keel_why_entry_t *entry,
                                        const keel_run_difference_t *root, sources_t *sources) {
    const keel_reads_line_t *found = NULL;
    way_t best = WAY_NONE;
    bool is_baked = root->kind == KEEL_CAUSE_CONSTANT || root->kind == KEEL_CAUSE_SIZE;
    if (!is_baked || !is_number(root->new_value) || !root->place.line) return NULL;
    for (size_t i = 0; i < why->run.reads.count; ++i) {
        const keel_reads_line_t *read = &why->run.reads.lines[i];
        if (!read->moved.count) continue;
        way_t way = way_from(why, entry, root, read, sources);
        if (way <= best) continue;
        best = way;
        found = read;
    }
    return found;
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
    KEEL_TRY(keel_texts_array(&why->texts, count, sizeof *out->roots, &memory));
    out->roots = memory;
    KEEL_TRY(keel_texts_array(&why->texts, count, sizeof *out->place, &memory));
    out->place = memory;
    KEEL_TRY(keel_texts_array(&why->texts, count, sizeof *out->is_folded, &memory));
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
    KEEL_TRY(keel_texts_array(&why->texts, entry->root_count + entry->folded_count,
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

static keel_status_t trace_entry(keel_why_t *why, keel_why_entry_t *entry, sources_t *sources) {
    const keel_reads_line_t *endless = endless_read(why, entry);
    causes_t causes;
    bool any = false;
    KEEL_TRY(make_causes(why, entry->root_count, &causes));
    for (size_t i = 0; i < entry->root_count; ++i) {
        const keel_reads_line_t *read =
            endless ? endless : read_of(why, entry, &entry->roots[i], sources);
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
    sources_t sources = {0};
    keel_status_t status = NULL;
    if (strcmp(why->run.framework, "jax") == 0) return NULL;
    for (size_t i = 0; !status && why->run.reads.count && i < why->entry_count; ++i)
        if (keel_why_is_shown(&why->entries[i]) && why->entries[i].root_count &&
            why->entries[i].asked->is_compile)
            status = trace_entry(why, &why->entries[i], &sources);
    keel_source_close(&sources.constant);
    keel_source_close(&sources.read);
    return status;
}
