#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cache.h"
#include "store/store.h"
#include "text/write.h"

// `out` is what goes to stdout.
#define DECLARE(name, ...)                                                                         \
    static keel_status_t name##_entries(const keel_settings_t *settings, bool json,                \
                                        keel_buffer_t *out, cache_work_t *work);
CACHE_COMMANDS(DECLARE)
#undef DECLARE

static const struct {
    const char *name, *full_name, *argument, *sentence;
    bool needs_argument;
    int options;
    keel_status_t (*run)(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                         cache_work_t *work);
} commands[] = {
#define COMMAND(name, options, sentence)                                                           \
    {#name, "cache " #name, NULL, sentence, false, options, name##_entries},
    CACHE_COMMANDS(COMMAND)
#undef COMMAND
#define COMMAND(name, argument, needs, options, sentence)                                          \
    {#name, "cache " #name, argument, sentence, needs, options, cache_##name},
        CACHE_FLEET_COMMANDS(COMMAND)
#undef COMMAND
};

enum {
#define COUNT(name, ...) AT_##name,
    CACHE_COMMANDS(COUNT)
#undef COUNT
        OWN, // the commands before this one are those of the folder alone
};

static const char *folder_of(const keel_settings_t *settings) {
    return keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
}

static void size_text(keel_buffer_t *out, uint64_t bytes) {
    char text[16];
    keel_format_size(bytes, text);
    keel_buffer_text(out, text);
}

static void time_text(keel_buffer_t *out, uint64_t wall) {
    char text[24];
    keel_clock_iso(wall, text);
    keel_buffer_text(out, text);
}

// ---- ls ----------------------------------------------------------------------------------------

typedef struct line_t {
    uint64_t last_used;
    char *text;
} line_t;

typedef struct listing_t {
    bool json;
    line_t *lines;
    size_t count, capacity;
} listing_t;

static void entry_text(const keel_entry_t *entry, uint64_t bytes, uint64_t last_used,
                       keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX], size[16], seconds[24];
    keel_digest_hex(&entry->key, hex);
    keel_format_size(bytes, size);
    keel_format_seconds(entry->compile_seconds, seconds);
    keel_buffer_format(out, "%.16s  %8s  ", hex, size);
    time_text(out, last_used);
    keel_buffer_format(out, "  %10s  ", seconds);
    for (const char *c = entry->name ? entry->name : ""; *c; ++c)
        keel_buffer_byte(out, (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : (uint8_t)*c);
    if (!keel_entry_is_record(entry)) return;
    keel_format_seconds(entry->load_seconds, seconds);
    keel_buffer_format(out, " (compiled each time: a load took %s)", seconds);
}

static void time_field(keel_json_t *json, const char *name, uint64_t wall) {
    char text[24];
    keel_clock_iso(wall, text);
    keel_json_string(json, name, text);
}

static void entry_json(const keel_entry_t *entry, uint64_t bytes, uint64_t last_used,
                       keel_buffer_t *out) {
    bool has_components = entry->components && *entry->components;
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_digest(&json, "key", &entry->key);
    keel_json_digest(&json, "program", &entry->program);
    keel_json_string(&json, "name", entry->name ? entry->name : "");
    keel_json_unsigned(&json, "bytes", bytes);
    keel_json_unsigned(&json, "payload_bytes", entry->payload_size);
    keel_json_double(&json, "compile_seconds", entry->compile_seconds, 6);
    if (entry->load_seconds > 0) keel_json_double(&json, "load_seconds", entry->load_seconds, 6);
    if (keel_entry_is_record(entry)) keel_json_bool(&json, "compiled_each_time", true);
    time_field(&json, "created", entry->created);
    time_field(&json, "last_used", last_used);
    keel_json_string(&json, "writer", entry->writer ? entry->writer : "");
    keel_buffer_text(keel_json_value(&json, "components"),
                     has_components ? entry->components : "{}");
    keel_json_end_object(&json);
}

static keel_status_t list_entry(void *context, const keel_entry_t *entry, uint64_t stored_bytes,
                                uint64_t last_used) {
    listing_t *listing = context;
    void *grown = listing->lines;
    KEEL_TRY(keel_grow_array(listing->count, sizeof *listing->lines, &listing->capacity, &grown));
    listing->lines = grown;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    (listing->json ? entry_json : entry_text)(entry, stored_bytes, last_used, &text);
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_buffer_take(&text, &data, &size);
    keel_buffer_deinitialize(&text);
    KEEL_TRY(status);
    listing->lines[listing->count++] = (line_t){last_used, (char *)data};
    return NULL;
}

static int by_last_use(const void *a, const void *b) {
    const line_t *x = a, *y = b;
    if (x->last_used != y->last_used) return x->last_used < y->last_used ? 1 : -1;
    return strcmp(x->text, y->text);
}

static void ls_text(const listing_t *listing, keel_buffer_t *out) {
    if (listing->count)
        keel_buffer_format(out, "%-16s  %8s  %-20s  %10s  %s\n", "key", "size", "last used",
                           "compiled", "name");
    for (size_t i = 0; i < listing->count; ++i)
        keel_buffer_format(out, "%s\n", listing->lines[i].text);
}

static void ls_json(const listing_t *listing, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_array(&json, NULL);
    for (size_t i = 0; i < listing->count; ++i) {
        if (i) keel_json_break(&json, "\n ");
        keel_buffer_text(keel_json_value(&json, NULL), listing->lines[i].text);
    }
    keel_json_end_array(&json);
}

static keel_status_t ls_entries(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                cache_work_t *work) {
    if (work->remote) return cache_ls_remote(settings, json, out, work);
    keel_disk_facts_t facts = {0};
    KEEL_TRY(keel_store_disk_facts(folder_of(settings), &facts));
    keel_tier_t disk;
    KEEL_TRY(keel_store_disk(folder_of(settings), 0, true, &disk));
    listing_t listing = {.json = json};
    keel_status_t status = disk.list(disk.context, list_entry, &listing);
    disk.close(disk.context);
    if (facts.entries > listing.count) work->unlisted = facts.entries - listing.count;
    if (listing.count) qsort(listing.lines, listing.count, sizeof *listing.lines, by_last_use);
    (json ? ls_json : ls_text)(&listing, out);
    for (size_t i = 0; i < listing.count; ++i)
        keel_free(listing.lines[i].text);
    keel_free(listing.lines);
    return status;
}

// ---- stat --------------------------------------------------------------------------------------

static void stat_text(const keel_settings_t *settings, const keel_disk_facts_t *facts,
                      keel_buffer_t *out) {
    keel_buffer_text(out, "folder       ");
    keel_write_foreign(out, folder_of(settings));
    keel_buffer_format(out, "\nentries      %" PRIu64 ", ", facts->entries);
    size_text(out, facts->bytes);
    if (settings->cache_limit) {
        keel_buffer_text(out, " of ");
        size_text(out, settings->cache_limit);
    }
    keel_buffer_byte(out, '\n');
    if (facts->entries) {
        keel_buffer_text(out, "last used    ");
        time_text(out, facts->oldest);
        keel_buffer_text(out, " to ");
        time_text(out, facts->newest);
        keel_buffer_byte(out, '\n');
    }
    keel_buffer_format(out, "quarantine   %" PRIu64 ", ", facts->quarantined);
    size_text(out, facts->quarantined_bytes);
    keel_buffer_format(out, "\nlocks        %" PRIu64 "\n", facts->locks);
}

static void stat_json(const keel_settings_t *settings, const keel_disk_facts_t *facts,
                      keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "path", folder_of(settings));
    keel_json_unsigned(&json, "entries", facts->entries);
    keel_json_unsigned(&json, "bytes", facts->bytes);
    keel_json_unsigned(&json, "limit", settings->cache_limit);
    keel_json_unsigned(&json, "quarantined", facts->quarantined);
    keel_json_unsigned(&json, "quarantined_bytes", facts->quarantined_bytes);
    keel_json_unsigned(&json, "locks", facts->locks);
    if (facts->entries) {
        time_field(&json, "oldest", facts->oldest);
        time_field(&json, "newest", facts->newest);
    }
    keel_json_end_object(&json);
}

static keel_status_t stat_entries(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                  cache_work_t *work) {
    if (work->remote) return cache_stat_remote(settings, json, out, work);
    keel_disk_facts_t facts = {0};
    KEEL_TRY(keel_store_disk_facts(folder_of(settings), &facts));
    (json ? stat_json : stat_text)(settings, &facts, out);
    return NULL;
}

// ---- verify ------------------------------------------------------------------------------------

typedef struct verdict_t {
    keel_buffer_t list;
    bool json;
    keel_json_t array; // in the list
    uint64_t bad;
} verdict_t;

static void note_bad(void *context, const char *path, const char *why) {
    verdict_t *verdict = context;
    if (verdict->json) {
        keel_json_object(&verdict->array, NULL);
        keel_json_string(&verdict->array, "path", path);
        keel_json_string(&verdict->array, "why", why);
        keel_json_end_object(&verdict->array);
    } else {
        keel_buffer_format(&verdict->list, "%s: %s\n", path, why);
    }
    ++verdict->bad;
}

static keel_status_t verify_entries(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                    cache_work_t *work) {
    verdict_t verdict = {.json = json};
    keel_buffer_initialize(&verdict.list, 0);
    verdict.array = keel_json(&verdict.list, KEEL_JSON_SPACED);
    if (json) keel_json_array(&verdict.array, NULL);
    uint64_t good = 0;
    keel_status_t status = keel_store_disk_verify(folder_of(settings), note_bad, &verdict, &good);
    if (json) keel_json_end_array(&verdict.array);
    if (!status) status = keel_buffer_status(&verdict.list);
    if (!status && json) {
        keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
        keel_json_object(&object, NULL);
        keel_json_unsigned(&object, "good", good);
        keel_json_unsigned(&object, "damaged", verdict.bad);
        keel_buffer_text(keel_json_value(&object, "entries"), keel_buffer_cstr(&verdict.list));
        keel_json_end_object(&object);
    } else if (!status) {
        keel_buffer_format(out, "%s%" PRIu64 " good, %" PRIu64 " damaged%s\n",
                           keel_buffer_cstr(&verdict.list), good, verdict.bad,
                           verdict.bad ? "; a run that needs one compiles and replaces it" : "");
    }
    if (verdict.bad) work->code = CLI_NO;
    keel_buffer_deinitialize(&verdict.list);
    return status;
}

// ---- prune, clear, path ------------------------------------------------------------------------

static keel_status_t prune_entries(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                   cache_work_t *work) {
    if (work->remote) return cache_prune_remote(settings, json, out, work);
    if (work->older)
        return keel_status_make(KEEL_INVALID, "--older is for --remote; here, the programs that "
                                              "were not used for longest go first");
    uint64_t removed = 0, bytes = 0;
    KEEL_TRY(keel_store_disk_prune(folder_of(settings), settings->cache_limit, &removed, &bytes));
    if (json) {
        keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
        keel_json_object(&object, NULL);
        keel_json_unsigned(&object, "removed", removed);
        keel_json_unsigned(&object, "bytes", bytes);
        keel_json_end_object(&object);
    } else {
        keel_buffer_format(out, "removed %" PRIu64 " entr%s, ", removed,
                           removed == 1 ? "y" : "ies");
        size_text(out, bytes);
        keel_buffer_byte(out, '\n');
    }
    return NULL;
}

static keel_status_t clear_entries(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                   cache_work_t *work) {
    (void)work;
    uint64_t removed = 0;
    KEEL_TRY(keel_store_disk_clear(folder_of(settings), &removed));
    if (json) {
        keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
        keel_json_object(&object, NULL);
        keel_json_unsigned(&object, "removed", removed);
        keel_json_end_object(&object);
    } else {
        keel_buffer_format(out, "removed %" PRIu64 " entr%s\n", removed,
                           removed == 1 ? "y" : "ies");
    }
    return NULL;
}

static keel_status_t path_entries(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                  cache_work_t *work) {
    (void)work;
    if (json) {
        keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
        keel_json_object(&object, NULL);
        keel_json_string(&object, "path", folder_of(settings));
        keel_json_end_object(&object);
    } else {
        keel_buffer_text(out, folder_of(settings));
    }
    return NULL;
}

// ---- the command -------------------------------------------------------------------------------

static void declare(cli_call_t *call, int options, cache_work_t *work, bool *json) {
    if (options & CACHE_RUN) {
        cli_text(call, "--run", "RUN", "only the programs that this run asked for", &work->run);
        cli_setting(call, KEEL_SETTING_RUN_DIR);
    }
    if (options & CACHE_CONTRACT)
        cli_text(call, "--contract", "FILE", "only the programs that this contract lists",
                 &work->contract);
    if (options & CACHE_TRUSTS)
        cli_switch(call, "--trusted", "take what nobody signed too", &work->trusts);
    if (options & CACHE_REMOTE)
        cli_switch(call, "--remote", "of the remotes, not of this machine", &work->remote);
    if (options & CACHE_AGES)
        cli_text(call, "--older", "AGE", "what is older than this, such as 30d", &work->older);
    cli_switch(call, "--json", "print JSON", json);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    cli_setting(call, KEEL_SETTING_CACHE_LIMIT);
}

static int run_one(size_t index, cli_call_t *call) {
    bool json = false;
    cache_work_t work = {.argument = NULL};
    int code;
    call->name = commands[index].full_name;
    const char *argument = commands[index].argument;
    char usage[64];
    snprintf(usage, sizeof usage, "[OPTION]...%s%s", argument ? " " : "", argument ? argument : "");
    call->usage = usage;
    call->sentence = commands[index].sentence;
    declare(call, commands[index].options, &work, &json);
    if (index >= OWN || commands[index].options & CACHE_REMOTE) {
        cli_setting(call, KEEL_SETTING_REMOTES);
        cli_setting(call, KEEL_SETTING_KEYS_DIR);
    }
    if (!cli_parse(call, commands[index].needs_argument, argument ? 1 : 0, &code)) return code;
    if (work.run && work.contract) return cli_misuse(call, "--run and --contract: choose one");
    if (work.run && !cli_take_packs(call, &work.run, 1, NULL, &code)) return code;
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(call->flags, &settings);
    if (status) return cli_fail(status);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    work.argument = call->rest_count ? call->rest[0] : NULL;
    cli_progress_begin(commands[index].full_name);
    status = cli_check_folder(&settings, KEEL_SETTING_CACHE_DIR);
    if (!status) status = commands[index].run(&settings, json, &out, &work);
    cli_progress_end();
    keel_settings_deinitialize(&settings);
    if (status) {
        keel_buffer_deinitialize(&out);
        return cli_fail(status);
    }
    code = cli_answer(&out);
    if (work.unlisted)
        cli_say("%" PRIu64 " entr%s cannot be read and %s not listed; `keel cache verify` names %s",
                work.unlisted, work.unlisted == 1 ? "y" : "ies", work.unlisted == 1 ? "is" : "are",
                work.unlisted == 1 ? "it" : "them");
    return code == CLI_OK ? work.code : code;
}

static const char details[] =
#define LINE(name, options, sentence) "  " #name "\t" sentence "\n"
    CACHE_COMMANDS(LINE)
#undef LINE
#define LINE(name, argument, needs, options, sentence) "  " #name "\t" sentence "\n"
        CACHE_FLEET_COMMANDS(LINE)
#undef LINE
            "\n`keel cache ls --help` shows the options of one.\n";

enum { COMMANDS = sizeof commands / sizeof *commands };

// COMMANDS if there is no such command.
static size_t find_command(const char *name) {
    size_t i = 0;
    while (i < COMMANDS && strcmp(commands[i].name, name) != 0)
        ++i;
    return i;
}

bool cli_cache_has(const char *name) {
    return find_command(name) < COMMANDS;
}

int cli_cache(cli_call_t *call) {
    size_t which = call->arguments[0] ? find_command(call->arguments[0]) : COMMANDS;
    if (which < COMMANDS) {
        ++call->arguments;
        return run_one(which, call);
    }
    int code;
    call->details = details;
    if (!cli_parse(call, 1, -1, &code)) return code;
    return cli_misuse(call,
                      "%s: unknown command; use ls, stat, verify, prune, clear, path, "
                      "remotes, push, pull, sync, export, import, keygen, trust, untrust or keys",
                      call->rest[0]);
}
