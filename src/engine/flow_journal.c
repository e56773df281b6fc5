#include "engine/flow_journal.h"
#include "engine/flow.h"
#include "engine/transfers.h"

void flow_journal(keel_engine_t *engine) {
    keel_journal_read_t *reads = NULL;
    size_t read_count = 0;
    pieces_report_t pieces = {0};
    keel_journal_transfers_t event = {0};
    transfers_collect(engine, &event.to_device, &event.from_device);
    // What fails here is in the next event.
    keel_status_ignore(sites_collect(engine->sites, &reads, &read_count));
    keel_status_ignore(flow_report(engine, &pieces));
    event.reads = reads;
    event.read_count = read_count;
    event.pieces = pieces.list;
    event.piece_count = pieces.count;
    event.cut_steps = pieces.cut_steps;
    event.cut_pieces = pieces.cut_pieces;
    // The data of a read may arrive after the event that counted it.
    bool any = event.to_device.count || event.from_device.count || event.from_device.seconds > 0 ||
               event.piece_count || event.cut_steps;
    if (any) keel_journal_transfers(engine->journal, &event);
    keel_free(reads);
    keel_free(pieces.list);
}
