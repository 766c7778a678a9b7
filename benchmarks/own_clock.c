/* Uses so many microseconds of CPU time, then prints how long it took and what it used, in seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double clock_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int count, char **given) {
    double begin = clock_s(CLOCK_MONOTONIC);
    double wanted = count > 1 ? atol(given[1]) / 1e6 : 0, start = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    struct rusage used;
    while (clock_s(CLOCK_PROCESS_CPUTIME_ID) - start < wanted)
        ;
    getrusage(RUSAGE_SELF, &used);
    double cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                   (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    printf("{\"cpu_s\": %.6f, \"run_s\": %.6f}", cpu_s, clock_s(CLOCK_MONOTONIC) - begin);
    return 0;
}
