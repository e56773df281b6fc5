#include <stdlib.h>

#include "why/internal.h"

static size_t root_count(const keel_why_entry_t *entry) {
    return keel_why_is_shown(entry) ? entry->root_count : 0;
}

size_t keel_why_share_count(const keel_why_entry_t *entry) {
    return root_count(entry) ? root_count(entry) : 1;
}

keel_why_share_t keel_why_share(const keel_why_entry_t *entry, size_t index) {
    keel_why_share_t share = {KEEL_CAUSE_FIRST, &entry->asked->site, entry->asked->took};
    share.took.seconds /= (double)keel_why_share_count(entry);
    if (index >= root_count(entry)) return share;
    share.kind = entry->roots[index].kind;
    if (*entry->roots[index].place.file) share.place = &entry->roots[index].place;
    return share;
}

// ---- the questions -----------------------------------------------------------------------------

// The optimizer's own state is not an input from the user.
static keel_question_t question_of(const keel_run_difference_t *root) {
    if (keel_note_leads(root->note, KEEL_NOTE_STATE_MADE)) return KEEL_QUESTION_NONE;
    return keel_cause_facts(root->kind)->question;
}

// Several shares of one entry count once.
static void add_share(keel_took_t *sum, const keel_took_t *share, bool is_counted) {
    sum->seconds += share->seconds;
    if (is_counted) return;
    sum->times += share->times;
    sum->unknown += share->unknown;
}

static void answer_questions(keel_why_t *why, const keel_why_entry_t *entry) {
    bool met[KEEL_QUESTION_NONE] = {false};
    for (size_t i = 0; i < entry->root_count; ++i) {
        keel_why_share_t share = keel_why_share(entry, i);
        keel_question_t question = question_of(&entry->roots[i]);
        if (question == KEEL_QUESTION_NONE) continue;
        add_share(&why->questions[question], &share.took, met[question]);
        met[question] = true;
    }
}

// ---- the ledgers -------------------------------------------------------------------------------

typedef struct ledger_t {
    keel_why_cost_t *costs;
    size_t count;
    size_t *last; // the entry, from 1, that each cost was last added for; 0: none
    keel_map_t index;
} ledger_t;

// `entry`: from 1.
static keel_status_t add_cost(ledger_t *ledger, keel_bytes_t name, const keel_why_cost_t *fresh,
                              const keel_took_t *share, size_t entry, uint64_t ops) {
    const uint64_t *known = keel_map_find(&ledger->index, name);
    size_t at = known ? (size_t)*known : ledger->count;
    if (!known) {
        void *grown = ledger->costs;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *ledger->costs, &grown));
        ledger->costs = grown;
        grown = ledger->last;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *ledger->last, &grown));
        ledger->last = grown;
        ledger->costs[at] = *fresh;
        ledger->last[at] = 0;
        ++ledger->count;
        KEEL_TRY(keel_map_put(&ledger->index, name, at));
    }
    bool is_counted = ledger->last[at] == entry;
    add_share(&ledger->costs[at].took, share, is_counted);
    ledger->costs[at].ops += is_counted ? 0 : ops;
    ledger->last[at] = entry;
    return NULL;
}

typedef struct ledgers_t {
    ledger_t by_cause, by_line, retraced;
} ledgers_t;

static keel_status_t enter_share(ledgers_t *ledgers, const keel_why_share_t *share, size_t entry,
                                 const keel_run_entry_t *asked) {
    static const keel_run_place_t nowhere = {
        .file = "", .shown = "", .function = "", .call_file = "", .call_shown = ""};
    keel_why_cost_t cause = {.kind = share->kind, .place = nowhere},
                    line = {.kind = share->kind, .place = *share->place};
    keel_bytes_t place = keel_str_bytes(keel_str(share->place->shown));
    KEEL_TRY(add_cost(&ledgers->by_cause, keel_bytes(&share->kind, sizeof share->kind), &cause,
                      &share->took, entry, asked->ops));
    if (keel_run_is_retrace(asked))
        KEEL_TRY(add_cost(&ledgers->retraced, place, &line, &share->took, entry, asked->ops));
    return add_cost(&ledgers->by_line, place, &line, &share->took, entry, asked->ops);
}

static keel_status_t enter_costs(keel_why_t *why, ledgers_t *ledgers) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (!keel_why_is_shown(entry) || entry->asked->is_refused) continue;
        for (size_t j = 0; j < keel_why_share_count(entry); ++j) {
            keel_why_share_t share = keel_why_share(entry, j);
            KEEL_TRY(enter_share(ledgers, &share, i + 1, entry->asked));
        }
    }
    return NULL;
}

static int dearest(const void *a, const void *b) {
    const keel_why_cost_t *x = a, *y = b;
    if (x->took.seconds != y->took.seconds) return x->took.seconds < y->took.seconds ? 1 : -1;
    if (x->took.times != y->took.times) return x->took.times < y->took.times ? 1 : -1;
    int order = keel_took_order(&x->took, x->ops, &y->took, y->ops);
    if (order) return order;
    order = strcmp(x->place.shown, y->place.shown);
    return order ? order : (int)x->kind - (int)y->kind;
}

static void close_ledger(ledger_t *ledger, keel_why_cost_t **out, size_t *out_count) {
    if (ledger->count) qsort(ledger->costs, ledger->count, sizeof *ledger->costs, dearest);
    keel_map_deinitialize(&ledger->index);
    keel_free(ledger->last);
    *out = ledger->costs;
    *out_count = ledger->count;
}

static void count_shown(keel_why_t *why, const keel_why_entry_t *entry) {
    if (entry->asked->is_refused) {
        ++why->refused;
        return;
    }
    keel_took_t *sum = keel_run_is_retrace(entry->asked) ? &why->retraces
                       : entry->recompile                ? &why->again
                                                         : &why->known;
    keel_took_add(sum, &entry->asked->took);
    keel_took_add(&why->shown, &entry->asked->took);
}

keel_status_t keel_why_sum_up(keel_why_t *why) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (!keel_why_is_shown(entry)) continue;
        count_shown(why, entry);
        answer_questions(why, entry);
    }
    ledgers_t ledgers = {0};
    keel_map_initialize(&ledgers.by_cause.index);
    keel_map_initialize(&ledgers.by_line.index);
    keel_map_initialize(&ledgers.retraced.index);
    keel_status_t status = enter_costs(why, &ledgers);
    close_ledger(&ledgers.by_cause, &why->by_cause, &why->by_cause_count);
    close_ledger(&ledgers.by_line, &why->by_line, &why->by_line_count);
    close_ledger(&ledgers.retraced, &why->retraced, &why->retraced_count);
    return status;
}
