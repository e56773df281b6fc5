// The part of the flow that goes to the journal.
#include "engine/flow_journal.h"
#include "engine/flow.h"
#include "engine/transfers.h"

static double seconds(uint64_t nanoseconds) {
    return keel_seconds(nanoseconds);
}

// The growth of a counter since the last time.
static keel_journal_transfer_t fresh(const transfer_count_t *now, transfer_count_t *reported) {
    keel_journal_transfer_t transfer = {.count = now->count - reported->count,
                                        .bytes = now->bytes - reported->bytes,
                                        .seconds =
                                            seconds(now->nanoseconds - reported->nanoseconds)};
    *reported = *now;
    return transfer;
}

static size_t gather_reads(sites_t *sites, keel_journal_read_t *out) {
    size_t count = 0;
    for (site_t *site = sites->first; site; site = site->next) {
        transfer_count_t now = transfer_counter_load(&site->reads);
        if (now.count == site->reported.count && now.nanoseconds == site->reported.nanoseconds)
            continue;
        out[count++] = (keel_journal_read_t){.site = engine_site(&site->place),
                                             .transfer = fresh(&now, &site->reported)};
    }
    return count;
}

static keel_journal_piece_t piece_of(flow_piece_t *piece) {
    keel_journal_piece_t fresh = {.program = &piece->program->program,
                                  .site = engine_site(&piece->site->place),
                                  .rest = piece->rest ? &piece->rest->program : NULL,
                                  .forced = piece->forced - piece->forced_reported,
                                  .sampled = piece->sampled,
                                  .shared = piece->shared,
                                  .pieces = piece->in_step};
    piece->forced_reported = piece->forced;
    piece->sampled_reported = piece->sampled;
    piece->in_step_reported = piece->in_step;
    return fresh;
}

// `out` may be NULL: then only counts.
static size_t gather_pieces(const counters_t *counters, keel_journal_piece_t *out) {
    size_t count = 0;
    for (counter_t *counter = counters->first; counter; counter = counter->next) {
        for (flow_piece_t *piece = counter->flow.pieces; piece; piece = piece->next) {
            bool is_told = piece->forced == piece->forced_reported &&
                           piece->sampled == piece->sampled_reported &&
                           piece->in_step == piece->in_step_reported;
            if (is_told) continue;
            if (out) out[count] = piece_of(piece);
            ++count;
        }
    }
    return count;
}

typedef struct lists_t {
    keel_journal_read_t *reads;
    keel_journal_piece_t *pieces;
} lists_t;

static keel_status_t make_lists(const sites_t *sites, const counters_t *counters, lists_t *out) {
    void *memory;
    KEEL_TRY(keel_calloc(sites->by_line.count, sizeof *out->reads, &memory));
    out->reads = memory;
    KEEL_TRY(keel_calloc(gather_pieces(counters, NULL), sizeof *out->pieces, &memory));
    out->pieces = memory;
    return NULL;
}

// Under all three locks. The event borrows from the lists and from the lines, which are never
// freed.
static keel_status_t gather(keel_engine_t *engine, lists_t *lists,
                            keel_journal_transfers_t *event) {
    flow_t *flow = engine->flow;
    KEEL_TRY(make_lists(engine->sites, engine->counters, lists));
    transfers_totals_t now;
    transfers_totals(engine, &now);
    event->to_device = fresh(&now.to_device, &flow->to_device_reported);
    event->from_device = fresh(&now.from_device, &flow->from_device_reported);
    event->reads = lists->reads;
    event->read_count = gather_reads(engine->sites, lists->reads);
    event->pieces = lists->pieces;
    event->piece_count = gather_pieces(engine->counters, lists->pieces);
    event->cut_steps = flow->cut_steps - flow->cut_steps_reported;
    event->cut_pieces = flow->pieces - flow->pieces_reported;
    flow->cut_steps_reported = flow->cut_steps;
    flow->pieces_reported = flow->pieces;
    return NULL;
}

void flow_journal_steps(keel_engine_t *engine) {
    flow_t *flow = engine->flow;
    transfers_totals_t now;
    transfers_totals(engine, &now);
    pthread_mutex_lock(&flow->lock);
    uint64_t count = now.steps - flow->steps_reported;
    flow->steps_reported = now.steps;
    pthread_mutex_unlock(&flow->lock);
    if (count) keel_journal_step(engine->journal, count);
}

void flow_journal(keel_engine_t *engine) {
    lists_t lists = {0};
    keel_journal_transfers_t event = {0};
    flow_journal_steps(engine);
    pthread_mutex_lock(&engine->counters->lock);
    pthread_mutex_lock(&engine->sites->lock);
    pthread_mutex_lock(&engine->flow->lock);
    keel_status_t status = gather(engine, &lists, &event);
    pthread_mutex_unlock(&engine->flow->lock);
    pthread_mutex_unlock(&engine->sites->lock);
    pthread_mutex_unlock(&engine->counters->lock);
    bool any =
        event.to_device.count || event.from_device.count || event.piece_count || event.cut_steps;
    if (!status && any) keel_journal_transfers(engine->journal, &event);
    keel_free(lists.reads);
    keel_free(lists.pieces);
    keel_status_ignore(status); // the next event has what this one lacks
}
