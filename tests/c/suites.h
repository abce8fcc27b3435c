/* suites.h - the test files, one function each; run.c calls them in this order. */
#ifndef SUITES_H
#define SUITES_H

#include <stddef.h>

void test_names(void);
void test_scan(void);
void test_walk(void);
void test_repeat(void);
void test_utf8(void);
void test_wide(void);
void test_json(void);
void test_sse(void);
void test_limits(void);
void test_memory(void);
void test_ndjson(void);
void test_array(void);
void test_eventstream(void);
void test_pick(void);
void test_pick_bounds(void);
void test_unescape(void);
void test_template(void);
void test_holes(void);
void test_predict(void);
void test_escape(void);
void test_members(void);
void test_lane(void);
void test_whole(void);
void test_taking(void);
void test_taking_bounds(void);
/* folder: where the vectors are. */
void test_sse_vectors(const char *folder);
void test_json_vectors(const char *folder);

/* Calls a test with each kernel of tg_scan that is tested, in use; then the one from before is. */
void suite_each_kernel(void (*test)(const char *kernel));
void suite_path(char *path, size_t size, const char *folder, const char *name);

#endif
