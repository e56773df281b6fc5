#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "enforce/ranks_core.h"

// ---- its life
// -------------------------------------------------------------------------------------

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

// ---- the meeting place
// ----------------------------------------------------------------------------

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

// ---- one program
// ----------------------------------------------------------------------------------

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
    if (has_number) status = ranks_put_ask(&meeting);
    if (status) ranks_turn_off_for(ranks, status);
    if (has_number && status) {
        ranks_name_own(ranks, group, meeting.number, key);
        ranks_put_off(ranks, key);
    } else if (has_number) {
        verdict = group->is_first ? ranks_lead(&meeting) : ranks_follow(&meeting);
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
        ranks_turn_off(ranks, RANKS_SECOND_THREAD);
        return NULL;
    }
    pthread_mutex_lock(&ranks->lock);
    if (is_other_thread(ranks))
        ranks_turn_off(ranks, RANKS_SECOND_THREAD);
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
        ranks_turn_off(ranks, "there are more than 4096");
        return NULL;
    }
    keel_status_t status = find_group(ranks, ask, &group);
    if (status) {
        ranks_turn_off_for(ranks, status);
        return NULL;
    }
    keel_digest_t what = agreement(group, ask);
    if (has_agreed(ranks, &what)) return NULL;
    KEEL_TRY(ranks_check_stopped(ranks, group));
    if (!atomic_load(&ranks->is_off)) KEEL_TRY(check(ranks, group, ask));
    if (atomic_load(&ranks->is_off)) {
        ranks_tell_off(ranks, group);
        return NULL;
    }
    status = note_agreement(ranks, group, ask, &what);
    if (status) ranks_turn_off_for(ranks, status);
    // Each look is a request to the meeting place, by each process.
    uint64_t interval = 1 + ask->member_count / 200;
    if (!ranks->watch.look) watch_start(&ranks->watch, interval * 1000000000ull, ranks_look, ranks);
    return NULL;
}
