// Cases of the corpus as they once ran: their journals and programs, explained anew by this build
// and held against what the case's own head and markers plant. The same judgement as that of
// run.py, without Python: what `keel why` must say stands in the cases, so no recording can change
// it.
//
//   recorded_test CLIENT [CASE]...
//
// record.py makes recorded/CLIENT.tar.zst.
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <zstd.h>

#include "analysis/analysis.h"
#include "expected.h"
#include "explain/explain.h"
#include "journal/journal.h"
#include "page/page.h"
#include "read/read.h"
#include "text/text.h"
#include "unit/markup.h"

enum { MOST_CASES = 1024, MOST_ROOTS = 64, MOST_RUNS = 8, TAR_BLOCK = 512 };

// A file of the archive. Its name is CASE/PATH, with PATH as in a run folder.
typedef struct member_t {
    char name[300];
    keel_bytes_t bytes;
} member_t;

typedef struct recorded_t {
    expected_t expected;
    place_t place; // the run folder
    char runs[MOST_RUNS][64];
    size_t run_count;
} recorded_t;

static const char *client;
static char cases[512]; // their folder
static keel_bytes_t archive;
static unsigned faults; // of the current case

// ---- the archive -------------------------------------------------------------------------------

static void read_archive(void) {
    char path[512];
    uint8_t *packed;
    void *data;
    size_t size;
    snprintf(path, sizeof path, "%s/tests/corpus/recorded/%s.tar.zst", KEEL_TEST_SOURCE, client);
    assert_ok(keel_file_read(path, 1 << 26, &packed, &size));
    size_t whole = (size_t)ZSTD_getFrameContentSize(packed, size);
    assert_ok(keel_alloc(whole, &data));
    assert_int_equal(ZSTD_decompress(data, whole, packed, size), whole);
    keel_free(packed);
    archive = keel_bytes(data, whole);
}

// The next file of the archive; false at its end.
static bool next_member(size_t *at, member_t *out) {
    enum { SIZE = 124, PREFIX = 345 };
    const char *head = (const char *)archive.data + *at;
    if (*at + TAR_BLOCK > archive.size || !*head) return false;
    snprintf(out->name, sizeof out->name, "%.155s%s%.100s", head + PREFIX, head[PREFIX] ? "/" : "",
             head);
    size_t size = strtoul(head + SIZE, NULL, 8);
    out->bytes = keel_bytes(head + TAR_BLOCK, size);
    *at += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    assert_true(*at <= archive.size);
    return true;
}

static bool is_packed_in_runs(const char *path) {
    return keel_str_starts(keel_str(path), KEEL_STR("programs/")) ||
           keel_str_starts(keel_str(path), KEEL_STR("sources/"));
}

// Programs and sources are compressed in a run folder, and not in the archive, where they share.
static void write_member(const recorded_t *recorded, const char *path, keel_bytes_t bytes) {
    char file[700];
    snprintf(file, sizeof file, "%s/%s", recorded->place.root, path);
    *strrchr(file, '/') = 0;
    assert_ok(keel_directory_make(file));
    bool is_packed = is_packed_in_runs(path);
    snprintf(file, sizeof file, "%s/%s%s", recorded->place.root, path, is_packed ? ".zst" : "");
    if (!is_packed) {
        assert_ok(keel_file_create(file, bytes));
        return;
    }
    void *packed;
    size_t bound = ZSTD_compressBound(bytes.size);
    assert_ok(keel_alloc(bound, &packed));
    size_t size = ZSTD_compress(packed, bound, bytes.data, bytes.size, 1);
    assert_false(ZSTD_isError(size));
    assert_ok(keel_file_create(file, keel_bytes(packed, size)));
    keel_free(packed);
}

static int set_up(void **state) {
    const char *name = *state;
    recorded_t *recorded = calloc(1, sizeof *recorded);
    size_t size = strlen(name), at = 0;
    expected_read(cases, name, &recorded->expected);
    place_make(&recorded->place);
    for (member_t member; next_member(&at, &member);) {
        if (strncmp(member.name, name, size) != 0 || member.name[size] != '/') continue;
        const char *path = member.name + size + 1, *slash = strchr(path, '/');
        write_member(recorded, path, member.bytes);
        if (!slash || strcmp(slash, "/journal.ndjson") != 0) continue;
        assert_in_range(recorded->run_count, 0, MOST_RUNS - 1);
        snprintf(recorded->runs[recorded->run_count++], sizeof *recorded->runs, "%.*s",
                 (int)(slash - path), path);
    }
    for (size_t i = 0; i < recorded->run_count; ++i)
        assert_ok(keel_analysis_run(recorded->place.root, recorded->runs[i]));
    faults = 0;
    *state = recorded;
    return 0;
}

static int tear_down(void **state) {
    recorded_t *recorded = *state;
    place_remove(&recorded->place);
    expected_deinitialize(&recorded->expected);
    free(recorded);
    return 0;
}

// ---- what Keel says ----------------------------------------------------------------------------

typedef enum told_kind { TOLD_SHOWN, TOLD_ALL, TOLD_STATS } told_kind_t;

// `keel why --json`, with --all, or `keel stats --json`.
static json_t *told(const recorded_t *recorded, const char *run, told_kind_t kind) {
    keel_why_t why;
    keel_buffer_t text;
    json_error_t error;
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_why_read(recorded->place.root, run, KEEL_RUN_DETAILS, &why));
    if (kind == TOLD_STATS)
        keel_text_stats_json(&why, true, &text);
    else
        keel_text_why_json(&why, kind == TOLD_ALL, &text);
    keel_why_deinitialize(&why);
    json_t *out = json_loadb((const char *)text.data, text.size, 0, &error);
    keel_buffer_deinitialize(&text);
    assert_non_null(out);
    return out;
}

static const char *text_of(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text ? text : "";
}

static uint64_t number_of(const json_t *object, const char *field) {
    return (uint64_t)json_integer_value(json_object_get(object, field));
}

static bool is(const json_t *object, const char *field, const char *text) {
    return strcmp(text_of(object, field), text) == 0;
}

static const char *last_run(const recorded_t *recorded) {
    return recorded->runs[recorded->run_count - 1];
}

// ---- one cause ---------------------------------------------------------------------------------

// A root cause as Keel tells it; `json` is NULL if an entry is unrelated to everything before it.
typedef struct root_t {
    const json_t *json, *entry;
    bool is_taken;
} root_t;

typedef struct roots_t {
    root_t list[MOST_ROOTS];
    size_t count;
} roots_t;

static void add_roots(roots_t *roots, const json_t *entry) {
    const json_t *causes = json_object_get(entry, "causes"), *one;
    size_t at;
    json_array_foreach(causes, at, one) {
        assert_in_range(roots->count, 0, MOST_ROOTS - 1);
        roots->list[roots->count++] = (root_t){one, entry, false};
    }
    if (!json_array_size(causes) && json_is_true(json_object_get(entry, "unrelated")))
        roots->list[roots->count++] = (root_t){NULL, entry, false};
}

static const char *root_text(const root_t *root, const char *field) {
    return root->json ? text_of(root->json, field) : strcmp(field, "kind") ? "" : "unrelated";
}

// A text that ends in dots matches all that begin so.
static bool is_as(const char *wanted, const char *got) {
    if (!wanted) return true;
    size_t size = strlen(wanted);
    if (size >= 3 && strcmp(wanted + size - 3, "...") == 0)
        return strncmp(wanted, got, size - 3) == 0;
    return strcmp(wanted, got) == 0;
}

// Recorded files lie in a folder of cases elsewhere.
static bool is_place(expected_place_t wanted, const json_t *got, const char *file,
                     const char *line) {
    char end[600];
    if (!wanted.file) return true;
    snprintf(end, sizeof end, "/corpus/%s/%s", client, wanted.file);
    return number_of(got, line) == wanted.line &&
           keel_str_ends(keel_str(text_of(got, file)), keel_str(end));
}

// "a | b": one of these is in the advice; "!a | b": none is.
static bool advises(const char *wanted, const char *got) {
    if (!wanted) return true;
    bool is_absent = *wanted == '!', has_one = false;
    char *words = strdup(wanted + is_absent), *rest = words;
    for (char *word; (word = strsep(&rest, "|"));) {
        word += strspn(word, " ");
        for (size_t size = strlen(word); size && word[size - 1] == ' '; word[--size] = 0) {
        }
        has_one = has_one || strcasestr(got, word);
    }
    free(words);
    return has_one != is_absent;
}

// The fields that are not as the case has them, in `out`; returns how many.
static unsigned differences(const expected_cause_t *wanted, const root_t *got, char out[100]) {
    const json_t *of_frameworks = json_object_get(got->entry, "advice");
    const char *framework = strcmp(client, "torch") == 0 ? "torch" : "jax";
    const char *advice = got->json ? text_of(of_frameworks, framework) : "";
    const char *pattern = got->json ? text_of(got->entry, "pattern") : "";
    const struct {
        const char *name;
        bool is_right;
    } fields[] = {
        {"kind", is_as(wanted->kind, root_text(got, "kind"))},
        {"subject", is_as(wanted->subject, root_text(got, "subject"))},
        {"old", is_as(wanted->old_value, root_text(got, "old"))},
        {"new", is_as(wanted->new_value, root_text(got, "new"))},
        {"pattern", is_as(wanted->pattern, pattern)},
        {"place", is_place(wanted->place, got->json, "file", "line")},
        {"call", is_place(wanted->call, got->json, "call_file", "call_line")},
        {"advice", advises(wanted->advice, advice)},
    };
    unsigned wrong = 0;
    *out = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        if (fields[i].is_right) continue;
        snprintf(out + strlen(out), 100 - strlen(out), "%s%s", wrong++ ? ", " : "", fields[i].name);
    }
    return wrong;
}

KEEL_PRINTF(2, 3) static void fault(const recorded_t *recorded, const char *format, ...) {
    va_list list;
    ++faults;
    print_error("%s: ", recorded->expected.name);
    va_start(list, format);
    vprint_error(format, list);
    va_end(list);
    print_error("\n");
}

static void fault_root(const recorded_t *recorded, const char *what, const root_t *root) {
    fault(recorded, "%s: %s %s: %s -> %s at %s:%" PRIu64 " from %s:%" PRIu64, what,
          root_text(root, "kind"), root_text(root, "subject"), root_text(root, "old"),
          root_text(root, "new"), root_text(root, "file"), number_of(root->json, "line"),
          root_text(root, "call_file"), number_of(root->json, "call_line"));
}

// ---- the planted causes ------------------------------------------------------------------------

static root_t *nearest(roots_t *roots, const expected_cause_t *wanted) {
    root_t *best = NULL;
    unsigned best_wrong = 0;
    char fields[100];
    for (size_t i = 0; i < roots->count; ++i) {
        root_t *root = &roots->list[i];
        unsigned wrong = differences(wanted, root, fields);
        if (strncmp(fields, "kind", 4) == 0) wrong += 100;
        if (root->is_taken || (best && wrong >= best_wrong)) continue;
        best = root;
        best_wrong = wrong;
    }
    return best;
}

// The causes must be exactly the planted ones.
static void compare(const recorded_t *recorded, roots_t *roots) {
    const expected_t *expected = &recorded->expected;
    char fields[100];
    for (size_t i = 0; i < expected->cause_count; ++i) {
        const expected_cause_t *wanted = &expected->causes[i];
        root_t *root = nearest(roots, wanted);
        if (!root) {
            fault(recorded, "missing: %s", wanted->kind);
            continue;
        }
        root->is_taken = true;
        if (differences(wanted, root, fields)) fault_root(recorded, fields, root);
    }
    for (size_t i = 0; i < roots->count; ++i)
        if (!roots->list[i].is_taken) fault_root(recorded, "more than planted", &roots->list[i]);
}

// An entry's own numbers must hold together.
static void check_counts(const recorded_t *recorded, const json_t *entry) {
    const json_t *causes = json_object_get(entry, "causes"), *one;
    uint64_t folds = 0, total = number_of(entry, "folded_total"), listed;
    size_t at;
    json_array_foreach(causes, at, one) {
        folds += number_of(one, "folds");
    }
    listed = json_array_size(json_object_get(entry, "folded"));
    bool has_all = number_of(entry, "cause_total") == json_array_size(causes);
    if (total < listed || (has_all && total != folds))
        fault(recorded, "%" PRIu64 " differences follow, %" PRIu64 " listed, %" PRIu64 " by causes",
              total, listed, folds);
}

// ---- the way back ------------------------------------------------------------------------------

static void read_program(const recorded_t *recorded, const char *digest, uint8_t **bytes,
                         keel_program_t *out) {
    char *path;
    size_t size;
    assert_ok(keel_journal_find_program(recorded->place.root, digest, &path));
    assert_ok(keel_journal_read_program(path, bytes, &size));
    keel_program_initialize(out);
    assert_ok(keel_read(keel_bytes(*bytes, size), out));
    keel_free(path);
}

// Causes that the programs alone show.
static bool is_of_programs(const char *kind) {
    static const char *const kinds[] = {
        "shape", "dtype",    "weak_type", "arguments", "constant",  "gradient",   "structure",
        "size",  "sharding", "donation",  "layout",    "precision", "nested_jit", NULL};
    return keel_str_is_one_of(keel_str(kind), kinds);
}

// The planted causes, and no more, with their values exchanged.
static bool is_planted_backwards(const expected_t *expected, const keel_explanation_t *back) {
    bool is_taken[EXPECTED_CAUSES] = {false};
    if (back->root_total != expected->cause_count) return false;
    for (size_t i = 0; i < expected->cause_count; ++i) {
        const expected_cause_t *wanted = &expected->causes[i];
        size_t k = 0;
        for (; k < back->root_count; ++k) {
            const keel_difference_t *root = &back->roots[k];
            if (!is_taken[k] && is_as(wanted->kind, keel_cause_facts(root->kind)->word) &&
                is_as(wanted->old_value, root->new_value) &&
                is_as(wanted->new_value, root->old_value))
                break;
        }
        if (k == back->root_count) return false;
        is_taken[k] = true;
    }
    return true;
}

// one_way.tsv lists the cases whose way back has other causes.
static bool is_one_way(const char *name) {
    uint8_t *data;
    size_t size;
    bool is_listed = false;
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%s/%s\t", client, name);
    assert_ok(keel_file_read(KEEL_TEST_SOURCE "/tests/corpus/recorded/one_way.tsv", 1 << 20, &data,
                             &size));
    keel_str_t rest = {(const char *)data, size};
    for (keel_str_t line; keel_str_line(&rest, &line);)
        is_listed = is_listed || keel_str_starts(line, keel_str(wanted));
    keel_free(data);
    return is_listed;
}

// What the last run recorded of the call that asked for a program last; "" if it is unknown.
static void find_call(const recorded_t *recorded, const char *program, char *out, size_t room) {
    char path[400];
    uint8_t *data;
    size_t size;
    *out = 0;
    snprintf(path, sizeof path, "%s/%s/journal.ndjson", recorded->place.root, last_run(recorded));
    assert_ok(keel_file_read(path, 1 << 26, &data, &size));
    keel_str_t rest = {(const char *)data, size};
    for (keel_str_t line; keel_str_line(&rest, &line);) {
        json_t *one = json_loadb(line.data, line.size, 0, NULL);
        if (is(one, "event", "ask") && is(one, "program", program))
            snprintf(out, room, "%s", text_of(one, "call"));
        json_decref(one);
    }
    keel_free(data);
}

// From the new program to the old one, by the programs and their calls alone.
static void judge_way_back(const recorded_t *recorded, const json_t *entry) {
    const expected_t *expected = &recorded->expected;
    const char *old_program = text_of(json_object_get(entry, "against"), "program");
    uint8_t *bytes[2];
    keel_program_t programs[2];
    keel_explanation_t back;
    if (!*old_program) return;
    for (size_t i = 0; i < expected->cause_count; ++i)
        if (!is_of_programs(expected->causes[i].kind)) return;
    read_program(recorded, old_program, &bytes[0], &programs[0]);
    read_program(recorded, text_of(entry, "program"), &bytes[1], &programs[1]);
    static char calls[2][1 << 14];
    find_call(recorded, old_program, calls[0], sizeof calls[0]);
    find_call(recorded, text_of(entry, "program"), calls[1], sizeof calls[1]);
    keel_explanation_initialize(&back);
    assert_ok(keel_explain(&(keel_side_t){.program = &programs[1], .call = calls[1]},
                           &(keel_side_t){.program = &programs[0], .call = calls[0]}, &back));
    bool is_planted = is_planted_backwards(expected, &back);
    if (is_planted == is_one_way(expected->name)) {
        fault(recorded, is_planted ? "its way back is right, but one_way.tsv lists it"
                                   : "the way back has other causes");
        for (size_t i = 0; i < back.root_count; ++i)
            print_error("    %s %s: %s -> %s\n", keel_cause_facts(back.roots[i].kind)->word,
                        back.roots[i].subject, back.roots[i].old_value, back.roots[i].new_value);
    }
    keel_explanation_deinitialize(&back);
    for (size_t i = 0; i < 2; ++i) {
        keel_program_deinitialize(&programs[i]);
        keel_free(bytes[i]);
    }
}

// Of a case without a program: each program's last row is as planted, and no row of another kind.
static void judge_report(const recorded_t *recorded, const json_t *shown) {
    const expected_t *expected = &recorded->expected;
    static const json_t several;
    const json_t *entry, *later, *only = NULL;
    roots_t last = {.count = 0};
    size_t at, next;
    json_array_foreach(shown, at, entry) {
        bool is_last = true, is_planted;
        if (is(entry, "what", "cut")) continue;
        json_array_foreach(shown, next, later) {
            if (next > at && !is(later, "what", "cut") && is(later, "name", text_of(entry, "name")))
                is_last = false;
        }
        if (is_last) {
            add_roots(&last, entry);
            check_counts(recorded, entry);
            only = only ? &several : entry;
            continue;
        }
        roots_t roots = {.count = 0};
        add_roots(&roots, entry);
        for (size_t i = 0; i < roots.count; ++i) {
            is_planted = false;
            for (size_t k = 0; k < expected->cause_count; ++k)
                is_planted |= !strcmp(root_text(&roots.list[i], "kind"), expected->causes[k].kind);
            if (!is_planted) fault_root(recorded, "earlier", &roots.list[i]);
        }
    }
    if (!last.count) fault(recorded, "nothing is said");
    compare(recorded, &last);
    if (only && only != &several) judge_way_back(recorded, only);
}

// How often the run's journal has the event for the program.
static unsigned events_of(const recorded_t *recorded, const char *run, const char *event,
                          const char *program) {
    char path[400];
    uint8_t *data;
    size_t size;
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/%s/journal.ndjson", recorded->place.root, run);
    assert_ok(keel_file_read(path, 1 << 26, &data, &size));
    keel_str_t rest = {(const char *)data, size};
    for (keel_str_t line; keel_str_line(&rest, &line);) {
        json_t *one = json_loadb(line.data, line.size, 0, NULL);
        count += is(one, "event", event) && is_as(program, text_of(one, "name"));
        json_decref(one);
    }
    keel_free(data);
    return count;
}

// Nothing is compiled: in the last process the program was loaded or, if there is only one process,
// compiled once.
static void judge_none(const recorded_t *recorded, const json_t *all, const char *program) {
    const json_t *entry;
    bool is_alone = recorded->expected.processes == 1;
    unsigned compiles = events_of(recorded, last_run(recorded), "compile", program),
             loads = events_of(recorded, last_run(recorded), "load", program), said = 0;
    size_t at;
    if (is_alone ? compiles + loads == 0 : loads == 0)
        fault(recorded, "%u compiles, %u loads", compiles, loads);
    json_array_foreach(all, at, entry) {
        said += !is(entry, "what", "cut") && !is(entry, "what", "load") &&
                is_as(program, text_of(entry, "name"));
    }
    if (said > is_alone) fault(recorded, "%u compiles are explained", said);
}

// The last time that the last process asked for the program.
static void judge_program(const recorded_t *recorded, const json_t *all, const char *program) {
    const json_t *entry, *last = NULL;
    roots_t roots = {.count = 0};
    size_t at;
    json_array_foreach(all, at, entry) {
        if (!is(entry, "what", "cut") && is_as(program, text_of(entry, "name"))) last = entry;
    }
    if (!last) {
        fault(recorded, "nothing is said of %s", program);
        return;
    }
    add_roots(&roots, last);
    compare(recorded, &roots);
    check_counts(recorded, last);
    judge_way_back(recorded, last);
}

// No run says anything, and those after the first compile nothing.
static void judge_silence(const recorded_t *recorded) {
    for (size_t i = 0; i < recorded->run_count; ++i) {
        const char *run = recorded->runs[i];
        json_t *shown = told(recorded, run, TOLD_SHOWN);
        if (json_array_size(shown))
            fault(recorded, "run %zu says something of %s", i + 1,
                  text_of(json_array_get(shown, 0), "name"));
        if (i && events_of(recorded, run, "compile", NULL))
            fault(recorded, "run %zu compiles something", i + 1);
        json_decref(shown);
    }
}

// ---- reads on the host -------------------------------------------------------------------------

// Steps that are cut must be, by the lines that are marked and no more.
static void judge_reads(const recorded_t *recorded, const json_t *all, const json_t *stats) {
    const expected_t *expected = &recorded->expected;
    const json_t *one;
    size_t at, cuts = 0, marked = 0;
    json_array_foreach(all, at, one) {
        cuts += is(one, "what", "cut");
    }
    for (size_t i = 0; i < expected->read_count; ++i) {
        const expected_read_t *read = &expected->reads[i];
        const json_t *lines = read->pieces ? all : json_object_get(stats, "reads");
        bool is_there = false;
        json_array_foreach(lines, at, one) {
            if (read->pieces &&
                (!is(one, "what", "cut") || number_of(one, "pieces") != read->pieces))
                continue;
            is_there = is_there || is_place(read->place, one, "file", "line");
        }
        marked += read->pieces > 0;
        if (!is_there) fault(recorded, "no read or cut at line %u", read->place.line);
    }
    if (cuts > marked) fault(recorded, "%zu cuts, %zu marked", cuts, marked);
}

// ---- what holds for every run ------------------------------------------------------------------

// No cause, and no difference that follows from one, has two sides that read the same.
static void judge_sides(const recorded_t *recorded, const json_t *all) {
    static const char *const without_sides[] = {"first",     "retrace", "cache",
                                                "host_read", "backend", NULL};
    static const char *const lists[] = {"causes", "folded"};
    const json_t *entry, *one;
    size_t at, place;
    json_array_foreach(all, at, entry) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
            json_array_foreach(json_object_get(entry, lists[i]), place, one) {
                bool has_none = keel_str_is_one_of(keel_str(text_of(one, "kind")), without_sides);
                if (is(one, "old", text_of(one, "new")) && !(has_none && is(one, "old", "")))
                    fault_root(recorded, "two equal sides", &(root_t){one, entry, false});
            }
        }
    }
}

// The summary of a run names the recompiles that `keel why` lists, by the same causes.
static void judge_summary(const recorded_t *recorded, const json_t *shown, const json_t *stats) {
    const json_t *summed = json_object_get(stats, "recompiles"), *one;
    size_t at;
    for (int kind = 0; kind <= KEEL_CAUSE_COUNT; ++kind) {
        const char *word =
            kind < KEEL_CAUSE_COUNT ? keel_cause_facts((keel_cause_t)kind)->word : "";
        size_t listed = 0, named = 0;
        json_array_foreach(shown, at, one) {
            listed += is(one, "what", "compile") && is(one, "kind", word) &&
                      json_is_true(json_object_get(one, "recompile"));
        }
        json_array_foreach(summed, at, one) {
            named += is(json_object_get(one, "cause"), "kind", word);
        }
        if (listed != named)
            fault(recorded, "of kind '%s' the summary has %zu, keel why %zu", word, named, listed);
    }
}

// ---- what people read --------------------------------------------------------------------------

// The words of a page, without its markup.
static void add_words(const char *page, keel_buffer_t *out) {
    static const struct {
        const char *escaped;
        char meant;
    } escapes[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},   {"&quot;", '"'},
                   {"&#39;", '\''}, {"&rarr;", 0x20}, {"&nbsp;", 0x20}};
    for (const char *at = page; *at;) {
        size_t plain = strcspn(at, "<&"), i = 0;
        keel_buffer_append(out, at, plain);
        at += plain;
        while (i < sizeof escapes / sizeof *escapes &&
               strncmp(at, escapes[i].escaped, strlen(escapes[i].escaped)) != 0)
            ++i;
        if (i < sizeof escapes / sizeof *escapes) {
            keel_buffer_byte(out, (uint8_t)escapes[i].meant);
            at += strlen(escapes[i].escaped);
        } else if (*at) {
            assert_int_equal(*at, '<');
            at = strchr(at, '>') + 1;
        }
    }
}

// Each cause that is shown stands in a text, with its values and its line.
static void check_told(const recorded_t *recorded, const char *where, const char *text,
                       const json_t *shown) {
    enum { CUT = 60 }; // longer values may be cut
    static const char *const fields[] = {"subject", "old", "new"};
    const json_t *entry, *root;
    size_t at, place;
    char line[700];
    json_array_foreach(shown, at, entry) {
        json_array_foreach(json_object_get(entry, "causes"), place, root) {
            for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
                const char *value = text_of(root, fields[i]);
                if (strlen(value) < CUT && !strstr(text, value))
                    fault(recorded, "%s lacks %s", where, value);
            }
            const char *file = text_of(root, "file"), *slash = strrchr(file, '/');
            snprintf(line, sizeof line, "%s:%" PRIu64, slash ? slash + 1 : file,
                     number_of(root, "line"));
            if (number_of(root, "line") && !strstr(text, line))
                fault(recorded, "%s lacks %s", where, line);
        }
    }
}

static void judge_texts(const recorded_t *recorded, const json_t *shown) {
    keel_why_t why;
    keel_buffer_t page, words, text;
    keel_buffer_initialize(&page, 0);
    keel_buffer_initialize(&words, 0);
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_why_read(recorded->place.root, last_run(recorded), KEEL_RUN_DETAILS, &why));
    const keel_page_input_t input = {&why, recorded->place.root};
    assert_ok(keel_page_write(&input, &page));
    keel_text_why(&why, &(keel_text_style_t){.all = true}, &text);
    keel_why_deinitialize(&why);
    assert_well_formed(keel_buffer_cstr(&page));
    add_words(keel_buffer_cstr(&page), &words);
    check_told(recorded, "the page", keel_buffer_cstr(&words), shown);
    check_told(recorded, "keel why", keel_buffer_cstr(&text), shown);
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&words);
    keel_buffer_deinitialize(&text);
}

// ---- all of it ---------------------------------------------------------------------------------

static void is_explained_as_planted(void **state) {
    const recorded_t *recorded = *state;
    const expected_t *expected = &recorded->expected;
    const char *program = expected->program;
    if (!program && strcmp(client, "libraries") != 0) program = "jit_step";
    assert_true(recorded->run_count > 0);
    for (size_t i = 0; i < recorded->run_count; ++i) {
        json_t *of_run = told(recorded, recorded->runs[i], TOLD_ALL);
        judge_sides(recorded, of_run);
        json_decref(of_run);
    }
    json_t *all = told(recorded, last_run(recorded), TOLD_ALL);
    json_t *shown = told(recorded, last_run(recorded), TOLD_SHOWN);
    json_t *stats = told(recorded, last_run(recorded), TOLD_STATS);
    judge_summary(recorded, shown, stats);
    judge_texts(recorded, shown);
    if (strcmp(expected->causes[0].kind, "stable") == 0) {
        judge_silence(recorded);
    } else {
        judge_reads(recorded, all, stats);
        if (!program)
            judge_report(recorded, shown);
        else if (strcmp(expected->causes[0].kind, "none") == 0)
            judge_none(recorded, all, program);
        else
            judge_program(recorded, all, program);
    }
    json_decref(all);
    json_decref(shown);
    json_decref(stats);
    if (faults) fail();
}

int main(int count, char **arguments) {
    static struct CMUnitTest tests[MOST_CASES];
    static char names[MOST_CASES][100];
    size_t tests_count = 0, at = 0;
    if (count < 2) return 2;
    client = arguments[1];
    snprintf(cases, sizeof cases, "%s/tests/corpus/%s", KEEL_TEST_SOURCE, client);
    read_archive();
    for (member_t member; next_member(&at, &member);) {
        size_t size = strcspn(member.name, "/");
        const char *last = tests_count ? names[tests_count - 1] : "";
        if (strncmp(last, member.name, size) == 0 && !last[size]) continue;
        bool is_wanted = count == 2;
        for (int i = 2; i < count; ++i)
            is_wanted |= keel_str_is((keel_str_t){member.name, size}, arguments[i]);
        if (!is_wanted) continue;
        snprintf(names[tests_count], sizeof *names, "%.*s", (int)size, member.name);
        tests[tests_count] = (struct CMUnitTest){names[tests_count], is_explained_as_planted,
                                                 set_up, tear_down, names[tests_count]};
        if (++tests_count == MOST_CASES) return 2;
    }
    int failed = _cmocka_run_group_tests(client, tests, tests_count, NULL, NULL);
    keel_free((void *)archive.data);
    return failed;
}
