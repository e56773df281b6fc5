#define _GNU_SOURCE
#include "enforce/ranks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "enforce/differ.h"
#include "enforce/watch.h"

enum {
    LOOK_FOR = 500,       // milliseconds between looks at what else happened
    WAITS_AFTER = 1,      // seconds of waiting
    TELL_AFTER = 10,      // likewise
    GIVE_UP_AFTER = 600,  // likewise
    COME_WITHIN = 30,     // for the others' first program
    SETTLED_AFTER = 300,  // milliseconds in which another thread would ask
    SHOWN_PROCESSES = 16, // in a message
    NAME_MOST = 256,      // bytes of a module's name
    WHY_MOST = 700,       // bytes of a reason
};

static const char second_thread[] = "several threads of a process ask for programs";

// A program that a group agreed on.
typedef struct agreed_t {
    keel_digest_t digest;
    char name[NAME_MOST];
} agreed_t;

// The processes that execute a program together.
typedef struct group_t {
    struct group_t *next;
    char name[17];
    uint64_t asked; // programs so far
    bool knows_off; // the others of the group know that this process does not compare any more
    bool is_first;  // this process leads it
    uint64_t gone;  // the number at which this process said that it goes on; 0: it did not
    agreed_t *programs;
    size_t program_count, program_capacity;
} group_t;

struct ranks_t {
    const keel_settings_t *settings; // borrowed
    ranks_executions_t executions;
    pid_t pid;
    char *folder;
    watch_t watch;
    atomic_bool is_asked; // a thread asks
    pthread_mutex_t lock; // held while a program is compared, for the letters
    pthread_t thread;     // that asked for the first one
    bool has_thread;
    letters_t letters; // without a meeting place until the first program
    keel_meet_t *service, *other;
    pthread_mutex_t clients;
    const PJRT_Client *client; // whose service it is; under `clients`
    pthread_mutex_t state;     // for what follows
    group_t *groups;
    keel_map_t agreed;  // programs, with their group
    keel_map_t counted; // their digests
    bool is_ambiguous;  // two groups have the same one, so nobody knows who executed it
    char *stopped;      // the message with which all stop for good
    uint32_t process;
    bool is_open, is_broken; // the meeting place: not even that this process is off can be put
    atomic_bool is_off;
    char why[WHY_MOST]; // it is off
};

// What a process says of its n-th program.
typedef struct said_t {
    char fingerprint[KEEL_FINGERPRINT_HEX], options[KEEL_FINGERPRINT_HEX];
    char digest[KEEL_DIGEST_HEX];
    char name[NAME_MOST];
    bool goes; // it asks for none
} said_t;

// One comparison.
typedef struct meeting_t {
    ranks_t *ranks;
    const ranks_ask_t *ask;
    group_t *group;
    uint64_t number;
    said_t *said; // by each member
} meeting_t;

// ---- its life ----------------------------------------------------------------------------------

keel_status_t ranks_create(const keel_settings_t *settings, const char *folder,
                           const ranks_executions_t *executions, ranks_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(ranks_t), &memory));
    ranks_t *ranks = memory;
    ranks->settings = settings;
    ranks->executions = *executions;
    ranks->pid = getpid();
    pthread_mutex_init(&ranks->lock, NULL);
    pthread_mutex_init(&ranks->clients, NULL);
    pthread_mutex_init(&ranks->state, NULL);
    keel_map_initialize(&ranks->agreed);
    keel_map_initialize(&ranks->counted);
    letters_initialize(&ranks->letters);
    keel_status_t status = *folder ? keel_path(&ranks->folder, "%s/ranks", folder) : NULL;
    if (!status) status = keel_meet_in_client(&ranks->service);
    if (status)
        ranks_destroy(ranks);
    else
        *out = ranks;
    return status;
}

void ranks_destroy(ranks_t *ranks) {
    if (!ranks) return;
    ranks_end(ranks);
    for (group_t *group = ranks->groups, *next; group; group = next) {
        next = group->next;
        keel_free(group->programs);
        keel_free(group);
    }
    letters_deinitialize(&ranks->letters);
    keel_map_deinitialize(&ranks->agreed);
    keel_map_deinitialize(&ranks->counted);
    keel_free(ranks->stopped);
    keel_meet_destroy(ranks->service);
    keel_meet_destroy(ranks->other);
    keel_free(ranks->folder);
    keel_free(ranks);
}

void ranks_end(ranks_t *ranks) {
    if (getpid() == ranks->pid) watch_stop(&ranks->watch);
}

void ranks_client_created(ranks_t *ranks, const PJRT_Client_Create_Args *args) {
    pthread_mutex_lock(&ranks->clients);
    if (keel_meet_enter_client(ranks->service, args)) ranks->client = args->client;
    pthread_mutex_unlock(&ranks->clients);
}

void ranks_client_closing(ranks_t *ranks, const PJRT_Client *client) {
    pthread_mutex_lock(&ranks->clients);
    if (client && client == ranks->client) {
        keel_meet_leave_client(ranks->service);
        ranks->client = NULL;
    }
    pthread_mutex_unlock(&ranks->clients);
}

// ---- the meeting place -------------------------------------------------------------------------

static bool has_service(ranks_t *ranks) {
    pthread_mutex_lock(&ranks->clients);
    bool has = ranks->client;
    pthread_mutex_unlock(&ranks->clients);
    return has;
}

static keel_status_t open_redis(ranks_t *ranks) {
    keel_redis_address_t address;
    const char *text = keel_settings_text(ranks->settings, KEEL_SETTING_AGREE);
    const char *wrong = keel_redis_address_parse(text, &address);
    if (wrong) return keel_status_make(KEEL_INVALID, "%s %s", text, wrong);
    return keel_meet_in_redis(&address, ranks->letters.own, &ranks->other);
}

static keel_status_t open_place(ranks_t *ranks) {
    keel_agree_t agree = ranks->settings->agree;
    if (agree == KEEL_AGREE_ON) agree = has_service(ranks) ? KEEL_AGREE_CLIENT : KEEL_AGREE_FOLDER;
    if (agree == KEEL_AGREE_CLIENT && !has_service(ranks))
        return keel_status_make(KEEL_NOT_FOUND, "the client passes no key-value service; use "
                                                "--agree on or --agree redis://HOST:PORT");
    if (agree == KEEL_AGREE_FOLDER && !ranks->folder)
        return keel_status_make(KEEL_NOT_FOUND,
                                "nothing is recorded, so there is no folder to meet "
                                "in; set KEEL_RUN_DIR");
    if (agree == KEEL_AGREE_FOLDER) KEEL_TRY(keel_meet_in_folder(ranks->folder, &ranks->other));
    if (agree == KEEL_AGREE_REDIS) KEEL_TRY(open_redis(ranks));
    ranks->letters.meet = agree == KEEL_AGREE_CLIENT ? ranks->service : ranks->other;
    pthread_mutex_lock(&ranks->state);
    ranks->is_open = true;
    pthread_mutex_unlock(&ranks->state);
    return NULL;
}

// ---- comparing no more -------------------------------------------------------------------------

static void name_letter(const group_t *group, uint64_t number, const char *what,
                        char out[KEEL_MEET_KEY]) {
    snprintf(out, KEEL_MEET_KEY, "%s-%llu-%s", group->name, (unsigned long long)number, what);
}

static void name_ask(const group_t *group, uint64_t number, uint32_t process,
                     char out[KEEL_MEET_KEY]) {
    char text[16];
    snprintf(text, sizeof text, "%u", process);
    name_letter(group, number, text, out);
}

static keel_status_t put_text(const ranks_t *ranks, const char *key, const char *text) {
    return letters_put(&ranks->letters, key, keel_str_bytes(keel_str(text)));
}

// What the others of the group wait for.
static void name_own(const ranks_t *ranks, const group_t *group, uint64_t number,
                     char out[KEEL_MEET_KEY]) {
    if (group->is_first)
        name_letter(group, number, "said", out);
    else
        name_ask(group, number, ranks->process, out);
}

// In the place of that.
static void put_off(ranks_t *ranks, const char *key) {
    char text[WHY_MOST + 8];
    pthread_mutex_lock(&ranks->state);
    snprintf(text, sizeof text, "off %s", ranks->why);
    bool is_broken = ranks->is_broken;
    pthread_mutex_unlock(&ranks->state);
    keel_status_t status = is_broken ? NULL : put_text(ranks, key, text);
    if (!status) return;
    keel_status_ignore(status); // they wait until they give up
    pthread_mutex_lock(&ranks->state);
    ranks->is_broken = true;
    pthread_mutex_unlock(&ranks->state);
}

// The others of the group do not wait for this process any more: instead of its next program they
// find that it is off.
static void tell_off(ranks_t *ranks, group_t *group) {
    char key[KEEL_MEET_KEY];
    pthread_mutex_lock(&ranks->state);
    bool tells = ranks->is_open && !ranks->is_broken && !group->knows_off;
    if (tells) group->knows_off = true;
    uint64_t number = tells ? ++group->asked : 0;
    pthread_mutex_unlock(&ranks->state);
    if (!tells) return;
    name_own(ranks, group, number, key);
    put_off(ranks, key);
}

static void turn_off(ranks_t *ranks, const char *why) {
    pthread_mutex_lock(&ranks->state);
    bool was_off = atomic_load(&ranks->is_off);
    group_t *groups = ranks->groups;
    if (!was_off) snprintf(ranks->why, sizeof ranks->why, "%s", why);
    atomic_store(&ranks->is_off, true);
    pthread_mutex_unlock(&ranks->state);
    if (was_off) return;
    keel_log("the programs of the processes are not compared: %s", why);
    for (group_t *group = groups; group; group = group->next)
        tell_off(ranks, group);
}

// Takes the status.
static void turn_off_for(ranks_t *ranks, keel_status_t status) {
    turn_off(ranks, keel_status_message(status));
    keel_status_ignore(status);
}

// ---- letters -----------------------------------------------------------------------------------

// Whoever is waited for will not come; says so.
static bool is_vain(const meeting_t *meeting, uint32_t process, uint64_t waited) {
    ranks_t *ranks = meeting->ranks;
    const char *shown = ranks->letters.meet->shown;
    char why[WHY_MOST];
    bool has_come = letters_has_come(&ranks->letters, process);
    if (ranks->letters.has_twins)
        snprintf(why, sizeof why,
                 "two processes that run are process %u in %s: another job is there under the same "
                 "name",
                 process, shown);
    else if (letters_is_gone(&ranks->letters, process))
        snprintf(why, sizeof why, "process %u has ended", process);
    else if (!has_come && waited >= COME_WITHIN && !ranks->letters.meet->is_for_all)
        snprintf(why, sizeof why,
                 "process %u has not come to %s within %d seconds: it has ended or meets elsewhere",
                 process, shown, COME_WITHIN);
    else if (waited >= GIVE_UP_AFTER)
        snprintf(why, sizeof why, "process %u has not asked for %s within %d minutes", process,
                 meeting->ask->name, GIVE_UP_AFTER / 60);
    else
        return false;
    turn_off(ranks, why);
    return true;
}

// How many executions of the programs that the group agreed on this process has begun.
static uint64_t position(ranks_t *ranks, const group_t *group) {
    uint64_t sum = 0;
    pthread_mutex_lock(&ranks->state);
    for (size_t i = 0; i < group->program_count; ++i)
        sum += ranks->executions.count(ranks->executions.context, &group->programs[i].digest);
    if (ranks->is_ambiguous) sum = UINT64_MAX;
    pthread_mutex_unlock(&ranks->state);
    return sum;
}

// For those that ask for nothing.
static void put_waiting(const meeting_t *meeting) {
    char key[KEEL_MEET_KEY], text[NAME_MOST + 64];
    snprintf(text, sizeof text, "waits %u %llu %.255s", meeting->ask->process,
             (unsigned long long)position(meeting->ranks, meeting->group), meeting->ask->name);
    name_letter(meeting->group, meeting->number, "waits", key);
    keel_status_ignore(put_text(meeting->ranks, key, text)); // another one may have
}

static void tell_waiting(const meeting_t *meeting, uint32_t process) {
    if (meeting->group->is_first)
        keel_log("process %u waits for process %u, which has not asked for %s yet",
                 meeting->ask->process, process, meeting->ask->name);
    else
        keel_log("process %u waits for the others, which have not all asked for %s yet",
                 meeting->ask->process, meeting->ask->name);
}

// Waits for a letter of that process. False if there will be none: then this process is off.
static bool await_letter(const meeting_t *meeting, uint32_t process, const char *key,
                         keel_buffer_t *out) {
    ranks_t *ranks = meeting->ranks;
    uint64_t began = keel_clock_monotonic();
    bool has_told = false, has_put = false;
    while (!atomic_load(&ranks->is_off)) {
        uint64_t until = keel_clock_monotonic() + LOOK_FOR * 1000000ull;
        keel_status_t status = letters_get(&ranks->letters, process, key, until, out);
        if (!status) return true;
        if (keel_status_code(status) != KEEL_NOT_FOUND) {
            turn_off_for(ranks, status);
            return false;
        }
        keel_status_ignore(status);
        uint64_t waited = (keel_clock_monotonic() - began) / 1000000000ull;
        if (is_vain(meeting, process, waited)) return false;
        if (waited >= WAITS_AFTER && !has_put) put_waiting(meeting);
        has_put = has_put || waited >= WAITS_AFTER;
        if (waited >= TELL_AFTER && !has_told) tell_waiting(meeting, process);
        has_told = has_told || waited >= TELL_AFTER;
    }
    return false;
}

// The rest of a letter that begins so.
static const char *after(const char *letter, const char *word) {
    size_t size = strlen(word);
    return strncmp(letter, word, size) == 0 ? letter + size : NULL;
}

static bool read_said(const char *letter, said_t *out) {
    out->goes = strcmp(letter, "goes") == 0;
    return out->goes || sscanf(letter, "ask %32s %32s %64s %255s", out->fingerprint, out->options,
                               out->digest, out->name) == 4;
}

static keel_status_t put_ask(const meeting_t *meeting) {
    const ranks_ask_t *ask = meeting->ask;
    char key[KEEL_MEET_KEY], digest[KEEL_DIGEST_HEX], text[512];
    keel_digest_hex(&ask->digest, digest);
    snprintf(text, sizeof text, "ask %s %s %s %.255s", ask->fingerprint, ask->options, digest,
             *ask->name ? ask->name : "program");
    name_ask(meeting->group, meeting->number, ask->process, key);
    return put_text(meeting->ranks, key, text);
}

// ---- a difference ------------------------------------------------------------------------------

static bool is_same(const said_t *a, const said_t *b) {
    if (a->goes || b->goes) return a->goes && b->goes;
    return strcmp(a->fingerprint, b->fingerprint) == 0 && strcmp(a->options, b->options) == 0;
}

static size_t alike(const meeting_t *meeting, size_t which) {
    size_t sum = 0;
    for (size_t i = 0; i < meeting->ask->member_count; ++i)
        sum += is_same(&meeting->said[i], &meeting->said[which]);
    return sum;
}

// The program that most ask for; of two, that of the lowest process.
static size_t find_usual(const meeting_t *meeting) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < meeting->ask->member_count && most <= meeting->ask->member_count / 2;
         ++i) {
        size_t count = alike(meeting, i);
        if (count <= most) continue;
        most = count;
        best = i;
    }
    return best;
}

static size_t find_other(const meeting_t *meeting, size_t usual) {
    size_t other = 0;
    while (other < meeting->ask->member_count &&
           is_same(&meeting->said[other], &meeting->said[usual]))
        ++other;
    return other;
}

// "process 3", "processes 0, 1 and 2": those whose program is that one's.
static void list(const meeting_t *meeting, size_t which, keel_buffer_t *out) {
    size_t sum = alike(meeting, which), told = 0;
    keel_buffer_text(out, sum == 1 ? "process " : "processes ");
    for (size_t i = 0; i < meeting->ask->member_count; ++i) {
        if (!is_same(&meeting->said[i], &meeting->said[which])) continue;
        if (told == SHOWN_PROCESSES) {
            keel_buffer_format(out, " and %zu more", sum - told);
            return;
        }
        bool is_last = told + 1 == sum;
        keel_buffer_text(out, !told ? "" : is_last ? " and " : ", ");
        keel_buffer_format(out, "%u", meeting->ask->members[i]);
        ++told;
    }
}

static void describe(const meeting_t *meeting, size_t usual, size_t other, keel_buffer_t *out) {
    list(meeting, other, out);
    keel_buffer_text(out, alike(meeting, other) == 1 ? " asks" : " ask");
    keel_buffer_format(out, " for another %s than ", meeting->said[usual].name);
    list(meeting, usual, out);
    keel_buffer_text(out, "; executed together, they would wait for each other forever");
    if (strcmp(meeting->said[usual].digest, meeting->said[other].digest) == 0)
        keel_buffer_text(out, "\n  the compile options or flags differ");
}

static keel_status_t refusal(const keel_buffer_t *message) {
    return message->failed || !message->size
               ? keel_status_make(KEEL_REFUSED, "the processes ask for different programs")
               : keel_status_make(KEEL_REFUSED, "%s", keel_buffer_cstr(message));
}

static differ_side_t side_of(const meeting_t *meeting, uint32_t process, char key[KEEL_MEET_KEY]) {
    differ_side_t side = {.process = process, .key = key};
    name_ask(meeting->group, meeting->number, process, key);
    if (process != meeting->ask->process) return side;
    side.code = meeting->ask->code;
    keel_digest_hex(&meeting->ask->digest, side.digest);
    return side;
}

// Two threads that ask at about the same time may have asked in another order here than elsewhere:
// then the second one is about to turn its process off.
static bool is_off_soon(const meeting_t *meeting, const uint32_t processes[2]) {
    uint64_t until = keel_clock_monotonic() + SETTLED_AFTER * 1000000ull;
    ranks_t *ranks = meeting->ranks;
    bool finds = false;
    while (!finds && !atomic_load(&ranks->is_off) && keel_clock_monotonic() < until) {
        for (int i = 0; i < 2 && !finds; ++i) {
            char key[KEEL_MEET_KEY];
            keel_buffer_t text;
            if (processes[i] == meeting->ask->process) continue;
            keel_buffer_initialize(&text, 0);
            name_ask(meeting->group, meeting->number + 1, processes[i], key);
            keel_status_t status =
                letters_get(&ranks->letters, processes[i], key,
                            keel_clock_monotonic() + SETTLED_AFTER * 250000ull, &text);
            finds = !status && after(keel_buffer_cstr(&text), "off ");
            keel_status_ignore(status);
            keel_buffer_deinitialize(&text);
        }
    }
    return finds || atomic_load(&ranks->is_off);
}

// ---- the first process -------------------------------------------------------------------------

static keel_status_t say(const meeting_t *meeting, const char *what, const char *text) {
    char key[KEEL_MEET_KEY];
    name_letter(meeting->group, meeting->number, what, key);
    return put_text(meeting->ranks, key, text);
}

// Instead of a verdict; this process is off.
static void say_off(const meeting_t *meeting) {
    char key[KEEL_MEET_KEY];
    name_letter(meeting->group, meeting->number, "said", key);
    put_off(meeting->ranks, key);
}

static keel_status_t say_difference(const meeting_t *meeting, const uint32_t processes[2],
                                    const keel_buffer_t *text) {
    keel_buffer_t said;
    keel_buffer_initialize(&said, 1 << 15);
    keel_buffer_format(&said, "differ %u %u\n", processes[0], processes[1]);
    keel_buffer_append(&said, text->data, text->size);
    keel_status_t status = keel_buffer_status(text);
    if (!status) status = keel_buffer_status(&said);
    if (!status) status = say(meeting, "said", keel_buffer_cstr(&said));
    keel_buffer_deinitialize(&said);
    return status;
}

static const char *run_dir_of(const ranks_t *ranks) {
    return keel_settings_text(ranks->settings, KEEL_SETTING_RUN_DIR);
}

// Adds what differs between the two, and says it.
static void explain(const meeting_t *meeting, const size_t pair[2], keel_buffer_t *text) {
    ranks_t *ranks = meeting->ranks;
    char keys[2][KEEL_MEET_KEY];
    differ_side_t sides[2];
    for (int i = 0; i < 2; ++i) {
        sides[i] = side_of(meeting, meeting->ask->members[pair[i]], keys[i]);
        memcpy(sides[i].digest, meeting->said[pair[i]].digest, sizeof sides[i].digest);
    }
    bool is_program = strcmp(sides[0].digest, sides[1].digest) != 0;
    if (is_program && ranks->folder)
        differ_explain(&ranks->letters, run_dir_of(ranks), ranks->folder, sides, text);
    keel_status_t status = keel_buffer_status(text);
    if (!status) status = say(meeting, "why", keel_buffer_cstr(text));
    keel_status_ignore(status); // the others then say less
}

// If the others cannot know of it, this process does not stop alone.
static keel_status_t disagree(const meeting_t *meeting, const size_t pair[2]) {
    const uint32_t processes[2] = {meeting->ask->members[pair[0]], meeting->ask->members[pair[1]]};
    keel_buffer_t text;
    if (is_off_soon(meeting, processes)) {
        turn_off(meeting->ranks, second_thread);
        say_off(meeting);
        return NULL;
    }
    keel_buffer_initialize(&text, 1 << 14);
    describe(meeting, pair[0], pair[1], &text);
    keel_status_t status = say_difference(meeting, processes, &text);
    if (status) {
        turn_off_for(meeting->ranks, status);
        say_off(meeting);
        status = NULL;
    } else {
        explain(meeting, pair, &text);
        status = refusal(&text);
    }
    keel_buffer_deinitialize(&text);
    return status;
}

// ---- processes that ask for nothing ------------------------------------------------------------

// From now on nothing passes.
static void stop_for_good(ranks_t *ranks, const char *message) {
    char *copy;
    keel_status_t status = keel_strdup(keel_str(message), &copy);
    keel_status_ignore(status);
    if (status) return;
    pthread_mutex_lock(&ranks->state);
    bool is_first = !ranks->stopped;
    if (is_first) ranks->stopped = copy;
    pthread_mutex_unlock(&ranks->state);
    if (!is_first) keel_free(copy);
}

static keel_status_t check_stopped(ranks_t *ranks) {
    pthread_mutex_lock(&ranks->state);
    keel_status_t status =
        ranks->stopped ? keel_status_make(KEEL_REFUSED, "%s", ranks->stopped) : NULL;
    pthread_mutex_unlock(&ranks->state);
    return status;
}

// The last program of that name on which the group agreed.
static bool find_agreed(ranks_t *ranks, const group_t *group, const char *name,
                        differ_side_t *out) {
    *out = (differ_side_t){.is_kept = true};
    pthread_mutex_lock(&ranks->state);
    size_t i = group->program_count;
    while (i && strcmp(group->programs[i - 1].name, name) != 0)
        --i;
    if (i) keel_digest_hex(&group->programs[i - 1].digest, out->digest);
    pthread_mutex_unlock(&ranks->state);
    return i;
}

// One process asks for a program, `going` go on without. Under the lock.
static keel_status_t part(const meeting_t *meeting, uint32_t asking, const said_t *said,
                          const char *going) {
    const uint32_t processes[2] = {asking, asking};
    ranks_t *ranks = meeting->ranks;
    differ_side_t sides[2];
    char key[KEEL_MEET_KEY];
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 14);
    keel_buffer_format(
        &text,
        "process %u asks for another %s than %s with what they have; executed together, "
        "they would wait for each other forever",
        asking, said->name, going);
    keel_status_t status = say_difference(meeting, processes, &text);
    if (status) {
        turn_off_for(ranks, status);
        say_off(meeting);
        keel_buffer_deinitialize(&text);
        return NULL;
    }
    sides[1] = side_of(meeting, asking, key);
    memcpy(sides[1].digest, said->digest, sizeof sides[1].digest);
    if (ranks->folder && find_agreed(ranks, meeting->group, said->name, &sides[0]))
        differ_explain(&ranks->letters, run_dir_of(ranks), ranks->folder, sides, &text);
    if (!text.failed) keel_status_ignore(say(meeting, "why", keel_buffer_cstr(&text)));
    status = refusal(&text);
    stop_for_good(ranks, keel_status_message(status));
    keel_buffer_deinitialize(&text);
    return status;
}

// Of those that were gathered.
static keel_status_t part_gathered(const meeting_t *meeting, size_t going) {
    size_t asking = 0;
    while (meeting->said[asking].goes)
        ++asking;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 12);
    list(meeting, going, &text);
    keel_buffer_text(&text, alike(meeting, going) == 1 ? ", which goes on" : ", which go on");
    keel_status_t status = part(meeting, meeting->ask->members[asking], &meeting->said[asking],
                                keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

// Takes this process's next number, if it is this one: it does not ask then.
static bool take_this_number(ranks_t *ranks, group_t *group, uint64_t number) {
    pthread_mutex_lock(&ranks->state);
    bool is_next = !atomic_load(&ranks->is_off) && group->asked + 1 == number;
    if (is_next) group->asked = group->gone = number;
    pthread_mutex_unlock(&ranks->state);
    return is_next;
}

static keel_status_t peek(const ranks_t *ranks, const char *key, char *out, size_t size) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 16);
    keel_status_t status = letters_peek(&ranks->letters, key, &text);
    snprintf(out, size, "%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

// Another process waits for this one, which has gone on.
static void go_on(ranks_t *ranks, group_t *group, uint64_t number, uint32_t asking) {
    char key[KEEL_MEET_KEY], letter[1024], going[64];
    const ranks_ask_t none = {.name = "", .process = ranks->process};
    const meeting_t meeting = {.ranks = ranks, .ask = &none, .group = group, .number = number};
    said_t said = {.goes = false};
    if (!take_this_number(ranks, group, number)) return;
    name_own(ranks, group, number, key);
    if (!group->is_first) {
        keel_status_ignore(put_text(ranks, key, "goes"));
        return;
    }
    name_ask(group, number, asking, key);
    keel_status_t status = peek(ranks, key, letter, sizeof letter);
    if (status || !read_said(letter, &said) || said.goes) {
        keel_status_ignore(status);
        return;
    }
    snprintf(going, sizeof going, "process %u, which goes on", ranks->process);
    pthread_mutex_lock(&ranks->lock);
    status = part(&meeting, asking, &said, going);
    pthread_mutex_unlock(&ranks->lock);
    keel_status_ignore(status);
}

// The message, once the first process has put it.
static void look_for_why(ranks_t *ranks, const group_t *group) {
    char key[KEEL_MEET_KEY], message[4096];
    name_letter(group, group->gone, "why", key);
    keel_status_t status = peek(ranks, key, message, sizeof message);
    if (!status && *message) stop_for_good(ranks, message);
    keel_status_ignore(status);
}

static bool look_at(ranks_t *ranks, group_t *group) {
    char key[KEEL_MEET_KEY], text[NAME_MOST + 64];
    unsigned process;
    unsigned long long executions;
    pthread_mutex_lock(&ranks->state);
    uint64_t next = group->asked + 1, gone = group->gone;
    pthread_mutex_unlock(&ranks->state);
    if (gone) {
        look_for_why(ranks, group);
        return true;
    }
    name_letter(group, next, "waits", key);
    keel_status_t status = peek(ranks, key, text, sizeof text);
    bool is_absent = keel_status_code(status) == KEEL_NOT_FOUND;
    keel_status_ignore(status);
    if (status) return is_absent;
    uint64_t own = position(ranks, group);
    if (sscanf(text, "waits %u %llu", &process, &executions) == 2 && own > executions &&
        own != UINT64_MAX)
        go_on(ranks, group, next, process);
    return true;
}

// What the watch does.
static bool look(void *context) {
    ranks_t *ranks = context;
    pthread_mutex_lock(&ranks->state);
    bool goes_on = !atomic_load(&ranks->is_off);
    group_t *group = ranks->groups;
    pthread_mutex_unlock(&ranks->state);
    for (; group && goes_on; group = group->next)
        goes_on = look_at(ranks, group);
    keel_status_t stopped = check_stopped(ranks);
    if (!stopped) return goes_on;
    keel_log("%s", keel_status_message(stopped));
    keel_status_ignore(stopped);
    return false;
}

// ---- the first process, all together -----------------------------------------------------------

// False if the process is off, or does not come.
static bool gather(const meeting_t *meeting, size_t which) {
    const ranks_ask_t *ask = meeting->ask;
    char key[KEEL_MEET_KEY];
    keel_buffer_t letter;
    keel_buffer_initialize(&letter, 1 << 12);
    name_ask(meeting->group, meeting->number, ask->members[which], key);
    bool came = await_letter(meeting, ask->members[which], key, &letter);
    const char *text = keel_buffer_cstr(&letter), *why = after(text, "off ");
    if (came && !read_said(text, &meeting->said[which])) {
        turn_off(meeting->ranks, why ? why : "a process writes what this version cannot read");
        came = false;
    }
    keel_buffer_deinitialize(&letter);
    return came;
}

static keel_status_t lead(const meeting_t *meeting) {
    const ranks_ask_t *ask = meeting->ask;
    for (size_t i = 0; i < ask->member_count; ++i) {
        if (gather(meeting, i)) continue;
        say_off(meeting);
        return NULL;
    }
    for (size_t i = 0; i < ask->member_count; ++i)
        if (meeting->said[i].goes) return part_gathered(meeting, i);
    size_t usual = find_usual(meeting);
    const size_t pair[2] = {usual, find_other(meeting, usual)};
    if (pair[1] < ask->member_count) return disagree(meeting, pair);
    keel_status_t status = say(meeting, "said", "same");
    if (!status) return NULL;
    turn_off_for(meeting->ranks, status);
    say_off(meeting);
    return NULL;
}

// ---- the others --------------------------------------------------------------------------------

static keel_status_t stop(const meeting_t *meeting, const char *said) {
    unsigned processes[2] = {0};
    char key[KEEL_MEET_KEY];
    ranks_t *ranks = meeting->ranks;
    const char *line = strchr(said, '\n');
    uint64_t until = keel_clock_monotonic() + (DIFFER_WITHIN + 1) * 1000000000ull;
    keel_status_t status = NULL;
    bool is_read = line && sscanf(said, "%u %u", &processes[0], &processes[1]) == 2;
    uint32_t own = meeting->ask->process;
    if (is_read && (own == processes[0] || own == processes[1])) {
        differ_side_t side = side_of(meeting, own, key);
        status = differ_give(&ranks->letters, &side);
    }
    keel_status_ignore(status);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 15);
    name_letter(meeting->group, meeting->number, "why", key);
    status = letters_get(&ranks->letters, meeting->ask->members[0], key, until, &text);
    if (status && line) keel_buffer_text(&text, line + 1);
    keel_status_ignore(status);
    status = refusal(&text);
    if (is_read && processes[0] == processes[1]) stop_for_good(ranks, keel_status_message(status));
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t follow(const meeting_t *meeting) {
    char key[KEEL_MEET_KEY];
    keel_status_t status = NULL;
    keel_buffer_t letter;
    keel_buffer_initialize(&letter, 1 << 16);
    name_letter(meeting->group, meeting->number, "said", key);
    if (await_letter(meeting, meeting->ask->members[0], key, &letter)) {
        const char *text = keel_buffer_cstr(&letter);
        const char *why = after(text, "off "), *differs = after(text, "differ ");
        if (differs)
            status = stop(meeting, differs);
        else if (strcmp(text, "same") != 0)
            turn_off(meeting->ranks, why ? why : "a process writes what this version cannot read");
    }
    keel_buffer_deinitialize(&letter);
    return status;
}

// ---- one program -------------------------------------------------------------------------------

static keel_status_t find_group(ranks_t *ranks, const ranks_ask_t *ask, group_t **out) {
    char name[KEEL_DIGEST_HEX];
    keel_digest_t digest =
        keel_digest(keel_bytes(ask->members, ask->member_count * sizeof *ask->members));
    keel_digest_hex(&digest, name);
    pthread_mutex_lock(&ranks->state);
    group_t *group = ranks->groups;
    if (!group) ranks->process = ask->process;
    while (group && strncmp(group->name, name, sizeof group->name - 1) != 0)
        group = group->next;
    void *memory = group;
    keel_status_t status = group ? NULL : keel_calloc(1, sizeof *group, &memory);
    if (!group && !status) {
        group = memory;
        snprintf(group->name, sizeof group->name, "%.16s", name);
        group->is_first = ask->members[0] == ask->process;
        group->next = ranks->groups;
        ranks->groups = group;
    }
    pthread_mutex_unlock(&ranks->state);
    *out = group;
    return status;
}

static keel_digest_t agreement(const group_t *group, const ranks_ask_t *ask) {
    char text[128];
    snprintf(text, sizeof text, "%s %s %s", group->name, ask->fingerprint, ask->options);
    return keel_digest(keel_str_bytes(keel_str(text)));
}

static bool has_agreed(ranks_t *ranks, const keel_digest_t *what) {
    pthread_mutex_lock(&ranks->state);
    bool has = keel_map_find(&ranks->agreed, keel_bytes(what, sizeof *what));
    pthread_mutex_unlock(&ranks->state);
    return has;
}

// Under `state`. The program's executions count for the group.
static keel_status_t count_for(ranks_t *ranks, group_t *group, const ranks_ask_t *ask) {
    keel_bytes_t digest = keel_bytes(ask->digest.bytes, sizeof ask->digest.bytes);
    const uint64_t *counts = keel_map_find(&ranks->counted, digest);
    void *grown = group->programs;
    if (counts && *counts != (uintptr_t)group) ranks->is_ambiguous = true;
    if (counts) return NULL;
    KEEL_TRY(keel_map_put(&ranks->counted, digest, (uintptr_t)group));
    KEEL_TRY(keel_grow_array(group->program_count, sizeof *group->programs,
                             &group->program_capacity, &grown));
    group->programs = grown;
    agreed_t *agreed = &group->programs[group->program_count++];
    agreed->digest = ask->digest;
    snprintf(agreed->name, sizeof agreed->name, "%s", ask->name);
    return NULL;
}

static keel_status_t note_agreement(ranks_t *ranks, group_t *group, const ranks_ask_t *ask,
                                    const keel_digest_t *what) {
    pthread_mutex_lock(&ranks->state);
    keel_status_t status = count_for(ranks, group, ask);
    if (!status) status = keel_map_put(&ranks->agreed, keel_bytes(what, sizeof *what), 1);
    pthread_mutex_unlock(&ranks->state);
    return status;
}

// False if this process is off: another thread may just have said so.
static bool take_number(meeting_t *meeting) {
    ranks_t *ranks = meeting->ranks;
    pthread_mutex_lock(&ranks->state);
    bool is_off = atomic_load(&ranks->is_off);
    if (!is_off) meeting->number = ++meeting->group->asked;
    pthread_mutex_unlock(&ranks->state);
    return !is_off;
}

// The place and memory for it.
static keel_status_t prepare(meeting_t *meeting) {
    void *memory;
    if (!meeting->ranks->letters.meet) KEEL_TRY(open_place(meeting->ranks));
    KEEL_TRY(keel_calloc(meeting->ask->member_count, sizeof *meeting->said, &memory));
    meeting->said = memory;
    return NULL;
}

// Under the lock.
static keel_status_t compare(ranks_t *ranks, group_t *group, const ranks_ask_t *ask) {
    meeting_t meeting = {.ranks = ranks, .ask = ask, .group = group};
    char key[KEEL_MEET_KEY];
    keel_status_t verdict = NULL, status = prepare(&meeting);
    bool has_number = !status && take_number(&meeting);
    if (has_number) status = put_ask(&meeting);
    if (status) turn_off_for(ranks, status);
    if (has_number && status) {
        name_own(ranks, group, meeting.number, key);
        put_off(ranks, key);
    } else if (has_number) {
        verdict = group->is_first ? lead(&meeting) : follow(&meeting);
    }
    keel_free(meeting.said);
    return verdict;
}

static bool is_other_thread(ranks_t *ranks) {
    if (!ranks->has_thread) ranks->thread = pthread_self();
    ranks->has_thread = true;
    return !pthread_equal(ranks->thread, pthread_self());
}

static keel_status_t check(ranks_t *ranks, group_t *group, const ranks_ask_t *ask) {
    keel_status_t verdict = NULL;
    if (atomic_exchange(&ranks->is_asked, true)) {
        turn_off(ranks, second_thread);
        return NULL;
    }
    pthread_mutex_lock(&ranks->lock);
    if (is_other_thread(ranks))
        turn_off(ranks, second_thread);
    else
        verdict = compare(ranks, group, ask);
    pthread_mutex_unlock(&ranks->lock);
    atomic_store(&ranks->is_asked, false);
    return verdict;
}

static bool is_member(const ranks_ask_t *ask) {
    for (size_t i = 0; i < ask->member_count; ++i)
        if (ask->members[i] == ask->process) return true;
    return false;
}

keel_status_t ranks_check(ranks_t *ranks, const ranks_ask_t *ask) {
    group_t *group = NULL;
    if (ask->member_count < 2 || !is_member(ask)) return NULL;
    if (ask->members[ask->member_count - 1] >= LETTERS_PROCESSES) {
        turn_off(ranks, "there are more than 4096");
        return NULL;
    }
    keel_status_t status = find_group(ranks, ask, &group);
    if (status) {
        turn_off_for(ranks, status);
        return NULL;
    }
    keel_digest_t what = agreement(group, ask);
    if (has_agreed(ranks, &what)) return NULL;
    KEEL_TRY(check_stopped(ranks));
    if (!atomic_load(&ranks->is_off)) KEEL_TRY(check(ranks, group, ask));
    if (atomic_load(&ranks->is_off)) {
        tell_off(ranks, group);
        return NULL;
    }
    status = note_agreement(ranks, group, ask, &what);
    if (status) turn_off_for(ranks, status);
    if (!ranks->watch.look) watch_start(&ranks->watch, look, ranks);
    return NULL;
}
