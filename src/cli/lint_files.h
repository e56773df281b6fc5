// The parts of `keel lint`: the files that it reads, what it found in each.
#ifndef KEEL_CLI_LINT_FILES_H_
#define KEEL_CLI_LINT_FILES_H_

#include "cli/cli.h"
#include "lint/lint.h"

typedef struct lint_file_t {
    const char *path;   // as it is shown
    const char *unread; // why it was not read; NULL
    keel_lint_report_t report;
} lint_file_t;

typedef struct lint_files_t {
    lint_file_t *files;
    size_t count, capacity;
    size_t findings, with_findings, ignored, unread, unparsed;
    keel_arena_t texts;
} lint_files_t;

// lint_files.c
// Adds a file, or the Python files of a folder. Links to folders, hidden folders, virtual
// environments and, below the named one, site-packages are left out.
keel_status_t lint_files_add(lint_files_t *files, const char *path) KEEL_MUST_CHECK;
// Reads all of them. What cannot be read is noted.
keel_status_t lint_files_check(lint_files_t *files,
                               const keel_lint_options_t *options) KEEL_MUST_CHECK;
void lint_files_release(lint_files_t *files);

// lint_print.c
void lint_text(const lint_files_t *files, bool color, keel_buffer_t *out);
void lint_json(const lint_files_t *files, keel_buffer_t *out);
void lint_junit(const lint_files_t *files, keel_buffer_t *out);
void lint_sarif(const lint_files_t *files, keel_buffer_t *out);
void lint_rules_text(keel_buffer_t *out);
void lint_rules_json(keel_buffer_t *out);

#endif // KEEL_CLI_LINT_FILES_H_
