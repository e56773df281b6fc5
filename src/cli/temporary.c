// A folder of a command's own, for as long as it runs.
#include <stdlib.h>

#include "cli/cli.h"
#include "journal/journal.h"

keel_status_t cli_temporary_make(const char *what, char **out) {
    char id[KEEL_RUN_ID_SIZE], *path;
    const char *place = getenv("TMPDIR");
    if (!place || !*place) place = "/tmp";
    if (!keel_is_folder(place))
        return keel_status_make(KEEL_INVALID, "%s is not a folder; set TMPDIR to one", place);
    keel_journal_make_id(id);
    KEEL_TRY(keel_path(&path, "%s/keel-%s-%s", place, what, id));
    keel_status_t status = keel_directory_make(path);
    if (!status) status = keel_directory_check_owner(path);
    if (status)
        keel_free(path);
    else
        *out = path;
    return status;
}

static keel_status_t remove_below(void *context, const char *name) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", (const char *)context, name));
    bool is_folder = !keel_is_link(path) && keel_is_folder(path);
    keel_status_t status = is_folder ? keel_directory_walk(path, remove_below, path) : NULL;
    if (!status) status = is_folder ? keel_directory_remove(path) : keel_file_remove(path);
    keel_free(path);
    return status;
}

keel_status_t cli_temporary_remove(const char *folder) {
    KEEL_TRY(keel_directory_walk(folder, remove_below, (void *)(uintptr_t)folder));
    return keel_directory_remove(folder);
}
