#include "cli/cli.h"
#include "cli/lint_files.h"

static const char details[] =
    "FILE is a Python source, a folder of them, or - for standard input. Nothing is run or\n"
    "imported. If one of the files imports torch_xla or torch_tpu, or with --xla, the PyTorch\n"
    "code in all of them is checked too.\n"
    "\n"
    "A comment `# keel: ignore[RULE]` on the line, or alone on the line before, silences a rule\n"
    "there; `# keel: ignore` silences all. Exit code: 0 nothing found, 1 findings, 2 a file "
    "cannot\n"
    "be read, 4 a file does not parse, or there is none.\n";

typedef struct linting_t {
    const char *only, *ignored, *sarif, *junit;
    bool json, list, is_xla;
    keel_lint_options_t options;
    lint_files_t files;
} linting_t;

// ---- rules -------------------------------------------------------------------------------------

static bool read_rules(const cli_call_t *call, const char *option, const char *text, uint64_t *out,
                       int *out_code) {
    *out = 0;
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ',');
        keel_str_t name = {at, comma ? (size_t)(comma - at) : strlen(at)};
        keel_lint_rule_t rule = keel_lint_by_name(name);
        if (rule == KEEL_LINT_RULE_COUNT) {
            *out_code = cli_misuse(call, "%s: '%.*s' is not a rule; --list-rules lists them",
                                   option, KEEL_STR_ARGS(name));
            return false;
        }
        *out |= (uint64_t)1 << rule;
        at = comma ? comma + 1 : NULL;
    }
    return true;
}

static bool choose_rules(const cli_call_t *call, linting_t *linting, int *out_code) {
    uint64_t only, ignored;
    if (!read_rules(call, "--rule", linting->only, &only, out_code) ||
        !read_rules(call, "--ignore", linting->ignored, &ignored, out_code))
        return false;
    if (!linting->only) only = ((uint64_t)1 << KEEL_LINT_RULE_COUNT) - 1;
    linting->options = (keel_lint_options_t){.rules = only & ~ignored, .is_xla = linting->is_xla};
    return true;
}

static int list_rules(const linting_t *linting) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (linting->json)
        lint_rules_json(&out);
    else
        lint_rules_text(&out);
    return cli_answer(&out);
}

// ---- answering ---------------------------------------------------------------------------------

static void say_left_out(const lint_files_t *files) {
    for (size_t i = 0; i < files->count; ++i) {
        const lint_file_t *file = &files->files[i];
        const char *path = strcmp(file->path, "-") == 0 ? "standard input" : file->path;
        if (file->unread) cli_say("lint: %s", file->unread);
        if (file->report.error_line)
            cli_say("lint: %s:%u:%u: this does not parse; the rest of the file was checked", path,
                    file->report.error_line, file->report.error_column);
    }
}

static keel_status_t write_file(const char *path,
                                void (*write)(const lint_files_t *files, keel_buffer_t *out),
                                const lint_files_t *files) {
    keel_buffer_t text;
    if (!path) return NULL;
    keel_buffer_initialize(&text, 0);
    write(files, &text);
    return cli_write_output(path, &text);
}

static int answer(const linting_t *linting) {
    const lint_files_t *files = &linting->files;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (linting->json)
        lint_json(files, &out);
    else
        lint_text(files, cli_is_colored(stdout), &out);
    int code = cli_answer(&out);
    say_left_out(files);
    if (code != CLI_OK) return code;
    if (files->findings) return CLI_NO;
    if (files->unread) return CLI_USAGE;
    return files->unparsed ? CLI_UNSEEN : CLI_OK;
}

static keel_status_t check(cli_call_t *call, linting_t *linting) {
    if (linting->sarif) KEEL_TRY(cli_check_output(linting->sarif));
    if (linting->junit) KEEL_TRY(cli_check_output(linting->junit));
    for (int i = 0; i < call->rest_count; ++i)
        KEEL_TRY(lint_files_add(&linting->files, call->rest[i]));
    cli_progress_begin("reading sources");
    keel_status_t status = lint_files_check(&linting->files, &linting->options);
    cli_progress_end();
    KEEL_TRY(status);
    KEEL_TRY(write_file(linting->junit, lint_junit, &linting->files));
    return write_file(linting->sarif, lint_sarif, &linting->files);
}

int cli_lint(cli_call_t *call) {
    enum { MOST = 1 << 20 };
    linting_t linting = {0};
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON (docs/lint.md)", &linting.json);
    cli_text(call, "--sarif", "FILE", "write the findings to FILE as SARIF", &linting.sarif);
    cli_text(call, "--junit", "FILE", "write them to FILE as JUnit XML", &linting.junit);
    cli_text(call, "--rule", "NAME[,...]", "look for these rules only", &linting.only);
    cli_text(call, "--ignore", "NAME[,...]", "do not look for these rules", &linting.ignored);
    cli_switch(call, "--xla", "PyTorch code runs on PyTorch/XLA or TorchTPU, whatever it imports",
               &linting.is_xla);
    cli_switch(call, "--list-rules", "list the rules", &linting.list);
    if (!cli_parse(call, 0, MOST, &code)) return code;
    if (linting.list) return list_rules(&linting);
    if (!call->rest_count) return cli_misuse(call, "missing argument: %s", call->usage);
    if (!choose_rules(call, &linting, &code)) return code;
    keel_arena_initialize(&linting.files.texts, 0);
    keel_status_t status = check(call, &linting);
    if (status) {
        code = cli_fail(status);
    } else if (!linting.files.count) {
        cli_say("lint: found no Python files (*.py), so nothing was checked");
        code = CLI_UNSEEN;
    } else {
        code = answer(&linting);
    }
    lint_files_release(&linting.files);
    return code;
}
