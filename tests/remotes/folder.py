"""A shared folder as a remote: what one machine stored, signed, another loads, and nothing else."""

import os
import time

from help import Place, entry, name_of, temporary

with temporary() as folder:
    share = f"{folder}/share"
    os.mkdir(share)
    one = Place(folder, "one", f"file://{share}|read-write|namespace=team/a")
    two = Place(folder, "two", f"file://{share}|namespace=team/a")
    try:
        # Nobody would load what is not signed, so it is not stored.
        one.store(1)
        one.start()
        assert one.put(1) == "queued"
        said = one.ask("finish")
        assert "keel cache keygen" in said, said
        assert not os.path.exists(f"{share}/team/a/{name_of(1)}")

        # With a key it is.
        public = one.keel("cache", "keygen", "ci").strip()
        assert one.put(1) == "queued" and one.ask("finish") == "done"
        stored = open(f"{share}/team/a/{name_of(1)}", "rb").read()
        assert len(stored) == len(entry(1)) + 136, "the entry and a signature"

        # Another machine does not trust that key, then does, then does not again.
        two.start()
        assert two.get(2) == "none"
        said = two.get(1)
        assert said.startswith("untrusted ") and public.split(":")[1] in said, said
        assert not two.path(1).exists()
        two.keel("cache", "trust", public)
        assert two.get(1) == f"found {len(stored)}", two.get(1)
        assert two.path(1).read_bytes() == stored
        two.path(1).unlink()
        two.keel("cache", "untrust", "ci")
        assert two.get(1).startswith("untrusted ")

        # What came signed by another stays signed by that one when it is passed on.
        two.keel("cache", "trust", public)
        two.get(1)
        os.mkdir(f"{folder}/other")
        three = Place(folder, "three", f"file://{folder}/other|read-write")
        three.store(1, two.path(1).read_bytes())
        three.start()
        assert three.put(1) == "queued" and three.ask("finish") == "done"
        assert open(f"{folder}/other/{name_of(1)}", "rb").read() == stored
        three.end()

        # A remote that is only read takes nothing, and one that is not mounted is not an empty one.
        assert two.put(1).startswith("failed it is only read")
        os.rename(share, share + ".away")
        said = two.get(3)
        assert said.startswith("failed the folder is not there"), said
        os.rename(share + ".away", share)
        assert two.get(3).startswith("failed it failed a short while ago")

        # `keel cache push` and `keel cache remotes` say what they did.
        for number in range(10, 15):
            one.store(number)
        assert "6 entries there, 0 not" in one.keel("cache", "push")
        assert "works" in one.keel("cache", "remotes")
        assert one.figures()["stored"] == 6 and one.figures()["already_there"] == 1, one.figures()

        # A helper that nobody asks ends.
        brief = Place(folder, "brief", f"file://{share}", "--idle", "1s")
        brief.start()
        assert brief.get(1) == "none"
        for _ in range(1000):
            if not list(brief.cache.glob("remote-*/*")):
                break
            time.sleep(0.01)
        assert not list(brief.cache.glob("remote-*/*"))
    finally:
        one.end()
        two.end()
