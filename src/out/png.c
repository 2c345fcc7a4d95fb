// PNG files through libpng, whose long jumps stay inside this file.
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static void quiet(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void fail(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

static bool write_png(FILE* stream, const uint8_t* pixels, int width, int height) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, quiet);
    if (!png) return false;
    png_infop info = png_create_info_struct(png);
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_init_io(png, stream);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 6);
    png_write_info(png, info);
    for (int y = 0; y < height; y++) png_write_row(png, pixels + 3 * (size_t)y * (size_t)width);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

ct_status ct_picture_save(const char* path, const uint8_t* pixels, int width, int height, ct_error* error) {
    CT_NEED(error, path);
    ct_error_clear(error);
    if (width < 1 || height < 1 || !pixels)
        return ct_fail(error, CT_BAD_ARGUMENT, "the picture has no pixels");
    FILE* stream = fopen(path, "wb");
    if (!stream)
        return ct_fail_at(error, CT_IO, path, 0, "the picture cannot be written: %s", strerror(errno));
    bool good = write_png(stream, pixels, width, height);
    if (fclose(stream) != 0) good = false;
    if (good) return CT_OK;
    remove(path);
    return ct_fail_at(error, CT_IO, path, 0, "writing the picture failed: is the disk full?");
}
