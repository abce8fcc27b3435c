#!/bin/sh
# check_source.sh - rules about the text of ext/core, as tests: each layer alone, the order of the
# spine, sizes, nothing from outside that a core may not use.
#
# usage: check_source.sh CORE_FOLDER BUILD_FOLDER     (CC from the environment, gcc by default)
# Prints FAILED lines, then "N passed, M failed".
core=$1
build=$2
cc=${CC:-gcc}
flags="-std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wswitch-enum
 -Wimplicit-fallthrough -Wstrict-prototypes -Werror"
passed=0
failed=0

# report SENTENCE OUTPUT: passes if there is no output.
report() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$1" "$2"
    fi
}

mkdir -p "$build/alone"
for file in "$core"/*.c; do
    name=$(basename "$file")
    report "$name compiles alone, without a warning" \
        "$($cc $flags -c "$file" -o "$build/alone/$name.o" 2>&1)"
    report "$name compiles alone without its runs" \
        "$($cc $flags -DTG_NO_RUN -c "$file" -o "$build/alone/slow.o" 2>&1)"
done
# What a header defines as static is for those who include it.
for file in "$core"/*.h; do
    report "$(basename "$file") compiles alone" \
        "$($cc $flags -Wno-unused-function -Wno-unused-const-variable -x c -fsyntax-only "$file" 2>&1 |
            grep -v 'pragma once')"
done

# A layer is a .c of the spine; the files of tg_json are one layer, and so are those of tg_sse. Each may include headers of
# layers that stand above it, its own, and those that have no .c.
order=$(sed -n 's/^#include "\(tg_[a-z0-9_]*\)\.c"$/\1/p' "$core/tg.c")
report "the spine includes every .c once" "$(
    { printf '%s\n' $order; ls "$core" | sed -n 's/^\(tg_.*\)\.c$/\1/p'; } | sort | uniq -c |
        awk '$1 != 2'
)"
above=""
for layer in $order; do
    above="$above $layer"
    case $layer in
    tg_json*) above="$above tg_json" ;;
    tg_sse*) above="$above tg_sse" ;;
    esac
    report "$layer includes only what stands above it in the spine" "$(
        cat "$core/$layer.c" "$core/$layer.h" 2>/dev/null |
            sed -n 's/^#include "\(tg_[a-z0-9_]*\)\.h"$/\1/p' | sort -u |
            while read -r used; do
                [ -e "$core/$used.c" ] || continue
                case " $above " in *" $used "*) ;; *) echo "$layer includes $used.h" ;; esac
            done
    )"
done

for file in "$core"/*.c "$core"/*.h; do
    name=$(basename "$file")
    report "$name has fewer than 500 lines" "$(awk 'END { if (NR >= 500) print NR }' "$file")"
    report "$name opens with a comment that names it" \
        "$(head -n 1 "$file" | grep -qF "/* $name - " || echo "$(head -n 1 "$file")")"
    report "$name has functions of fewer than 60 lines, a step fewer than 120" "$(
        awk '/^[a-z_]+\(/ { name = $0; from = NR }
             /^}/ && name != "" { most = name ~ /_step/ ? 120 : 60
                                  if (NR - from >= most) print name, NR - from
                                  name = "" }' "$file"
    )"
    report "$name is ASCII, with lines of 100 columns at most, no tab, no TODO" \
        "$(LC_ALL=C grep -nE '[^ -~]|^.{101}|TODO|FIXME|XXX' "$file")"
done
report "nothing of Python, stdio or abort is named in ext/core" \
    "$(grep -nE 'Python\.h|stdio\.h|abort *\(|assert\.h|printf|errno' "$core"/*.c "$core"/*.h |
        grep -v 'tg\.h:.*no stdio')"

# A table of addresses is written once, by the loader, if the object can be moved; so it is compiled
# as one that cannot. The exception is the choice of a kernel (tg_scan.c).
object="$build/alone/tg.c.o"
report "the core has no writable globals but scan_in_use" "$(
    $cc $flags -fno-pie -c "$core/tg.c" -o "$build/alone/fixed.o" 2>&1
    nm "$build/alone/fixed.o" | awk '$2 ~ /^[BbCDdGS]$/ && $3 !~ /^_?scan_in_use$/'
)"
report "the core calls nothing but a few functions of memory and strings, and asks for the CPU" "$(
    nm -u "$object" | awk '{ print $NF }' |
        grep -vE '^_?(mem(cpy|cmp|chr|move|set)|str(chr|cmp|len)|bcmp|realloc|free)$' |
        grep -vE '^_?__(stack_chk_fail|cpu_model|cpu_indicator_init)$' |
        grep -v '^_GLOBAL_OFFSET_TABLE_$'
)"
report "every public symbol begins with tg_" \
    "$(nm "$object" | awk '$2 ~ /^[TRW]$/ && $3 !~ /^_?tg_/')"

# gcc can write down who calls whom; tsort finds a circle.
if $cc --version 2>/dev/null | grep -qi 'free software' && command -v tsort >/dev/null; then
    (cd "$build/alone" && $cc -std=c11 -O0 -fcallgraph-info -c "$core/tg.c" -o graph.o) 2>/dev/null
    report "no function of the core calls itself, however far around" "$(
        sed -n 's/^edge: { sourcename: "\([^"]*\)" targetname: "\([^"]*\)".*/\1 \2/p' \
            "$build/alone/graph.ci" | tsort 2>&1 >/dev/null
        [ -s "$build/alone/graph.ci" ] || echo "no call graph was written"
    )"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
