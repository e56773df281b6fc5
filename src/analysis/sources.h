// sources: the user's source files as each run had them.
//
//   run_dir/sources/<digest>.zst      a file's text, shared by all runs
//   run_dir/<run id>/sources.tsv      a line for each file: digest, tab, path; "-" instead of a
//                                     digest if the file had changed before this read it; or for
//                                     each folder in which Python looked for modules: "+", tab,
//                                     path
//
// A run's files are those in its programs' locations, and the user's modules that these import.
// They are read during the run's analysis, while the run is live or later. Only what was traced is
// kept: a text with the digest that the run recorded (host/source.h); of a module that no program
// names, a text that has not changed since the run first asked for a program.
#ifndef KEEL_ANALYSIS_SOURCES_H_
#define KEEL_ANALYSIS_SOURCES_H_

#include "explain/explain.h"

enum { SOURCES_NAMED = 64, SOURCES_FILES = 128 }; // of a run: those that programs name, and all

typedef struct source_t {
    char *file;
    keel_digest_t digest;
    bool is_known;
} source_t;

// The files of one run.
typedef struct sources_t {
    const char *run_dir;
    char *run;
    source_t files[SOURCES_FILES];
    size_t count, imported; // files; how many of them no program named
    double asked;           // when the run first asked for a program; seconds since 1970
    keel_buffer_t folders;  // where its Python looked for modules, a line each
    char *home;             // where the run began, for files that are known by a relative path
    keel_map_t read;        // what the run's processes read in them (host/source.h)
    uint8_t *text;          // the text read last
    size_t size;
    keel_sources_t face; // for keel_explain
} sources_t;

void sources_initialize(sources_t *sources, const char *run_dir);
void sources_deinitialize(sources_t *sources);
// Reads what is known about that run; does nothing if it is the one that is loaded.
keel_status_t sources_load(sources_t *sources, const char *run) KEEL_MUST_CHECK;
// A process of the run read this content in a file.
keel_status_t sources_read(sources_t *sources, const char *file,
                           const char *digest) KEEL_MUST_CHECK;
// A process of the run began there.
keel_status_t sources_home(sources_t *sources, const char *folder) KEEL_MUST_CHECK;
// Its Python looks for modules in this folder.
keel_status_t sources_folder(sources_t *sources, const char *folder) KEEL_MUST_CHECK;
// Keeps the files of a program that was asked for then, and what they import. Files that cannot be
// read or kept stay unknown, and so do those that the run did not read.
void sources_note(sources_t *sources, const keel_program_t *program, double asked);

#endif // KEEL_ANALYSIS_SOURCES_H_
