#!/bin/sh
# run.sh - runs each command given (one argument each), shows it, and adds up the closing lines.
passed=0
failed=0
for command; do
    output=$(sh -c "$command" 2>&1)
    code=$?
    last=$(printf '%s\n' "$output" | tail -n 1)
    printf '%s\n%s\n' "-- $command" "$output"
    p=$(printf '%s\n' "$last" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p')
    f=$(printf '%s\n' "$last" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p')
    # A crash leaves no closing line: that is a failure of its own.
    if [ -z "$p" ] || { [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; }; then
        f=$((${f:-0} + 1))
        echo "FAILED: exit code $code"
    fi
    passed=$((passed + ${p:-0}))
    failed=$((failed + f))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
