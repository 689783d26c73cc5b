/* Decodes a GIF to indices again and again with giflib: decode FILE SECONDS prints "2.720 ms", the mean. */
#include <gif_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct input {
    const unsigned char *bytes;
    size_t left;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int take(GifFileType *file, GifByteType *target, int count) {
    struct input *input = file->UserData;
    if ((size_t)count > input->left) count = (int)input->left;
    memcpy(target, input->bytes, (size_t)count);
    input->bytes += count;
    input->left -= (size_t)count;
    return count;
}

static int decode(const unsigned char *bytes, size_t count) {
    struct input input = {bytes, count};
    int error;
    GifFileType *file = DGifOpen(&input, take, &error);
    if (!file) return 0;
    int isDecoded = DGifSlurp(file) == GIF_OK;
    DGifCloseFile(file, &error);
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
