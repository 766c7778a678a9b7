/* Works for so many microseconds of the monotonic clock: a program of known length. */
#include <stdlib.h>
#include <time.h>

int main(int count, char **given) {
    struct timespec begin, now;
    long wanted = count > 1 ? atol(given[1]) * 1000 : 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < wanted);
    return 0;
}
