// keel pack: a run as one file.
#include "pack/pack.h"

#include "cli/cli.h"
#include "journal/journal.h"

static keel_status_t pack(const keel_settings_t *settings, const char *run,
                          const keel_pack_settings_t *how, const char *path, keel_packed_t *out,
                          char **out_id) {
    const char *run_dir = keel_settings_text(settings, KEEL_SETTING_RUN_DIR);
    KEEL_TRY(cli_check_folder(settings, KEEL_SETTING_RUN_DIR));
    KEEL_TRY(cli_check_output(path));
    KEEL_TRY(keel_journal_find_run(run_dir, run, out_id));
    cli_analyze(run_dir, *out_id); // so that what reads the file need not
    cli_progress_begin("packing");
    keel_status_t status = keel_pack_write(run_dir, *out_id, how, path, out);
    cli_progress_end();
    return status;
}

static void tell_packed(const char *id, const char *path, const keel_packed_t *packed) {
    char size[16];
    keel_format_size(packed->bytes, size);
    cli_say("run %s with %llu program%s is in %s, %s", id, (unsigned long long)packed->programs,
            packed->programs == 1 ? "" : "s", path, size);
    if (packed->left_out)
        cli_say("%llu left out: %s", (unsigned long long)packed->left_out, packed->first_left_out);
}

static const char details[] =
    "RUN is a run's id, the beginning of one, latest, or such a file. FILE is a tar archive in\n"
    "zstd: the run's journal, what explains it, its programs with their compile options, and the\n"
    "sources that they name. Every command that takes a RUN takes FILE instead.\n\n"
    "--no-names replaces each name by a word of the same length, in the journal and in the\n"
    "programs, whose keys stay; it leaves the sources out too. docs/replay.md lists what remains.\n"
    "A program that cannot be read is then left out; the exit code is 1 if any is.\n";

int cli_pack(cli_call_t *call) {
    keel_pack_settings_t how = {.without_names = false};
    const char *path = NULL;
    int code;
    call->details = details;
    cli_text(call, "-o", "FILE", "the file to write", &path);
    cli_switch(call, "--no-names",
               "leave out names of files, functions, arguments, hosts and users, and sources",
               &how.without_names);
    cli_switch(call, "--no-sources", "leave out the text of source files", &how.without_sources);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    if (!cli_parse(call, 1, 1, &code)) return code;
    if (!path || !*path) return cli_misuse(call, "no file; name one: -o run.keelpack");
    if (!cli_take_packed_runs(call, NULL, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    keel_packed_t packed;
    char *id = NULL;
    status = pack(&settings, call->rest[0], &how, path, &packed, &id);
    keel_settings_deinitialize(&settings);
    if (status) {
        keel_free(id);
        return cli_fail(status);
    }
    tell_packed(id, path, &packed);
    keel_free(id);
    return packed.left_out ? CLI_NO : CLI_OK;
}
