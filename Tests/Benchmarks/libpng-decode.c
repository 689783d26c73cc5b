/* A PNG to RGBA with libpng's simplified interface. */
#include "decode-loop.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

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
