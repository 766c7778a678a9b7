/* A process of a known usage: it does what each line says, and answers with its own account.
 *
 * burn MS      use so many milliseconds of CPU time
 * touch BYTES  use so many bytes of memory, and give them back
 * write BYTES  write so many bytes to the file named on the command line, sync and remove it
 * A leading '+' lets a child do it, which is waited for.
 * The answer: microseconds of CPU time, of the one that did it, by getrusage.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long cpu_us(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

static void burn(long ms) {
  long end = cpu_us(RUSAGE_SELF) + ms * 1000;
  while (cpu_us(RUSAGE_SELF) < end)
    for (volatile int i = 0; i < 100000; i++) continue;
}

static void touch(long bytes) {
  char *held = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (held == MAP_FAILED) exit(1);
  for (long at = 0; at < bytes; at += 4096) held[at] = 1;
  munmap(held, bytes);
}

static void put(long bytes, const char *path) {
  static char block[1 << 20];
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) exit(1);
  for (long left = bytes; left > 0; left -= sizeof block) {
    size_t size = left < (long)sizeof block ? (size_t)left : sizeof block;
    if (write(file, block, size) != (ssize_t)size) exit(1);
  }
  if (fsync(file)) exit(1);
  close(file);
  unlink(path);
}

static void obey(const char *what, long amount, const char *path) {
  if (!strcmp(what, "burn")) burn(amount);
  if (!strcmp(what, "touch")) touch(amount);
  if (!strcmp(what, "write")) put(amount, path);
}

int main(int count, char **arguments) {
  char line[256], what[64];
  long amount;
  if (count < 2) return 2;
  while (fgets(line, sizeof line, stdin)) {
    int delegate = line[0] == '+';
    if (sscanf(line + delegate, "%63s %ld", what, &amount) != 2) return 2;
    int who = delegate ? RUSAGE_CHILDREN : RUSAGE_SELF;
    long before = cpu_us(who);
    if (!delegate) {
      obey(what, amount, arguments[1]);
    } else if (!fork()) {
      obey(what, amount, arguments[1]);
      _exit(0);
    } else {
      wait(NULL);
    }
    printf("%ld\n", cpu_us(who) - before);
    fflush(stdout);
  }
  return 0;
}
