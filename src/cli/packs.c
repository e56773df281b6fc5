// Files of `keel pack` where a command takes a run.
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "pack/pack.h"

static char *folder; // of this process's; NULL: nothing was unpacked
static pid_t owner;  // a forked child leaves it alone

static void remove_at_exit(void) {
    if (folder && owner == getpid()) keel_status_ignore(cli_temporary_remove(folder));
}

static keel_status_t need_folder(void) {
    if (folder) return NULL;
    KEEL_TRY(cli_temporary_make("pack", &folder));
    owner = getpid();
    atexit(remove_at_exit);
    return NULL;
}

// The id stays with the process, as the words of its command line do.
static keel_status_t take_file(const char **text) {
    char *id;
    KEEL_TRY(need_folder());
    cli_progress_begin("unpacking");
    keel_status_t status = keel_pack_unpack(*text, folder, &id);
    cli_progress_end();
    if (!status) *text = id;
    return status;
}

// A run of the usual folder that is named beside a file. What is not a run there is left to the
// command.
static keel_status_t take_run(const char *run_dir, const char **text) {
    static const keel_pack_settings_t whole;
    char *id, *path;
    keel_packed_t packed;
    keel_status_t status = keel_journal_find_run(run_dir, *text, &id);
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    status = keel_path(&path, "%s/%s.pack", folder, id);
    if (!status) {
        status = keel_pack_write(run_dir, id, &whole, path, &packed);
        if (!status) {
            *text = path;
            status = take_file(text);
        }
        keel_free(path);
    }
    keel_free(id);
    return status;
}

static keel_status_t take_runs(const cli_call_t *call, const char **texts, const bool *are_files,
                               int count) {
    keel_settings_t settings;
    KEEL_TRY(keel_settings_load(call->flags, &settings));
    keel_status_t status = NULL;
    for (int i = 0; i < count && !status; ++i)
        if (texts[i] && !are_files[i] && access(texts[i], F_OK) != 0)
            status = take_run(keel_settings_text(&settings, KEEL_SETTING_RUN_DIR), &texts[i]);
    keel_settings_deinitialize(&settings);
    return status;
}

// By its name it is one, and not by what it holds.
static keel_status_t check_name(const char *text) {
    if (!text || !keel_str_ends(keel_str(text), KEEL_STR(".keelpack")) || !keel_is_file(text))
        return NULL;
    return keel_status_make(KEEL_CORRUPT, "%s: no file of `keel pack`, or its beginning is damaged",
                            text);
}

static keel_status_t take_all(cli_call_t *call, const char **texts, int count, bool *out_any) {
    enum { MOST = 64 };
    bool are_files[MOST] = {false};
    for (int i = 0; i < count && i < MOST; ++i) {
        are_files[i] = texts[i] && keel_pack_is(texts[i]);
        *out_any |= are_files[i];
        KEEL_TRY(are_files[i] ? take_file(&texts[i]) : check_name(texts[i]));
    }
    if (!*out_any) return NULL;
    KEEL_TRY(take_runs(call, texts, are_files, count < MOST ? count : MOST));
    call->flags[KEEL_SETTING_RUN_DIR] = folder;
    return NULL;
}

bool cli_take_packs(cli_call_t *call, const char **texts, int count, bool *out_unpacked,
                    int *out_code) {
    bool is_any = false;
    keel_status_t status = take_all(call, texts, count, &is_any);
    if (out_unpacked) *out_unpacked = is_any;
    if (!status) return true;
    *out_code = cli_fail(status);
    return false;
}

bool cli_take_packed_runs(cli_call_t *call, bool *out_unpacked, int *out_code) {
    return cli_take_packs(call, (const char **)(uintptr_t)call->rest, call->rest_count,
                          out_unpacked, out_code);
}
