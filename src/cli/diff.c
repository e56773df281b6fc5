#include <stdio.h>

#include "cli/diff.h"
#include "journal/journal.h"
#include "key/key.h"
#include "read/read.h"

// One of two programs, with its compile options if given.
typedef struct compared_t {
    cli_program_t file;
    keel_program_t program;
    keel_key_t key;
} compared_t;

static void open_none(compared_t *side) {
    *side = (compared_t){0};
    keel_program_initialize(&side->program);
    keel_key_initialize(&side->key);
}

static void close_side(compared_t *side) {
    keel_program_deinitialize(&side->program);
    keel_key_deinitialize(&side->key);
    cli_program_close(&side->file);
}

// The parts of the key that are known without a client.
static keel_status_t make_key(compared_t *side, const char *path) {
    uint8_t *data = NULL;
    size_t size = 0;
    if (path) KEEL_TRY(cli_read_file(path, &data, &size));
    keel_status_t status =
        path ? cli_key_options(keel_bytes(data, size), 0, path, &side->key) : NULL;
    if (!status)
        status = keel_key_program_under(&side->program, keel_bytes(data, size),
                                        &side->key.components[KEEL_COMPONENT_PROGRAM]);
    keel_free(data);
    return status;
}

static keel_status_t open_side(const char *text, const char *run_dir, const char *options,
                               compared_t *out) {
    KEEL_TRY(cli_program_open(text, run_dir, &out->file));
    keel_status_t status = keel_read(keel_bytes(out->file.data, out->file.size), &out->program);
    if (status) return cli_program_explain(&out->file, status);
    return make_key(out, options);
}

// ---- printing ----------------------------------------------------------------------------------

static const char *const letters[] = {"A", "B"};

static void head_text(const compared_t *sides, const keel_explanation_t *explanation,
                      keel_buffer_t *out) {
    for (int i = 0; i < 2; ++i) {
        const keel_program_t *program = &sides[i].program;
        char name[128];
        keel_str_t text = keel_program_str(program, program->name);
        snprintf(name, sizeof name, "%.*s", (int)(text.size < 100 ? text.size : 100), text.data);
        keel_buffer_format(out, "%s: ", letters[i]);
        cli_diff_value(sides[i].file.label, 0, out);
        keel_buffer_format(out, ", %u operations", (unsigned)keel_program_op_count(program));
        if (*name) keel_buffer_text(out, ", module ");
        cli_diff_value(name, 0, out);
        keel_buffer_byte(out, '\n');
    }
    if (explanation->alike >= 1) return;
    // Rounded down, so that programs that differ are never 100 % alike.
    keel_buffer_format(out, "%.1f %% of the operations have a counterpart\n",
                       (double)(int)(explanation->alike * 1000) / 10);
}

static void print_text(const compared_t *sides, const keel_explanation_t *explanation, bool all,
                       keel_buffer_t *out) {
    if (cli_diff_is_none(explanation)) {
        keel_buffer_text(out, "the same program\n");
        return;
    }
    if (explanation->unrelated) {
        keel_buffer_text(out, "the programs have nothing in common\n");
        return;
    }
    head_text(sides, explanation, out);
    cli_diff_text(explanation, all, out);
}

static void side_json(const char *name, const compared_t *side, keel_json_t *json) {
    const keel_program_t *program = &side->program;
    keel_json_object(json, name);
    keel_json_string(json, "file", side->file.label);
    keel_json_str(json, "name", keel_program_str(program, program->name));
    keel_json_unsigned(json, "operations", keel_program_op_count(program));
    keel_json_unsigned(json, "bytes", side->file.size);
    keel_json_end_object(json);
}

static void print_json(const compared_t *sides, const keel_explanation_t *explanation,
                       keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "same", cli_diff_is_none(explanation));
    side_json("a", &sides[0], &json);
    side_json("b", &sides[1], &json);
    cli_diff_json(explanation, &json);
    keel_json_end_object(&json);
}

// ---- the command -------------------------------------------------------------------------------

typedef struct asked_t {
    const keel_settings_t *settings;
    const char *run_dir;
    const char *names[2], *options[2];
    bool json, all;
} asked_t;

static keel_status_t compare_programs(const asked_t *asked, keel_buffer_t *out, bool *out_same) {
    compared_t sides[2];
    keel_explanation_t explanation;
    keel_status_t status = NULL;
    for (int i = 0; i < 2; ++i)
        open_none(&sides[i]);
    keel_explanation_initialize(&explanation);
    for (int i = 0; i < 2 && !status; ++i)
        status = open_side(asked->names[i], asked->run_dir, asked->options[i], &sides[i]);
    if (!status)
        status = keel_explain(&(keel_side_t){.program = &sides[0].program, .key = &sides[0].key},
                              &(keel_side_t){.program = &sides[1].program, .key = &sides[1].key},
                              &explanation);
    if (!status) {
        *out_same = cli_diff_is_none(&explanation);
        if (asked->json)
            print_json(sides, &explanation, out);
        else
            print_text(sides, &explanation, asked->all, out);
    }
    keel_explanation_deinitialize(&explanation);
    for (int i = 0; i < 2; ++i)
        close_side(&sides[i]);
    return status;
}

// Whether it is a run. A file has precedence over a run, and so has a program's digest, which may
// look like the beginning of an id. *out_id is NULL if it is not; the caller frees it.
static keel_status_t find_run(const asked_t *asked, const char *text, char **out_id) {
    const char *run_dir = asked->run_dir;
    keel_file_facts_t facts;
    *out_id = NULL;
    keel_status_t status = keel_file_facts(text, &facts);
    bool is_file = !status;
    keel_status_ignore(status);
    if (is_file || strcmp(text, "-") == 0 || strchr(text, '/')) return NULL;
    KEEL_TRY(cli_check_folder(asked->settings, KEEL_SETTING_RUN_DIR));
    if (strspn(text, "0123456789abcdef") == strlen(text)) {
        char *path;
        status = keel_journal_find_program(run_dir, text, &path);
        if (!status) {
            keel_free(path);
            return NULL;
        }
        if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
        keel_status_ignore(status);
    }
    status = keel_journal_find_run(run_dir, text, out_id);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t compare(const asked_t *asked, keel_buffer_t *out, bool *out_same) {
    char *ids[2] = {NULL, NULL};
    keel_status_t status = find_run(asked, asked->names[0], &ids[0]);
    if (!status) status = find_run(asked, asked->names[1], &ids[1]);
    if (!status && ids[0] && ids[1])
        status = cli_diff_runs(asked->run_dir, (const char *const[]){ids[0], ids[1]}, asked->json,
                               asked->all, out, out_same);
    else if (!status && (ids[0] || ids[1]))
        status = keel_status_make(KEEL_INVALID,
                                  "%s is a run, but %s is not; name two runs or two programs",
                                  asked->names[ids[0] ? 0 : 1], asked->names[ids[0] ? 1 : 0]);
    else if (!status)
        status = compare_programs(asked, out, out_same);
    keel_free(ids[0]);
    keel_free(ids[1]);
    return status;
}

static const char details[] =
    "Explains how B differs from A: the causes, each with its source line and the old and the\n"
    "new value, and how many differences follow from each. A and B are two programs, as for\n"
    "`keel show`, or two runs. For runs it prints the components of keys that changed, and the\n"
    "programs that only one run has, each with its nearest counterpart in the other. The exit\n"
    "code is 0 if nothing differs, 1 if something does.\n";

int cli_diff(cli_call_t *call) {
    asked_t asked = {0};
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &asked.json);
    cli_switch(call, "--all", "print every cause and everything that follows, in full", &asked.all);
    cli_text(call, "--options-a", "FILE", "the CompileOptionsProto that A was compiled with",
             &asked.options[0]);
    cli_text(call, "--options-b", "FILE", "the CompileOptionsProto that B was compiled with",
             &asked.options[1]);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 2, 2, &code)) return code;
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    if (!asked.options[0] != !asked.options[1])
        return cli_misuse(call, "%s is missing: give both options files",
                          asked.options[0] ? "--options-b" : "--options-a");
    for (int i = 0; i < 2; ++i)
        asked.names[i] = call->rest[i];
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    asked.settings = &settings;
    asked.run_dir = keel_settings_text(&settings, KEEL_SETTING_RUN_DIR);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    bool same = false;
    cli_progress_begin("comparing");
    status = compare(&asked, &out, &same);
    cli_progress_end();
    keel_settings_deinitialize(&settings);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    code = cli_answer(&out);
    return code == CLI_OK && !same ? CLI_NO : code;
}
