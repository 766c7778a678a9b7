/* What one sample of KROWN's columns costs at least: open files, pread, and a parser in C.
 *
 * floor hot COUNT MODE            seconds per sample, back to back
 * floor loop INTERVAL SECONDS MODE  CPU seconds, seconds, samples, missed, mean and largest gap
 *
 * MODE: parse, raw (no parsing), empty (no reading either).
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
static int files[MOST], sizes[MOST], count;
static unsigned long long checksum;

static void add(const char *path, int size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && count < MOST) { files[count] = file; sizes[count++] = size; }
}

static void open_all(void) {
    char path[512];
    struct dirent *entry;
    DIR *block;
    add("/proc/stat", 128);
    add("/proc/meminfo", 512);
    add("/proc/self/net/dev", 4096);
    block = opendir("/sys/block");
    while (block && (entry = readdir(block))) {
        snprintf(path, sizeof path, "/sys/block/%.200s/device", entry->d_name);
        if (access(path, F_OK)) continue;
        snprintf(path, sizeof path, "/sys/block/%.200s/stat", entry->d_name);
        add(path, 256);
    }
    if (block) closedir(block);
}

static void sample(int parse) {
    static char text[8192];
    for (int at = 0; at < count; at++) {
        ssize_t length = pread(files[at], text, sizes[at], 0);
        if (!parse || length <= 0) continue;
        text[length] = 0;
        for (char *here = text; *here;)
            if (isdigit((unsigned char)*here)) checksum += strtoull(here, &here, 10);
            else here++;
    }
}

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void loop(long long interval, long long length, int reads, int parse) {
    long long start = now(CLOCK_MONOTONIC), due = start, last = 0, largest = 0, first = 0, at;
    long long samples = 0, missed = 0, cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    while ((at = now(CLOCK_MONOTONIC)) < start + length) {
        if (reads) sample(parse);
        if (samples++) { if (at - last > largest) largest = at - last; } else first = at;
        last = at;
        long long late = now(CLOCK_MONOTONIC) - due;
        missed += late / interval;
        due += (late / interval + 1) * interval;
        struct timespec until = { due / 1000000000LL, due % 1000000000LL };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    printf("%.9f %.9f %lld %lld %.9f %.9f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e9,
           (at - start) / 1e9, samples, missed,
           samples > 1 ? (last - first) / 1e9 / (samples - 1) : 0, largest / 1e9);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    const char *mode = argv[argc - 1];
    int reads = strcmp(mode, "empty") != 0, parse = !strcmp(mode, "parse");
    open_all();
    if (!strcmp(argv[1], "loop")) {
        loop(atof(argv[2]) * 1e9, atof(argv[3]) * 1e9, reads, parse);
    } else {
        int times = atoi(argv[2]);
        long long start = now(CLOCK_MONOTONIC);
        for (int at = 0; at < times; at++) if (reads) sample(parse);
        printf("%.12f\n", (now(CLOCK_MONOTONIC) - start) / 1e9 / times);
    }
    return checksum == 1;
}
