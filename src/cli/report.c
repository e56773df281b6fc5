#include <stdio.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "page/page.h"
#include "text/text.h"

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or a file of `keel pack`; the default is\n"
    "the newest run. The page needs no network. It contains names, shapes and lines of your\n"
    "source, so look at it before you share it. Source files that changed since the run are left\n"
    "out. An existing FILE is replaced only if it is a report.\n";

// A mistyped name must not overwrite a file.
static keel_status_t check_target(const char *path) {
    static const char mark[] = KEEL_PAGE_MARK;
    uint8_t start[sizeof mark - 1];
    size_t size = 0;
    keel_file_facts_t facts;
    KEEL_TRY(cli_check_output(path));
    keel_status_t status = keel_file_facts(path, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        return NULL;
    }
    KEEL_TRY(status);
    if (facts.is_file) KEEL_TRY(keel_file_read_head(path, start, sizeof start, &size, &facts));
    if (facts.is_file && size == sizeof start && memcmp(start, mark, size) == 0) return NULL;
    return keel_status_make(
        KEEL_INVALID, "%s: exists and is not a report; name another file, or - for standard output",
        path);
}

static keel_status_t make_page(const char *run_dir, const char *run, keel_buffer_t *out,
                               keel_buffer_t *damage) {
    char *id;
    keel_why_t why = {0};
    KEEL_TRY(keel_journal_find_run(run_dir, run, &id));
    cli_analyze(run_dir, id);
    keel_status_t status = keel_why_read(run_dir, id, KEEL_RUN_DETAILS, &why);
    const keel_page_input_t input = {.why = &why, .run_dir = run_dir};
    if (!status) status = keel_page_write(&input, out);
    if (!status) keel_text_damage(&why.run, damage);
    keel_why_deinitialize(&why);
    keel_free(id);
    return status;
}

static keel_status_t write_page(const keel_buffer_t *page, const char *path, keel_buffer_t *out) {
    KEEL_TRY(check_target(path));
    KEEL_TRY(keel_file_replace_public(path, keel_buffer_bytes(page)));
    keel_buffer_format(out, "%s\n", path);
    return NULL;
}

int cli_report(cli_call_t *call) {
    const char *path = "report.html";
    int code;
    call->details = details;
    cli_text(call, "-o", "FILE", "where the page goes (report.html); - is standard output", &path);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    bool to_stdout = strcmp(path, "-") == 0;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    keel_buffer_t page, told, damage;
    keel_buffer_initialize(&page, 0);
    keel_buffer_initialize(&damage, 0);
    keel_buffer_initialize(&told, 0);
    status = cli_check_folder(&settings, KEEL_SETTING_RUN_DIR);
    if (!status && !to_stdout) status = check_target(path); // before the work
    if (!status)
        status = make_page(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), call->rest[0],
                           &page, &damage);
    if (!status && !to_stdout) status = write_page(&page, path, &told);
    keel_settings_deinitialize(&settings);
    if (status) {
        code = cli_fail(status);
    } else if (to_stdout) {
        code = cli_answer(&page);
    } else {
        code = cli_answer(&told);
    }
    if (!status && damage.size) {
        fprintf(stderr, "keel: %s\n", keel_buffer_cstr(&damage));
        code = CLI_USAGE;
    }
    keel_buffer_deinitialize(&damage);
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&told);
    return code;
}
