# A contract of a recorded run: written, shown, compared, updated, and what leaves it.
export KEEL_RUN_DIR=$HOME/runs
mkdir -p "$KEEL_RUN_DIR/programs"

# Keeps a program as a run does, and gives its digest.
keep() {
  digest=$(b2sum -l 256 "$1" | cut -d ' ' -f 1)
  zstd -q -f "$1" -o "$KEEL_RUN_DIR/programs/$digest.mlir.zst"
  echo "$digest"
}

# Begins a journal: run, XLA_FLAGS, the plugin's version.
start() {
  mkdir -p "$KEEL_RUN_DIR/$1"
  journal=$KEEL_RUN_DIR/$1/journal.ndjson
  now=1767268800
  flags=$(printf '%s' "$2" | b2sum -l 256 | cut -d ' ' -f 1)
  cat >"$journal" <<END
{"event":"start","t":$now,"pid":1,"keel":"0.1.0","argv":["python","train.py"],"cwd":"/home/ada","client":1,"plugin":{"platform":"cpu","version":"${3-cpu}"},"components":{"XLA_FLAGS":"$flags","device kinds":"$(printf '%064d' 3)"},"values":{"device kinds":"1 x cpu\nprocesses=1"}}
{"event":"bundle","t":$now,"pid":1,"bundle":{"bundle":1,"clients":{"jax":"0.6.2","jaxlib":"0.6.2"}}}
END
}

# A compile: module name, digest, seconds, eager.
compile() {
  now=$((now + 1))
  key=$(echo "$1 $2 $flags" | b2sum -l 256 | cut -d ' ' -f 1)
  site='"site":{"file":"'${file-/home/ada/train.py}'","line":18,"function":"main"}'
  subject='"t":'$now',"pid":1,"program":"'$2'","name":"'$1'","key":"'$key'"'
  cat >>"$journal" <<END
{"event":"compile",$subject,"seconds":$3,"ops":50,"bytes":2000,"format":"mlir","recompile":false,"cacheable":true,"eager":${4:-false},$site}
{"event":"memory",$subject,"arguments":1000,"total":123456789}
{"event":"ask",$subject,"what":"compile","seconds":$3,"compile_seconds":$3,"recompile":false,$site,"origin":"${1#jit_} at /home/ada/train.py:7","client":1,"components":{"program":"$(echo "$2" | b2sum -l 256 | cut -d ' ' -f 1)"},"values":{}}
END
}

finish() {
  echo '{"event":"end","t":'$((now + 1))',"pid":1,"total":3,"executes":{}}' >>"$journal"
}

cd "$samples/diff" || exit
step=$(keep step.mlir) batch=$(keep step_batch.mlir) constant=$(keep step_constant.mlir)
other=$(keep ../mlir/linalg.mlir) both=$(keep step_both.mlir)
cd "$HOME" || exit

start 20260101-000000-aa ""
compile jit_step "$step" 3.21
compile jit_evaluate "$other" 0.1
compile jit_add "$constant" 0.01 true
finish
start 20260102-000000-bb ""
compile jit_step "$step" 3.3
compile jit_step "$batch" 4
finish
start 20260103-000000-cc "--xla_a=1"
compile jit_step "$step" 3.21
finish
start 20260104-000000-dd ""
file='/home/ada/my 100% train.py' compile jit_step "$batch" 4
file='/opt/a:b.py' compile jit_step "$constant" 1
file='' compile jit_none "$both" 1
finish
start 20260105-000000-ee ""
compile jit_step "$batch" 4
finish
start 20260106-000000-ff ""
compile jit_part "$both" 1
file=/home/ada/other.py compile jit_rest "$constant" 1
echo '{"event":"transfers","t":'$now',"pid":1,"executes":{"'$both'":5},"cut_steps":5,"cut_pieces":10,"pieces":[{"program":"'$both'","site":{"file":"/home/ada/train.py","line":18,"function":"main"},"forced":5,"sampled":5,"shared":5,"pieces":2}]}' >>"$journal"
finish
# What no reader understands has no `ask`.
echo "module of a later format" >new.mlir
unread=$(keep new.mlir)
start 20260107-000000-ab ""
compile jit_step "$step" 3.21
compile jit_new "$unread" 1
sed -i '$d' "$journal"
finish

echo "== record"
keel contract record -o keel.contract --from 20260101; echo "exit $?"
cat keel.contract
keel contract record -o all.contract --with-operations --from 20260101; echo "exit $?"
grep '^entry' all.contract
cp keel.contract again.contract
keel contract record --json -o again.contract --from 20260101; echo "exit $?"
cmp keel.contract again.contract && echo same

echo "== long lines"
# Cut between characters.
version=$(printf '%0100d' 0)
for end in 123456789abcdef 123456789abcdefg 123456789abcdefgh 123456789abcdeü 123456789abcdefüg '1234\nlost'; do
  start 20250101-000000-aa "" "$version$end"
  compile jit_step "$step" 3.21
  finish
  keel contract record -o long.contract --from 20250101 | wc -l
  grep '^plugin' long.contract | sed s/0000000000//g
done

echo "== show"
keel contract show keel.contract; echo "exit $?"
keel contract show --json keel.contract | head -n 5

echo "== check"
keel contract check --contract keel.contract --from 20260101; echo "exit $?"
keel contract check --contract keel.contract --from 20260102 --annotations --junit junit.xml --sarif it.sarif; echo "exit $?"
cat junit.xml it.sarif
keel contract check --contract keel.contract --from 20260104 --sarif uris.sarif >/dev/null; echo "exit $?"
grep -o '"locations.*' uris.sarif
keel contract check --contract keel.contract --from 20260102 --json; echo "exit $?"
keel contract check --contract keel.contract --from 20260103; echo "exit $?"
keel contract check --contract keel.contract --from 20260106; echo "exit $?" # a read cuts the step at one of them
keel contract check --contract keel.contract --from 20260107; echo "exit $?"
keel show "$unread" 2>&1 | sed "s/$unread/DIGEST/"
sed 's/^  function step.*/&\n  scope warn/' keel.contract >warn.contract
keel contract check --contract warn.contract --from 20260102; echo "exit $?"
sed 's/^  function step.*/&\n  scope allow/' keel.contract >allow.contract
keel contract check --contract allow.contract --from 20260102; echo "exit $?"
sed "s/f32.8,/f32[4..8 step 4,/; s/ cost 3.2s/ sizes 8&/" keel.contract >wide.contract
keel contract check --contract wide.contract --from 20260105 --junit junit.xml; echo "exit $?"
cat junit.xml
ln -s junit.xml link.xml                    # it stays one: so does /dev/stdout
keel contract check --contract wide.contract --from 20260105 --junit link.xml >/dev/null; readlink link.xml

echo "== update"
keel contract update --only jit_step again.contract --from 20260102; echo "exit $?"
keel contract diff keel.contract again.contract; echo "exit $?"
keel contract diff --json keel.contract again.contract | head -n 4
keel contract diff keel.contract keel.contract; echo "exit $?"
keel contract check --contract again.contract --from 20260102; echo "exit $?"
keel contract check --contract again.contract --from 20260101; echo "exit $?"

echo "== refused"
(
  keel contract update --only jit_nothing keel.contract --from 20260102; echo "exit $?"
  keel contract update keel.contract --from 20260102; echo "exit $?"
  keel contract update --only jit_step missing.contract --from 20260102; echo "exit $?"
  keel contract record --from 20260101; echo "exit $?"
  keel contract record -o x.contract; echo "exit $?"
  keel contract record -o x.contract --from 2027; echo "exit $?"
  keel contract record -o x.contract --from 20260101 -- true; echo "exit $?"
  keel contract record -o x.contract --; echo "exit $?"
  keel contract record -o x.contract --compile none -- true; echo "exit $?"
  keel contract check --from 20260101; echo "exit $?"
  keel contract check --contract keel.contract --json --annotations --from 20260101; echo "exit $?"
  keel contract check --contract missing.contract --from 20260101; echo "exit $?"
  sed 's/^key 2/key 7/' keel.contract >key.contract
  keel contract check --contract key.contract --from 20260101; echo "exit $?"
  sed 's/^programs.*/<<<<<<< ours\n&\n=======/' keel.contract >conflict.contract
  keel contract show conflict.contract; echo "exit $?"
  keel contract diff keel.contract conflict.contract; echo "exit $?"
  truncate -s 65M large.contract
  keel contract show large.contract; echo "exit $?"
  # Named before the command runs, so that "ran" is not printed.
  keel contract record -o nowhere/x.contract -- echo ran; echo "exit $?"
  keel contract record -o runs -- echo ran; echo "exit $?"
  keel contract check --contract keel.contract --junit nowhere/x.xml -- echo ran; echo "exit $?"
  keel smoke --vary size=2 --vary devices=zero -- echo ran; echo "exit $?"
  keel smoke --vary on=mars:9 -- echo ran; echo "exit $?"
  # A pipe can be read once: not by each process of a run.
  keel contract diff <(cat keel.contract) keel.contract; echo "exit $?"
  mkfifo pipe
  keel run --contract pipe -- echo ran; echo "exit $?"
  ln -s round round
  keel contract show round; echo "exit $?"
  ls x.contract || true
) 2>&1
