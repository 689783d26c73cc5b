/* A WebP to RGBA with libwebp. */
#include "decode-loop.h"

#include <webp/decode.h>

static int decode(const unsigned char *bytes, size_t count) {
    int width, height;
    unsigned char *pixels = WebPDecodeRGBA(bytes, count, &width, &height);
    WebPFree(pixels);
    return pixels != NULL;
}
