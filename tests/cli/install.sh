# What is installed runs from wherever it is moved to, and tells others how to use it.
build=$(cd "$(dirname "$(command -v keel)")/.." && pwd)
cmake --install "$build" --prefix there >log || cat log
mv there moved
moved/bin/keel --version | head -1
moved/bin/keel config | grep ^plugin
KEEL_RUN_DIR=$HOME/runs moved/bin/keel run --quiet -- sh -c 'echo $KEEL_LIBRARY $KEEL_PLUGIN'
PKG_CONFIG_PATH=moved/lib/pkgconfig pkg-config --modversion keel
PKG_CONFIG_PATH=moved/lib/pkgconfig pkg-config --cflags --libs keel
grep -c 'KEEL' moved/share/man/man1/keel.1 >found && echo "man page"
readelf -d moved/bin/keel moved/lib/*.so | grep -E 'R(UN)?PATH' || echo "no paths of the build"
# Sanitizers' builds have no file of names.
ls moved/include/keel moved/lib moved/share/doc/keel | grep -v '\.debug$'
diff -r "$samples/../../docs" moved/share/doc/keel/docs && echo "all pages"
KEEL_RUN_DIR=$HOME/runs PYTHONDONTWRITEBYTECODE=1 moved/bin/keel run --quiet -- \
    python3 -c 'import keel; print(keel.library_path(), [fix.name for fix in keel.fixes.known()])'
