#define _GNU_SOURCE
#include "enforce/ranks_core.h"

#include <stdio.h>

void ranks_name_letter(const group_t *group, uint64_t number, const char *what,
                       char out[KEEL_MEET_KEY]) {
    snprintf(out, KEEL_MEET_KEY, "%s-%llu-%s", group->name, (unsigned long long)number, what);
}

void ranks_name_ask(const group_t *group, uint64_t number, uint32_t process,
                    char out[KEEL_MEET_KEY]) {
    char text[16];
    snprintf(text, sizeof text, "%u", process);
    ranks_name_letter(group, number, text, out);
}

keel_status_t ranks_put_text(const ranks_t *ranks, const char *key, const char *text) {
    return letters_put(&ranks->letters, key, keel_str_bytes(keel_str(text)));
}

void ranks_name_own(const ranks_t *ranks, const group_t *group, uint64_t number,
                    char out[KEEL_MEET_KEY]) {
    if (group->is_first)
        ranks_name_letter(group, number, "said", out);
    else
        ranks_name_ask(group, number, ranks->process, out);
}

void ranks_put_off(ranks_t *ranks, const char *key) {
    char text[WHY_MOST + 8];
    pthread_mutex_lock(&ranks->state);
    snprintf(text, sizeof text, "off %s", ranks->why);
    bool is_broken = ranks->is_broken;
    pthread_mutex_unlock(&ranks->state);
    keel_status_t status = is_broken ? NULL : ranks_put_text(ranks, key, text);
    if (!status) return;
    keel_status_ignore(status); // they wait until they give up
    pthread_mutex_lock(&ranks->state);
    ranks->is_broken = true;
    pthread_mutex_unlock(&ranks->state);
}

void ranks_tell_off(ranks_t *ranks, group_t *group) {
    char key[KEEL_MEET_KEY];
    pthread_mutex_lock(&ranks->state);
    bool tells = ranks->is_open && !ranks->is_broken && !group->knows_off;
    if (tells) group->knows_off = true;
    uint64_t number = tells ? ++group->asked : 0;
    pthread_mutex_unlock(&ranks->state);
    if (!tells) return;
    ranks_name_own(ranks, group, number, key);
    ranks_put_off(ranks, key);
}

void ranks_turn_off(ranks_t *ranks, const char *why) {
    pthread_mutex_lock(&ranks->state);
    bool was_off = atomic_load(&ranks->is_off);
    group_t *groups = ranks->groups;
    if (!was_off) snprintf(ranks->why, sizeof ranks->why, "%s", why);
    atomic_store(&ranks->is_off, true);
    pthread_mutex_unlock(&ranks->state);
    if (was_off) return;
    keel_log_line("the programs of the processes are not compared: %s", why);
    for (group_t *group = groups; group; group = group->next)
        ranks_tell_off(ranks, group);
}

void ranks_turn_off_for(ranks_t *ranks, keel_status_t status) {
    ranks_turn_off(ranks, keel_status_message(status));
    keel_status_ignore(status);
}

void ranks_leave(ranks_t *ranks, const char *name) {
    char why[WHY_MOST];
    snprintf(why, sizeof why, "%s was loaded from elsewhere, which others may have traced", name);
    ranks_turn_off(ranks, why);
}
