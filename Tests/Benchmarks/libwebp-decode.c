/* Decodes a WebP to RGBA again and again with libwebp: decode FILE SECONDS prints "3.551 ms", the mean. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <webp/decode.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int decode(const unsigned char *bytes, size_t count) {
    int width, height;
    unsigned char *pixels = WebPDecodeRGBA(bytes, count, &width, &height);
    WebPFree(pixels);
    return pixels != NULL;
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
