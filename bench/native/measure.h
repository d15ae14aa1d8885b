/* What upstream and load client share: their clock, and how samples are told. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void die(const char *what) {
    perror(what);
    exit(1);
}

/* Nanoseconds, of a clock that all processes of a machine have in common. */
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

/* Of sorted values, the one below which that part of them lies; 0 where there are none. */
static long long share(const long long *sorted, size_t count, double part) {
    return count ? sorted[(size_t)((double)(count - 1) * part)] : 0;
}

#endif
