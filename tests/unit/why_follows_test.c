// Recompiles that follow from host reads: the source shows which constants come from one.
#define _GNU_SOURCE
#include "place.h"

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
};

#define SITE "\"site\":{\"file\":\"%s\",\"line\":%u}"

// A run that read `text` in that file.
static void parse_named(const char *name, const char *file, const char *text, unsigned read,
                        unsigned used, unsigned asked, keel_why_t *out) {
    char journal[4096], hex[KEEL_DIGEST_HEX];
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
             "{\"kind\":\"constant\",\"subject\":\"slice start\",\"old\":\"3\",\"new\":\"4\","
             "\"file\":\"%s\",\"line\":%u,\"folds\":1}],"
             "\"folded\":[{\"kind\":\"size\",\"subject\":\"pad\",\"follows\":1}]," SITE "}\n"
             "{\"event\":\"transfers\",\"t\":9e9,\"pid\":1,\"from_device\":{\"count\":1},"
             "\"reads\":[{" SITE ",\"count\":1,\"bytes\":4,\"seconds\":0.1}]}\n",
             file, hex, name, file, asked, name, file, used, file, asked, file, read);
    assert_ok(keel_why_parse(keel_str_bytes(keel_str(journal)), "r", "", KEEL_RUN_DETAILS, out));
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
        cmocka_unit_test(source_that_is_gone_or_another_tells_nothing),
        cmocka_unit_test(a_constant_in_jax_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
