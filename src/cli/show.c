#include "cli/cli.h"
#include "read/print.h"
#include "read/read.h"

enum { LARGEST_VALUE = 16 };

static keel_status_t print(const cli_program_t *file, bool json,
                           const keel_print_options_t *options, keel_buffer_t *out) {
    keel_program_t program;
    keel_program_initialize(&program);
    keel_status_t status = keel_read(keel_bytes(file->data, file->size), &program);
    if (status) {
        status = cli_program_explain(file, status);
    } else {
        status = json ? keel_print_json(&program, out) : keel_print_text(&program, options, out);
    }
    keel_program_deinitialize(&program);
    return status;
}

static const char details[] =
    "FILE holds MLIR bytecode or a serialized HloModuleProto, possibly compressed as in the run\n"
    "folder; - is standard input. PROGRAM is a program of a run: its digest, the first 4 or more\n"
    "digits of it, or its module name in the newest run (`keel stats` lists both).\n";

int cli_show(cli_call_t *call) {
    bool json = false, full = false;
    keel_print_options_t options = {.largest_value = LARGEST_VALUE};
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON (docs/show.md)", &json);
    cli_switch(call, "--locations", "show the file and line of each operation", &options.locations);
    cli_switch(call, "--full", "print large constants in full", &full);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 1, 1, &code)) return code;
    if (full) options.largest_value = UINT32_MAX;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    cli_program_t file;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    status =
        cli_program_open(call->rest[0], keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), &file);
    keel_settings_deinitialize(&settings);
    if (status) return cli_fail(status);
    status = print(&file, json, &options, &out);
    cli_program_close(&file);
    if (!status) return cli_answer(&out);
    keel_buffer_deinitialize(&out);
    return cli_fail(status);
}
