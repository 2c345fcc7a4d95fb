// Colours; see color.h. The maps are curves in Oklab (Ottosson 2020), where equal steps look equal:
// lightness linear in t, hue turning once from violet to yellow.
#include "out/color.h"

#include <math.h>

#define PI 3.14159265358979323846

double ct_color_linear(double srgb) {
    return srgb <= 0.04045 ? srgb / 12.92 : pow((srgb + 0.055) / 1.055, 2.4);
}

double ct_color_srgb(double linear) {
    if (!(linear > 0)) return 0;
    if (linear >= 1) return 1;
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

// Oklab in polar form (lightness, chroma, hue in degrees) to linear sRGB.
static void from_oklch(double lightness, double chroma, double hue, double rgb[3]) {
    double a = chroma * cos(hue * PI / 180), b = chroma * sin(hue * PI / 180);
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    l *= l * l;
    m *= m * m;
    s *= s * s;
    rgb[0] = fmax(0, 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    rgb[1] = fmax(0, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    rgb[2] = fmax(0, -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

static double clamp(double t) { return t > 0 ? (t < 1 ? t : 1) : 0; }

void ct_color_map(double t, double rgb[3]) {
    t = clamp(t);
    from_oklch(0.40 + 0.52 * t, 0.135 + 0.035 * cos(2 * PI * (t - 0.02)), 296 - 192 * t, rgb);
}

void ct_color_map_diverging(double t, double rgb[3]) {
    double side = 2 * clamp(t) - 1, far = fabs(side);
    from_oklch(0.95 - 0.42 * far, 0.005 + 0.165 * far, side < 0 ? 255 : 30, rgb);
}
