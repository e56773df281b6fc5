# A file that is not a plugin is reported before anything runs.
keel run --plugin ./nothing.so -- echo ran; echo "exit $?"
echo 'text' >text.so
keel run --plugin ./text.so -- echo ran; echo "exit $?"
keel run --plugin "$HOME" -- echo ran; echo "exit $?"
libc=$(ldd "$(command -v keel)" | awk '/libc\.so/ { print $3 }')
keel run --plugin "$libc" -- echo ran; echo "exit $?"
KEEL_PLUGIN=gpu keel run -- echo ran; echo "exit $?"
keel run --plugin "$(dirname "$(command -v keel)")/../lib/libkeel_pjrt.so" -- echo ran; echo "exit $?"
mkdir -p venv/bin
printf '#!/bin/sh\necho ran\n' >venv/bin/python && chmod +x venv/bin/python
keel run --plugin tpu -- venv/bin/python; echo "exit $?"
