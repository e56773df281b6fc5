// Recompiles that follow from host reads: the source shows which constants come from one.
#define _GNU_SOURCE
#include "place.h"

#include <zstd.h>

#include "text/text.h"

// Text of the file, the line that reads, the line of the constant, whether that comes from it.
static const struct {
    const char *text;
    unsigned read, used, asked;
    bool follows;
} sources[] = {
    {"at = int(t)\ny = x[at:at + 4]\n", 1, 2, 9, true},
    {"at = int(t)\ny = x[step]\n", 1, 2, 9, false},
    {"at = int(t)\nend = at + 4\ny = x[2:end]\n", 1, 3, 9, true},
    {"self.at, n = t.tolist()\n\ny = x[self.at]\n", 1, 3, 9, true},
    {"self.at = t.item()\ny = x[self.step]\n", 1, 2, 9, false},
    {"for i in t.tolist():\n    y = x[i]\n", 1, 2, 9, true},
    {"n: int = t.item()\ny = f(x, k=n)\n", 1, 2, 9, true},
    {"if t.item() == step:\n    y = x[step]\n", 1, 2, 9, false},
    {"print(t.item())\ny = x[step]\n", 1, 2, 9, false},
    {"loss = t.item()\nlosses = x[step]\n", 1, 2, 9, false}, // another word
    {"at = int(t)\ny = x[ata]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[atz]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[atA]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[atZ]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[at0]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[at9]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[at_]\n", 1, 2, 9, false},
    {"at = int(t)\ny = x[zat]\n", 1, 2, 9, false},
    {"zAZ_09 = int(t)\ny = x[zAZ_09]\n", 1, 2, 9, true},
    {"y = x[t]\nfor i in r:\n    y = x[step]\n", 1, 3, 9, false}, // assigned anew
    {"n = t.item()\nn += 1\ny = x[n]\n", 1, 3, 9, true},
    {"out[:, step] = t.item()\ny = x[step]\n", 1, 2, 9, false}, // an index is not assigned
    {"out[step], at = t.tolist()\ny = x[at]\n", 1, 2, 9, true},
    {"[n, k] = t.tolist()\ny = x[k]\n", 1, 2, 9, true},
    {"y = x[t]\n", 1, 1, 9, true},                  // t is a tensor without dimensions
    {"print((x * step).item())\n", 1, 1, 1, false}, // what is read had it before
    {"n = t.item()\ny = x[step] # of n\n", 1, 2, 9, false},
    {"n = t.item()\ny = f('n', x[step])\n", 1, 2, 9, false},
    {"n = t.item()\ny = f(x[step], n=3)\n", 1, 2, 9, false}, // the name of an argument
    {"step = t.item()\ny = x[opt.step]\n", 1, 2, 9, false},  // an attribute
    {"n = t.item()\nn = 3\ny = x[n]\n", 1, 3, 9, false},
    {"n = t.item()\nif k:\n    n = 3\ny = x[n]\n", 1, 4, 9, true},
    {"k = step; n = t.item()\ny = x[k]\n", 1, 2, 9, false},
    {"k = step; n = t.item()\ny = x[n]\n", 1, 2, 9, true},
    {"n = t.item(); y = x[step]\n", 1, 1, 9, false},
    {"n = t.item(); y = x[n]\n", 1, 1, 9, true},
    {"n = t.item(); m = n + 1; y = x[m]\n", 1, 1, 9, true},
    {"if k: n = t.item()\ny = x[n]\n", 1, 2, 9, true},
    {"x = n / t.item()\ny = x[step]\n", 1, 2, 9, false}, // what is sliced is not an index
    {"n = t.max().item()\ny = t / n\nz = f(y[step:])\n", 1, 3, 9, false}, // y is a tensor
    {"n = t.max().item()\nk = t.shape[0] - n\nz = y[k:]\n", 1, 3, 9, true},
    {"n = t.max().item()\ny, k = t / n, n\nz = y[k:]\n", 1, 3, 9, true},
    {"for i in t.tolist():\n    for j in range(i):\n        y = x[j]\n", 1, 3, 9, true},
    {"def f():\n    n = t.item()\ndef g():\n    y = x[n]\n", 2, 4, 9, false},
    {"def f():\n    n = t.item()\ny = x[n]\n", 2, 3, 9, false}, // no longer in the function
    {"def f():\n    n = t.item()\n    y = x[n]\n", 2, 3, 9, true},
};

// A read in a function: the line that reads, the line that called it, the line of the constant.
static const struct {
    const char *text, *function, *subject;
    unsigned read, call, used;
    bool follows;
} calls[] = {
    {"def f(t):\n    return int(t)\nn = f(t)\ny = x[n]\n", "f", "slice start", 2, 3, 4, true},
    {"def f(t): return int(t)\nn = f(t)\ny = x[n]\n", "f", "slice start", 1, 2, 3, true},
    {"def f(t):\n    return int(t)\ny = x[f(t)]\n", "f", "slice start", 2, 3, 3, true},
    {"def f(t):\n    k = int(t)\n    n = k + 1\n    return x, n\ny, n = f(t)\nz = y[n]\n", "f",
     "slice start", 2, 5, 6, true},
    {"def f(t):\n    k = int(t)\n    return dict(\n        k=k)\nn = f(t)\nz = y[n.k]\n", "f",
     "slice start", 2, 5, 6, true},
    {"def f(t):\n    return dict(\n        k=int(t))\nn = f(t)\nz = y[n.k]\n", "f", "slice start",
     3, 4, 5, true},
    {"def f(ts):\n    for t in ts:\n        yield int(t)\nfor n in f(ts):\n    z = y[n]\n", "f",
     "slice start", 3, 4, 5, true},
    {"f = lambda t: int(t)\nn = f(t)\ny = x[n]\n", "<lambda>", "slice start", 1, 2, 3, true},
    {"class N:\n    def forward(self, x):\n        out = self.l(x)\n"
     "        self.norms.append(out.norm().item())\n        return out\n"
     "y = m(x)\nz = y.pow(2) ** (1 + i)\n",
     "N.forward", "power", 4, 6, 7, false},
    {"def f(t):\n    n = t.item()\n    return t\nz = f(t) ** i\n", "f", "power", 2, 4, 4, false},
    {"def f(t):\n    n = t.item()\ndef g(n):\n    return n\ny = f(t)\nz = x[y]\n", "f",
     "slice start", 2, 5, 6, false},
    {"def f(t):\n    return t / t.item()\ny = f(t)\nz = y.pow(2) ** (1 + i)\n", "f", "power", 2, 3,
     4, false},
    {"def f(t):\n    return t / t.item()\ny = f(t)\nz = y.pow(i)\n", "f", "power", 2, 3, 4, false},
    {"def f(t):\n    return t.item()\nn = f(t)\nz = y ** n\n", "f", "power", 2, 3, 4, true},
    {"class L:\n    def add(s, t): s.v.append(t.item())\ny = m(x); log.add(y)\nz = y[k:]\n",
     "L.add", "slice start", 2, 3, 4, false},
    {"def f(t):\n    n = t.max().item()\n    return t / n\ny = f(t)\nz = (y * i).sum()\n", "f",
     "multiply", 2, 4, 5, false},
    {"def f(t):\n    n = t.max().item()\n    return t / n, n\ny, n = f(t)\nz = (y * n).sum()\n",
     "f", "multiply", 2, 4, 5, true},
    {"def f(t):\n    return t.item()\ny = m(x); n = f(y)\nz = a[y]\n", "f", "slice start", 2, 3, 4,
     false},
};

#define SITE "\"site\":{\"file\":\"%s\",\"line\":%u}"

// Lines that read what a program has.
typedef struct reads_t {
    const char *function;
    unsigned line, call, other; // other: a line that reads as well, listed first
} reads_t;

static void write_read(const reads_t *read, unsigned line, const char *file, char *out,
                       size_t size) {
    char call[400] = "";
    if (read->call)
        snprintf(call, sizeof call, ",\"call_file\":\"%s\",\"call_line\":%u", file, read->call);
    snprintf(out, size,
             "{\"site\":{\"file\":\"%s\",\"line\":%u,\"function\":\"%s\"%s},\"count\":1,"
             "\"bytes\":4,\"seconds\":0.1}",
             file, line, read->function, call);
}

static const char *path_of_journal = "";

// A run that read `text` in that file.
static void parse_reads(const char *name, const char *subject, const char *file, const char *text,
                        const reads_t *read, unsigned used, unsigned asked, keel_why_t *out) {
    char journal[8192], hex[KEEL_DIGEST_HEX], line[1024], other[1024] = "";
    write_read(read, read->line, file, line, sizeof line);
    if (read->other) write_read(read, read->other, file, other, sizeof other);
    keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(text)));
    keel_digest_hex(&digest, hex);
    snprintf(journal, sizeof journal,
             "{\"event\":\"source\",\"t\":9e9,\"pid\":1,\"file\":\"%s\",\"digest\":\"%s\"}\n"
             "{\"event\":\"compile\",\"t\":9e9,\"pid\":1,\"program\":\"aa\",\"name\":\"%s\","
             "\"format\":\"hlo\",\"seconds\":1,\"recompile\":true," SITE "}\n"
             "{\"event\":\"explain\",\"t\":9e9,\"pid\":1,\"program\":\"aa\",\"name\":\"%s\","
             "\"what\":\"compile\",\"seconds\":1,\"recompile\":true,\"root_total\":2,"
             "\"against\":{\"program\":\"bb\",\"is_ours\":true},\"folded_total\":1,"
             "\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"1\",\"new\":\"2\"},"
             "{\"kind\":\"constant\",\"subject\":\"%s\",\"old\":\"3\",\"new\":\"4\","
             "\"file\":\"%s\",\"line\":%u,\"folds\":1}],"
             "\"folded\":[{\"kind\":\"size\",\"subject\":\"pad\",\"follows\":1}]," SITE "}\n"
             "{\"event\":\"transfers\",\"t\":9e9,\"pid\":1,\"from_device\":{\"count\":1},"
             "\"reads\":[%s%s%s]}\n",
             file, hex, name, file, asked, name, subject, file, used, file, asked, other,
             *other ? "," : "", line);
    assert_ok(keel_why_parse(keel_str_bytes(keel_str(journal)), "r", path_of_journal,
                             KEEL_RUN_DETAILS, out));
}

static void parse_named(const char *name, const char *file, const char *text, unsigned read,
                        unsigned used, unsigned asked, keel_why_t *out) {
    parse_reads(name, "slice start", file, text, &(reads_t){"", read, 0, 0}, used, asked, out);
}

static void parse(const char *file, const char *text, unsigned read, unsigned used, unsigned asked,
                  keel_why_t *out) {
    parse_named("S", file, text, read, used, asked, out);
}

static void a_constant_that_was_read_is_folded_under_the_read(void **state) {
    (void)state;
    place_t place;
    char path[300];
    place_make(&place);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
        keel_why_t why;
        snprintf(path, sizeof path, "%s/train%zu.py", place.root, i);
        write_bytes(path, sources[i].text, strlen(sources[i].text));
        parse(path, sources[i].text, sources[i].read, sources[i].used, sources[i].asked, &why);
        const keel_why_entry_t *entry = &why.entries[0];
        const keel_run_difference_t *root = &entry->roots[1];
        assert_int_equal(entry->root_count, 2);
        assert_int_equal(entry->root_total, 2);
        assert_int_equal(entry->roots[0].kind, KEEL_CAUSE_SHAPE);
        bool follows = root->kind == KEEL_CAUSE_HOST_READ;
        if (follows != sources[i].follows) print_message("%s\n", sources[i].text);
        assert_int_equal(follows, sources[i].follows);
        assert_int_equal(entry->folded_total, follows ? 2 : 1);
        assert_int_equal(root->folds, entry->folded_total);
        assert_string_equal(root->subject, "slice start");
        assert_int_equal(root->place.line, follows ? sources[i].read : sources[i].used);
        for (size_t j = 0; j < entry->folded_count; ++j) {
            assert_int_equal(entry->folded[j].follows, 1);
            assert_int_equal(entry->folded[j].folds, 0); // the read has them
        }
        keel_why_deinitialize(&why);
    }
    place_remove(&place);
}

// Constants of lines 4, 5 and 6, of which the first two come from the read in line 1 and the last
// one from that in line 2.
static void each_read_is_a_cause_with_what_follows_from_it(void **state) {
    (void)state;
    static const char text[] = "a = int(t)\nb = int(u)\n\ny = x[a]\nz = x[a]\nw = x[b]\n";
    static const char root[] = "{\"kind\":\"constant\",\"subject\":\"%c\",\"old\":\"3\",\"new\":"
                               "\"4\",\"file\":\"%s\",\"line\":%u}%s";
    place_t place;
    char path[300], hex[KEEL_DIGEST_HEX], journal[4096];
    keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(text)));
    keel_digest_hex(&digest, hex);
    place_make(&place);
    snprintf(path, sizeof path, "%s/train.py", place.root);
    write_bytes(path, text, strlen(text));
    size_t size = (size_t)snprintf(
        journal, sizeof journal,
        "{\"event\":\"source\",\"pid\":1,\"file\":\"%s\",\"digest\":\"%s\"}\n"
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"aa\",\"name\":\"S\",\"format\":\"hlo\","
        "\"seconds\":1,\"recompile\":true}\n"
        "{\"event\":\"transfers\",\"pid\":1,\"from_device\":{\"count\":2},\"reads\":["
        "{" SITE ",\"count\":1,\"bytes\":4,\"seconds\":0.1},"
        "{" SITE ",\"count\":1,\"bytes\":4,\"seconds\":0.1}]}\n"
        "{\"event\":\"explain\",\"pid\":1,\"program\":\"aa\",\"name\":\"S\",\"what\":"
        "\"compile\",\"seconds\":1,\"recompile\":true,\"root_total\":3,\"against\":{\"program\":"
        "\"bb\",\"is_ours\":true},\"roots\":[",
        path, hex, path, 1u, path, 2u);
    for (unsigned i = 0; i < 3; ++i)
        size += (size_t)snprintf(journal + size, sizeof journal - size, root, (char)('p' + i), path,
                                 4 + i, i < 2 ? "," : "]}\n");
    keel_why_t why;
    assert_ok(keel_why_parse(keel_str_bytes(keel_str(journal)), "r", "", KEEL_RUN_DETAILS, &why));
    const keel_why_entry_t *entry = &why.entries[0];
    assert_int_equal(entry->root_count, 2);
    assert_int_equal(entry->root_total, 2);
    assert_int_equal(entry->folded_total, 3);
    for (unsigned i = 0; i < 2; ++i) {
        assert_int_equal(entry->roots[i].kind, KEEL_CAUSE_HOST_READ);
        assert_int_equal(entry->roots[i].place.line, i + 1);
        assert_int_equal(entry->roots[i].folds, 2 - i);
    }
    for (unsigned i = 0; i < 3; ++i)
        assert_int_equal(entry->folded[i].follows, i == 2);
    keel_why_deinitialize(&why);
    place_remove(&place);
}

static void a_read_in_a_function_counts_if_it_is_returned(void **state) {
    (void)state;
    place_t place;
    char path[300];
    place_make(&place);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        keel_why_t why;
        reads_t read = {calls[i].function, calls[i].read, calls[i].call, 0};
        snprintf(path, sizeof path, "%s/call%zu.py", place.root, i);
        write_bytes(path, calls[i].text, strlen(calls[i].text));
        parse_reads("S", calls[i].subject, path, calls[i].text, &read, calls[i].used, 99, &why);
        const keel_run_difference_t *root = &why.entries[0].roots[1];
        bool follows = root->kind == KEEL_CAUSE_HOST_READ;
        if (follows != calls[i].follows) print_message("%s\n", calls[i].text);
        assert_int_equal(follows, calls[i].follows);
        assert_int_equal(root->place.line, follows ? calls[i].read : calls[i].used);
        keel_why_deinitialize(&why);
    }
    place_remove(&place);
}

// n was read before; the constant's own line reads as well.
static void of_several_reads_the_constant_s_own_line_counts(void **state) {
    (void)state;
    static const char text[] = "n = t.item()\ny = x[n:u]\n";
    place_t place;
    keel_why_t why;
    char path[300];
    place_make(&place);
    snprintf(path, sizeof path, "%s/train.py", place.root);
    write_bytes(path, text, strlen(text));
    parse_reads("S", "slice start", path, text, &(reads_t){"", 2, 0, 1}, 2, 9, &why);
    assert_int_equal(why.entries[0].roots[1].kind, KEEL_CAUSE_HOST_READ);
    assert_int_equal(why.entries[0].roots[1].place.line, 2);
    keel_why_deinitialize(&why);
    place_remove(&place);
}

static void source_that_is_gone_or_another_tells_nothing(void **state) {
    (void)state;
    place_t place;
    keel_why_t why;
    char path[300];
    place_make(&place);
    snprintf(path, sizeof path, "%s/train.py", place.root);
    parse(path, sources[0].text, 1, 2, 9, &why);
    assert_int_equal(why.entries[0].roots[1].kind, KEEL_CAUSE_CONSTANT);
    keel_why_deinitialize(&why);
    write_bytes(path, sources[0].text, strlen(sources[0].text));
    parse(path, sources[1].text, 1, 2, 9, &why);
    assert_int_equal(why.entries[0].roots[1].kind, KEEL_CAUSE_CONSTANT);
    keel_why_deinitialize(&why);
    place_remove(&place);
}

// The analysis kept what the run read.
static void source_that_was_edited_since_is_known(void **state) {
    (void)state;
    const char *text = sources[0].text;
    place_t place;
    keel_why_t why;
    uint8_t packed[256];
    char path[300], journal[320], list[320], kept[420], line[420], hex[KEEL_DIGEST_HEX];
    place_make(&place);
    keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(text)));
    keel_digest_hex(&digest, hex);
    snprintf(path, sizeof path, "%s/train.py", place.root);
    snprintf(journal, sizeof journal, "%s/r/journal.ndjson", place.root);
    snprintf(list, sizeof list, "%s/r/sources.tsv", place.root);
    snprintf(kept, sizeof kept, "%s/sources/%s.zst", place.root, hex);
    snprintf(line, sizeof line, "+\t/w\n-\t/w/x.py\n%s\t%s\n", hex, path);
    const char *folders[] = {"r", "sources"};
    for (size_t i = 0; i < 2; ++i) {
        char folder[300];
        snprintf(folder, sizeof folder, "%s/%s", place.root, folders[i]);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
    write_bytes(path, "edited\n", 7);
    write_bytes(list, line, strlen(line));
    size_t size = ZSTD_compress(packed, sizeof packed, text, strlen(text), 1);
    write_bytes(kept, packed, size);
    path_of_journal = journal;
    parse(path, text, 1, 2, 9, &why);
    assert_int_equal(why.entries[0].roots[1].kind, KEEL_CAUSE_HOST_READ);
    keel_why_deinitialize(&why);
    write_bytes(kept, packed, size / 2); // damaged
    parse(path, text, 1, 2, 9, &why);
    assert_int_equal(why.entries[0].roots[1].kind, KEEL_CAUSE_CONSTANT);
    keel_why_deinitialize(&why);
    path_of_journal = "";
    place_remove(&place);
}

static void a_constant_in_jax_stays_one(void **state) {
    (void)state;
    place_t place;
    keel_why_t why;
    char path[300];
    place_make(&place);
    snprintf(path, sizeof path, "%s/train.py", place.root);
    write_bytes(path, sources[0].text, strlen(sources[0].text));
    parse_named("jit_step", path, sources[0].text, 1, 2, 9, &why);
    assert_int_equal(why.entries[0].roots[1].kind, KEEL_CAUSE_CONSTANT);
    keel_why_deinitialize(&why);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_that_was_read_is_folded_under_the_read),
        cmocka_unit_test(each_read_is_a_cause_with_what_follows_from_it),
        cmocka_unit_test(a_read_in_a_function_counts_if_it_is_returned),
        cmocka_unit_test(of_several_reads_the_constant_s_own_line_counts),
        cmocka_unit_test(source_that_is_gone_or_another_tells_nothing),
        cmocka_unit_test(source_that_was_edited_since_is_known),
        cmocka_unit_test(a_constant_in_jax_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
