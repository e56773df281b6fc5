#include "engine/dumps.h"

#include <ctype.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/pjrt.h"

// ---- what is asked for -------------------------------------------------------------------------

static struct {
    const char *xla, *libtpu; // the first flag that asks
} of_process;

static void read_variables(void) {
    of_process.xla = keel_key_dumps_of_flags(getenv("XLA_FLAGS"));
    of_process.libtpu = keel_key_dumps_of_flags(getenv("LIBTPU_INIT_ARGS"));
}

static void know_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_variables);
}

bool dumps_of_process(void) {
    know_process();
    return of_process.xla || of_process.libtpu;
}

// XLA's expressions are RE2's. What POSIX's do not have is left to XLA, and so is what might mean
// something else here.
static bool is_known_syntax(const char *pattern) {
    if (strstr(pattern, "(?") || strstr(pattern, "[[:")) return false;
    for (const char *at = pattern; (at = strchr(at, '\\')); at += 2)
        if (!ispunct((unsigned char)at[1])) return false;
    return true;
}

typedef enum match_t { MATCH_NO, MATCH_YES, MATCH_UNKNOWN } match_t;

static match_t match(keel_str_t modules, const char *name) {
    char *pattern;
    regex_t compiled;
    match_t answer = MATCH_UNKNOWN;
    if (!modules.size) return MATCH_YES;
    keel_status_t status = keel_strdup(modules, &pattern);
    if (!status && is_known_syntax(pattern) &&
        regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) == 0) {
        answer = regexec(&compiled, name, 0, NULL, 0) == 0 ? MATCH_YES : MATCH_NO;
        regfree(&compiled);
    }
    if (!status) keel_free(pattern);
    keel_status_ignore(status);
    return answer;
}

// XLA prints them, or finds their folder by itself.
static bool is_folder(keel_str_t text) {
    return text.size && !keel_str_is(text, "-") && !keel_str_is(text, "sponge");
}

static void say(const dumps_t *dumps, const char *only_compiling) {
    if (!dumps->in_options)
        keel_log_once("dumps",
                      "XLA was asked for dumps (--%s), so programs are compiled, not loaded",
                      dumps->flag);
    else if (dumps->by_compiling)
        keel_log_once("dumps",
                      "--%s asks for what only a compile writes, so the programs that it asks "
                      "for are compiled, not loaded",
                      only_compiling);
}

void dumps_of_program(keel_bytes_t options, const char *name, bool is_lost, dumps_t *out) {
    keel_dumps_t asked;
    know_process();
    keel_key_dumps_of_options(options, &asked);
    *out = (dumps_t){.flag = of_process.libtpu, .by_compiling = true};
    if (!out->flag && keel_dumps_asked(&asked)) {
        match_t matches = is_lost ? MATCH_NO : match(asked.modules, name);
        bool is_clear = matches == MATCH_YES && is_folder(asked.folder);
        *out = (dumps_t){.flag = matches == MATCH_NO ? NULL : asked.asked,
                         .by_compiling = asked.compiles || !is_clear,
                         .in_options = true,
                         .excludes = matches == MATCH_NO,
                         .folder = asked.folder};
    } else if (!out->flag && !asked.is_complete) {
        out->flag = of_process.xla;
    }
    if (!out->flag) out->by_compiling = false;
    if (out->flag) say(out, asked.compiles ? asked.compiles : asked.asked);
}

// ---- what a load leaves to be written ----------------------------------------------------------

// XLA's dump of the program's load, the newest.
typedef struct search_t {
    const dumps_loaded_t *loaded;
    char *folder;
    char *wanted; // ".NAME.after_optimizations."
    char *stem;   // up to the name and with it; NULL: nothing found
    uint64_t written;
} search_t;

// "[TIMESTAMP.]module_NUMBER.NAME.after_optimizations.txt"
static bool is_dump(const search_t *search, const char *file, size_t *out_stem) {
    const char *at = strstr(file, "module_");
    if (!at || (at != file && at[-1] != '.')) return false;
    at += strlen("module_");
    at += strspn(at, "0123456789");
    if (strncmp(at, search->wanted, strlen(search->wanted)) != 0) return false;
    *out_stem = (size_t)(at - file) + strlen(search->wanted) - strlen(".after_optimizations.");
    return true;
}

static keel_status_t look_at_file(void *context, const char *file) {
    search_t *search = context;
    keel_file_facts_t facts;
    char *path, *stem;
    size_t size;
    if (!is_dump(search, file, &size)) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", search->folder, file));
    keel_status_t status = keel_file_facts(path, &facts);
    keel_free(path);
    KEEL_TRY(status);
    // The time of a file is that of the kernel's last tick.
    const uint64_t tick = 20000000;
    if (facts.modified + tick < search->loaded->began || facts.modified < search->written)
        return NULL;
    KEEL_TRY(keel_strdup((keel_str_t){file, size}, &stem));
    keel_free(search->stem);
    search->stem = stem;
    search->written = facts.modified;
    return NULL;
}

static keel_status_t put(const search_t *search, const char *kind, keel_bytes_t bytes) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s.%s", search->folder, search->stem, kind));
    keel_status_t status = keel_file_replace_public(path, bytes);
    keel_free(path);
    return status;
}

// XLA's files have an HloProto, whose field 1 is the module.
static keel_status_t put_hlo(const search_t *search, const char *kind, keel_bytes_t code,
                             keel_str_t format) {
    enum { MODULE = 1 };
    keel_bytes_t module;
    keel_buffer_t proto;
    KEEL_TRY(keel_pjrt_hlo_module(code, format, &module));
    keel_buffer_initialize(&proto, 0);
    keel_proto_put_bytes(&proto, MODULE, module);
    keel_status_t status = keel_buffer_status(&proto);
    if (!status) status = put(search, kind, keel_buffer_bytes(&proto));
    keel_buffer_deinitialize(&proto);
    return status;
}

static keel_status_t put_asked(const search_t *search) {
    const dumps_loaded_t *loaded = search->loaded;
    if (strcmp(loaded->format, "hlo") == 0)
        return put_hlo(search, "before_optimizations.hlo.pb", loaded->code, KEEL_STR("hlo"));
    return put(search, "before_optimizations.mlirbc", loaded->code);
}

static void name_file(const char *name, char *out, size_t room) {
    snprintf(out, room, "%s", name);
    for (; *out; ++out)
        if (!isalnum((unsigned char)*out) && !strchr("_-.", *out)) *out = '_';
}

static keel_status_t write_missing(search_t *search) {
    static _Atomic unsigned count;
    const dumps_loaded_t *loaded = search->loaded;
    char name[256];
    name_file(loaded->name, name, sizeof name);
    KEEL_TRY(keel_strdup(loaded->folder, &search->folder));
    KEEL_TRY(keel_path(&search->wanted, ".%s.after_optimizations.", name));
    KEEL_TRY(keel_directory_walk(search->folder, look_at_file, search));
    if (search->stem) return put_asked(search);
    KEEL_TRY(keel_directory_make(search->folder));
    KEEL_TRY(keel_path(&search->stem, "module_%04u.%s", atomic_fetch_add(&count, 1), name));
    KEEL_TRY(put_asked(search));
    if (!loaded->optimized.size) return NULL;
    return put_hlo(search, "after_optimizations.hlo.pb", loaded->optimized,
                   loaded->optimized_format);
}

void dumps_write(const dumps_loaded_t *loaded) {
    search_t search = {.loaded = loaded};
    bool is_remote = keel_str_contains(loaded->folder, "://");
    keel_log_once("dumps loaded",
                  "programs that are loaded are dumped as %soptimized; mode refresh compiles them, "
                  "and XLA writes the rest too",
                  is_remote ? "" : "asked for and as ");
    keel_status_t status = is_remote ? NULL : write_missing(&search);
    if (status)
        keel_log_once("dumps written", "dumps of loaded programs: %s; the run continues",
                      keel_status_message(status));
    keel_status_ignore(status);
    keel_free(search.folder);
    keel_free(search.wanted);
    keel_free(search.stem);
}
