/* A GIF to indices with giflib. */
#include "decode-loop.h"

#include <gif_lib.h>
#include <string.h>

struct input {
    const unsigned char *bytes;
    size_t left;
};

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
