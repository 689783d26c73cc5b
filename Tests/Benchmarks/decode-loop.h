/* Decodes a file again and again with the function `decode` of the program that includes this: PROGRAM FILE SECONDS prints "4.551 ms", the mean. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Decodes once; 0 if that fails. */
static int decode(const unsigned char *bytes, size_t count);

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    FILE *file = fopen(words[1], "rb");
    if (!file) return 1;
    static unsigned char bytes[64 << 20];
    size_t length = fread(bytes, 1, sizeof bytes, file);
    double seconds = atof(words[2]), begin = now();
    int runs = 0;
    do {
        if (!decode(bytes, length)) return 1;
        runs++;
    } while (now() - begin < seconds);
    printf("%.4f ms\n", (now() - begin) * 1000 / runs);
    return 0;
}
