#include "cli/cli.h"
#include "text/topics.h"

static const char details[] =
    "CAUSE is a word from `keel why`. Its page says what it looks like, how it happens in JAX\n"
    "and in PyTorch/XLA, what to do, what it costs, and how to check that it is gone. Without\n"
    "CAUSE, lists all causes.\n";

static int unknown(const char *word) {
    const char *nearest = keel_topic_nearest(word);
    if (nearest)
        cli_say("explain: %s: no such cause; did you mean %s? run `keel explain` for a list", word,
                nearest);
    else
        cli_say("explain: %s: no such cause; run `keel explain` for a list", word);
    return CLI_USAGE;
}

int cli_explain(cli_call_t *call) {
    bool json = false;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON: a list of causes; with CAUSE, its page too", &json);
    if (!cli_parse(call, 0, 1, &code)) return code;
    const char *word = call->rest[0];
    const keel_topic_t *page = word ? keel_topic_by_word(word) : NULL;
    if (word && !page) return unknown(word);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (json)
        keel_topic_json(page, &out);
    else if (page)
        keel_topic_text(page, cli_width(stdout), cli_is_colored(stdout), &out);
    else
        keel_topic_list(&out);
    return cli_answer(&out);
}
