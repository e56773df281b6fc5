# Every command explains itself; what is not a command is refused.
keel help
for command in run runs stats show key cache config version help "cache ls" "cache verify"; do
    # shellcheck disable=SC2086  # two words
    keel $command --help >text || echo "exit $?"
    grep -q -- '^usage: keel '"$command" text && grep -q -- '^  --help' text && echo "$command: good"
done
# shellcheck disable=SC2013  # words, each a command
for command in $(keel help | sed -n 's/^  \([a-z]*\) .*/\1/p') "bundle diff" "cache clear"; do
    # shellcheck disable=SC2086  # two words
    keel $command --help | sed '1,/^options:/d' | sed '1,/^$/d' | grep '.\{101\}' && echo "$command: too wide"
done
keel help stats | diff - <(keel stats --help) && echo "help stats is stats --help"
# So does each part of one that has help of its own.
for command in "bundle diff" $(keel cache --help | sed -n '1s/^usage: keel cache \([a-z|]*\) .*/\1/p' | tr '|' ' '); do
    [ "$command" = "bundle diff" ] || command="cache $command"
    # shellcheck disable=SC2086  # two words
    keel help $command | diff - <(keel $command --help) && echo "help $command is $command --help"
done
for part in show diff record update check; do
    # shellcheck disable=SC2086  # two words
    keel help contract $part | diff - <(keel contract $part --help) && echo "help contract $part is contract $part --help"
    keel contract $part --help | sed '1,/^options:/d' | sed '1,/^$/d' | grep '.\{101\}' && echo "contract $part: too wide"
done
keel help bundle frobnicate; echo "exit $?"
keel help stats diff; echo "exit $?"
keel help bundle diff more; echo "exit $?"
keel; echo "exit $?"
keel frobnicate; echo "exit $?"
keel help frobnicate; echo "exit $?"
keel cache; echo "exit $?"
keel cache frobnicate; echo "exit $?"
keel contract; echo "exit $?"
keel contract frobnicate; echo "exit $?"
keel help contract frobnicate; echo "exit $?"
