"""`keel cache pull, sync, export, import` and upkeep, with a shared folder: what becomes of
each entry is said, and what is damaged or not trusted stays out."""

import json
import os
import tarfile
import time

from help import ENVELOPE, Place, entry, key, name_of, temporary


def answer(place, *words, code=0):
    return json.loads(place.keel(*words, "--json", code=code))


def here(place):
    return {path.name for path in place.cache.glob("entries/*/*.keel")}


def check_pull(folder, url):
    one = Place(folder, "one", f"{url}|read-write|namespace=a")
    two = Place(folder, "two", f"{url}|read-write|namespace=a")
    public = one.keel("cache", "keygen", "ci").strip()
    for number in range(40):
        one.store(number, entry(number, os.urandom(5000)))
    assert answer(one, "cache", "push")[0]["there"] == 40

    # Nothing is taken from who is not trusted, and all of it from who is.
    said = answer(two, "cache", "pull", code=1)[0]
    assert said["untrusted"] == 40 and public.split(":")[1] in said["why"]["untrusted"], said
    assert not here(two)
    two.keel("cache", "trust", public)
    said = answer(two, "cache", "pull")[0]
    assert said["there"] == 40 and len(here(two)) == 40, said
    before = two.figures()["fetched_bytes"]
    assert answer(two, "cache", "pull")[0]["there"] == 0 and two.figures()["fetched_bytes"] == before
    assert "40 entries" in two.keel("cache", "stat", "--remote")

    # Both ways.
    two.keel("cache", "keygen", "two")
    two.store(50)
    one.store(51)
    answer(one, "cache", "push")
    said = answer(two, "cache", "sync")
    assert said["push"][0]["there"] == 42 - 1 and said["pull"][0]["there"] == 1, said
    assert name_of(51).split("/")[-1] in here(two)
    return one, two


def check_upkeep(share, one):
    listed = answer(one, "cache", "ls", "--remote")[0]["entries"]
    assert len(listed) == 42 and {key(3).hex()} <= {entry["key"] for entry in listed}, listed
    old = f"{share}/a/{name_of(3)}"
    month = time.time() - 40 * 86400
    os.utime(old, (month, month))
    assert "needs --older" in one.say("cache", "prune", "--remote", code=2)
    said = answer(one, "cache", "prune", "--remote", "--older", "30d")[0]
    assert said["removed"] == 1 and not os.path.exists(old), said
    assert answer(one, "cache", "stat", "--remote")["remotes"][0]["entries"] == 41


def check_export(folder):
    one = Place(folder, "exporter", "none")
    file = f"{folder}/programs.tar"
    numbers = range(100, 120)
    for number in numbers:
        one.store(number, entry(number, os.urandom(3000)))

    # Without a key nobody would take it.
    said = answer(one, "cache", "export", file, code=1)
    assert said["failed"] == 20 and "keel cache keygen" in said["why"]["failed"], said
    public = one.keel("cache", "keygen", "ci").strip()
    assert answer(one, "cache", "export", file)["there"] == 20
    first = open(file, "rb").read()
    assert answer(one, "cache", "export", file)["there"] == 20
    assert open(file, "rb").read() == first, "the same programs are the same file"
    with tarfile.open(file) as tar:  # which any tar reads
        names = tar.getnames()
    assert names[0] == "keel-export.txt" and set(names[1:]) == {name_of(number) for number in numbers}

    # Who does not trust the key takes none of them, and can be told to.
    two = Place(folder, "importer", "none")
    said = answer(two, "cache", "import", file, code=1)
    assert said["untrusted"] == 20 and len(said["left"]) == 20 and not here(two), said
    two.keel("cache", "trust", public)
    assert answer(two, "cache", "import", file)["there"] == 20
    for number in numbers:
        assert two.path(number).read_bytes().endswith(one.path(number).read_bytes()[-3000:])

    unsigned, three = f"{folder}/unsigned.tar", Place(folder, "unsigned", "none")
    three.store(7)
    assert answer(three, "cache", "export", unsigned, "--trusted")["there"] == 1
    assert answer(two, "cache", "import", unsigned, code=1)["untrusted"] == 1
    assert answer(two, "cache", "import", unsigned, "--trusted")["there"] == 1

    # Damage costs the entries that it is in, and these are named.
    spans = {}
    with tarfile.open(file) as tar:
        for member in tar.getmembers()[1:]:
            spans[member.name] = (member.offset, member.offset_data, member.size)
    names = sorted(spans, key=spans.get)
    data = bytearray(first)
    data[spans[names[2]][0]] ^= 1                  # a header of the archive
    data[spans[names[5]][1] + ENVELOPE + 700] ^= 1  # an entry
    data[spans[names[9]][1] + 3] ^= 1               # its magic
    cut = spans[names[17]][1] + 100                 # and the end is missing
    damaged = f"{folder}/damaged.tar"
    open(damaged, "wb").write(data[:cut])
    four = Place(folder, "four", "none")
    four.keel("cache", "trust", public)
    said = answer(four, "cache", "import", damaged, code=1)
    bad = {names[at].split("/")[-1] for at in (2, 5, 9, 17, 18, 19)}
    assert {left["key"] + ".keel" for left in said["left"]} == bad, said
    assert said["there"] == 14 and said["missing"] == 3 and said["refused"] + said["untrusted"] == 3, said
    assert here(four) == {name.split("/")[-1] for name in names} - bad

    # What is no such file is said to be none.
    open(damaged, "wb").write(b"nothing of the kind" * 1000)
    assert "not a file of `keel cache export`" in four.say("cache", "import", damaged, code=2)
    assert "no such file" in four.say("cache", "import", f"{folder}/nowhere.tar", code=2).lower()


with temporary() as folder:
    share = f"{folder}/share"
    os.mkdir(share)
    check_export(folder)
    one, two = check_pull(folder, f"file://{share}")
    check_upkeep(share, one)
    one.end()
    two.end()

    # A server of plain HTTP has no lists.
    place = Place(folder, "unlisted", "http://127.0.0.1:1/keel|read-write")
    said = answer(place, "cache", "pull", code=1)[0]
    assert "--run" in said["unlisted"], said
    assert "does not list" in answer(place, "cache", "ls", "--remote", code=1)[0]["why"]
    assert "does not list" in answer(place, "cache", "prune", "--remote", "--older", "1d", code=1)[0]["why"]
    place.end()
