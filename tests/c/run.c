/* run.c - runs all suites. Argument: the folder of the vectors. */
#include "suites.h"

#include <stdio.h>

#include "check.h"

void
suite_path(char *path, size_t size, const char *folder, const char *name)
{
    snprintf(path, size, "%s/%s", folder, name);
}

int
main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "../vectors";

    test_names();
    test_scan();
    test_utf8();
    test_json();
    test_sse();
    test_limits();
    test_memory();
    test_ndjson();
    test_array();
    test_eventstream();
    test_sse_vectors(folder);
    test_json_vectors(folder);
    return check_close();
}
