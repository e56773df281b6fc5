// What becomes of the files that a rehearsed command writes: by default it runs in a private view
// of the file system (view/view.h), where its writes are its own.
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/kept.h"
#include "journal/journal.h"
#include "text/rehearsed.h"
#include "view/view.h"

// For the clients below: "keep", "refuse", or "discard" and the view's name, so that a process that
// a service started outside of the view knows that nothing protects its files.
static const char variable[] = "KEEL_REHEARSE_WRITES";
static const char discards[] = "discard ";

static void tell_clients(const char *word, const char *name) {
    char *text = NULL;
    keel_status_t status = keel_path(&text, "%s%s", word, name);
    // Without the variable a client refuses.
    if (status || setenv(variable, text, 1)) unsetenv(variable);
    keel_status_ignore(status);
    keel_free(text);
}

// Below another `keel rehearse`, whose view this process is in.
static bool is_in_view(void) {
    const char *given = getenv(variable);
    return given && keel_str_starts(keel_str(given), keel_str(discards)) &&
           keel_view_is_here(given + sizeof discards - 1);
}

// `folder`: the run's own.
static keel_status_t make_view(const keel_settings_t *settings, const char *folder,
                               const char *real, const char *plugin, keel_view_t **out) {
    const char *run_dir = keel_settings_text(settings, KEEL_SETTING_RUN_DIR);
    const char *temporary = getenv("TMPDIR");
    const char *places[5] = {0}, *others[3] = {0}, *const shown[] = {plugin, NULL};
    const char *likely[8] = {".", "/tmp", "/var/tmp"}, *home = getenv("HOME");
    size_t likely_count = 3;
    size_t place_count = 0, other_count = 0;
    cli_kept_t kept;
    if (*run_dir) places[place_count++] = run_dir;
    if (temporary && *temporary == '/') places[place_count++] = likely[likely_count++] = temporary;
    if (*run_dir) likely[likely_count++] = run_dir;
    if (home && *home == '/') likely[likely_count++] = home;
    places[place_count++] = "/tmp";
    places[place_count] = "/var/tmp";
    if (folder) others[other_count++] = folder;
    if (real) others[other_count] = real;
    keel_view_sweep(places);
    keel_status_t status = cli_kept_find(settings, others, &kept);
    const keel_view_settings_t wanted = {places, kept.folders, shown, likely};
    if (!status) status = keel_view_create(&wanted, out);
    cli_kept_deinitialize(&kept);
    return status;
}

// Without a view the clients refuse.
static void discard(const keel_settings_t *settings, const char *id, const char *real,
                    const char *plugin, cli_writes_t *out) {
    const char *run_dir = keel_settings_text(settings, KEEL_SETTING_RUN_DIR);
    keel_status_t status = *run_dir ? keel_path(&out->folder, "%s/%s", run_dir, id) : NULL;
    if (!status) status = make_view(settings, out->folder, real, plugin, &out->view);
    if (!status) {
        tell_clients(discards, keel_view_name(out->view));
        return;
    }
    cli_say("what the command writes cannot be undone here: %s; so it stops where it reads arrays "
            "that no device computed, unless you give --writes keep",
            keel_status_message(status));
    keel_status_ignore(status);
    tell_clients("refuse", "");
}

void cli_writes_begin(const keel_settings_t *settings, const char *id, const char *real,
                      const char *plugin, cli_writes_t *out) {
    switch (settings->writes) {
        case KEEL_WRITES_KEEP:
            tell_clients("keep", "");
            break;
        case KEEL_WRITES_REFUSE:
            tell_clients("refuse", "");
            break;
        case KEEL_WRITES_DISCARD:
            if (!is_in_view()) discard(settings, id, real, plugin, out);
            break;
    }
}

// ---- what it was -------------------------------------------------------------------------------

// The run's own events come from its clients; without one there is no run to add to.
static keel_status_t write_event(const char *run_dir, const char *id,
                                 const keel_journal_written_t *written) {
    char *path;
    keel_journal_t *journal;
    KEEL_TRY(keel_path(&path, "%s/%s/journal.ndjson", run_dir, id));
    bool is_there = keel_is_file(path);
    keel_free(path);
    if (!is_there) return NULL;
    KEEL_TRY(keel_journal_open(run_dir, id, &journal));
    keel_journal_written(journal, written);
    keel_journal_close(journal);
    return NULL;
}

static void describe(const keel_written_t *written, keel_journal_written_t *out) {
    _Static_assert((int)KEEL_WRITTEN_GROUPS <= (int)KEEL_JOURNAL_WRITTEN_GROUPS, "room");
    *out = (keel_journal_written_t){.files = written->files,
                                    .bytes = written->bytes,
                                    .removed = written->removed,
                                    .group_count = written->group_count};
    for (size_t i = 0; i < written->group_count; ++i) {
        const keel_written_group_t *group = &written->groups[i];
        out->groups[i] =
            (keel_journal_written_group_t){group->path, group->files, group->bytes, group->removed};
    }
}

static void say_written(const keel_journal_written_t *written) {
    char folder[PATH_MAX];
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_written_sentence(written, getcwd(folder, sizeof folder) ? folder : "", &text);
    if (text.size) cli_say("%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
}

static void say_limits(const keel_view_t *view) {
    const char *read_only = keel_view_read_only(view, 0);
    if (keel_view_is_full(view))
        cli_say("%s, which holds what a rehearsed command writes, is full; put --run-dir on a "
                "larger disk, or give --writes keep",
                keel_view_folder(view));
    if (read_only)
        cli_say("a rehearsed command can only read %s%s, which takes no overlay; --writes keep "
                "lets it write there",
                read_only, keel_view_read_only(view, 1) ? " and other mounts" : "");
}

void cli_writes_keep_runs(const cli_writes_t *writes, const char *run_dir) {
    keel_status_t status = writes->view ? cli_kept_runs(writes->view, run_dir) : NULL;
    if (status) cli_fail(status);
}

void cli_writes_tell(const cli_writes_t *writes, const char *run_dir, const char *id, int code,
                     bool quiet) {
    keel_written_t written;
    keel_journal_written_t event;
    if (!writes->view) return;
    keel_status_t status = keel_view_written(writes->view, &written);
    if (!status) {
        describe(&written, &event);
        if (*run_dir) status = write_event(run_dir, id, &event);
        if (!quiet) say_written(&event);
    }
    keel_written_deinitialize(&written);
    if (status) cli_fail(status);
    if (code) say_limits(writes->view);
}

void cli_writes_end(cli_writes_t *writes) {
    keel_view_destroy(writes->view);
    writes->view = NULL;
    // Empty, it would look like a run.
    if (writes->folder) keel_status_ignore(keel_directory_remove(writes->folder));
    keel_free(writes->folder);
    writes->folder = NULL;
}
