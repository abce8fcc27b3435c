/* check.h - the whole test harness: a test is a sentence, and the checks that follow it.
 *
 * TEST("a CR ends a line at once");
 * CHECK(...);
 *
 * Rules
 *  - TEST ends the test before it. A test passes if all of its checks do.
 *  - The closing line is "N passed, M failed"; the exit code says the same.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void check_begin(const char *sentence);
void check_that(bool is_true, const char *file, int line, const char *text);
void check_note(const char *text); /* shown under the last failure of this test */
bool check_is_failing(void);       /* the current test has failed already */
int check_close(void);             /* prints the closing line; 0 if nothing failed */

#define TEST(sentence) check_begin(sentence)
#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)

/* A reproducible random number generator (xorshift64*). */
uint64_t check_random(uint64_t *seed);

#endif
