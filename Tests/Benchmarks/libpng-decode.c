/* Decodes a PNG to RGBA again and again with libpng's simplified interface: decode FILE SECONDS prints "4.551 ms", the mean. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int decode(const unsigned char *bytes, size_t count) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return 0;
    image.format = PNG_FORMAT_RGBA;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    int isDecoded = pixels && png_image_finish_read(&image, NULL, pixels, 0, NULL);
    free(pixels);
    return isDecoded;
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
