/* run.c - runs all suites. Argument: the folder of the vectors.
 *
 * TG_SIMD in the environment names the kernel of tg_scan that everything runs on; without it that
 * is the best one, and the suites about kernels test all.
 */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tg_scan.h"

static const char *forced;

void
suite_each_kernel(void (*test)(const char *kernel))
{
    const char *const in_use = tg_scan_kernel_name();
    const char *kernel;
    size_t i;

    for (i = 0; (kernel = forced != NULL ? forced : tg_scan_kernel_at(i)) != NULL; i++) {
        TEST("a kernel is in use once it was asked for");
        CHECK(tg_scan_use(kernel) && strcmp(tg_scan_kernel_name(), kernel) == 0);
        test(kernel);
        if (forced != NULL)
            break;
    }
    tg_scan_use(in_use);
}

void
suite_path(char *path, size_t size, const char *folder, const char *name)
{
    snprintf(path, size, "%s/%s", folder, name);
}

int
main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "../vectors";

    forced = getenv("TG_SIMD");
    if (forced != NULL && !tg_scan_use(forced)) {
        size_t i;

        printf("TG_SIMD=%s is not a kernel that is here:", forced);
        for (i = 0; tg_scan_kernel_at(i) != NULL; i++)
            printf(" %s", tg_scan_kernel_at(i));
        printf("\n");
        return 2;
    }
    test_names();
    test_scan();
    test_walk();
    test_repeat();
    test_utf8();
    test_wide();
    test_json();
    test_sse();
    test_limits();
    test_memory();
    test_ndjson();
    test_array();
    test_eventstream();
    test_pick();
    test_pick_bounds();
    test_unescape();
    test_template();
    test_holes();
    test_predict();
    test_escape();
    test_members();
    test_lane();
    test_whole();
    test_taking();
    test_taking_bounds();
    test_sse_vectors(folder);
    test_json_vectors(folder);
    return check_close();
}
