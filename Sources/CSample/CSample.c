#include "CSample.h"

// #embed belongs to C23; clang has it in every standard.
#pragma clang diagnostic ignored "-Wc23-extensions"

// Each file has its own array: the preprocessor reads no #embed from a macro. A test compares the list with the folder.
static const unsigned char movies[] = {
#embed "../../sample-data/movies.json"
};
static const unsigned char poster_01[] = {
#embed "../../sample-data/posters/Die Büchse der Pandora.jpg"
};
static const unsigned char poster_02[] = {
#embed "../../sample-data/posters/Häxan.jpg"
};
static const unsigned char poster_03[] = {
#embed "../../sample-data/posters/a-page-of-madness.jpg"
};
static const unsigned char poster_04[] = {
#embed "../../sample-data/posters/a-throw-of-dice.jpg"
};
static const unsigned char poster_05[] = {
#embed "../../sample-data/posters/a-trip-to-the-moon.jpg"
};
static const unsigned char poster_06[] = {
#embed "../../sample-data/posters/aelita.png"
};
static const unsigned char poster_07[] = {
#embed "../../sample-data/posters/battleship-potemkin.jpg"
};
static const unsigned char poster_08[] = {
#embed "../../sample-data/posters/cabiria.jpg"
};
static const unsigned char poster_09[] = {
#embed "../../sample-data/posters/gertie-the-dinosaur.jpg"
};
static const unsigned char poster_10[] = {
#embed "../../sample-data/posters/greed.jpg"
};
static const unsigned char poster_11[] = {
#embed "../../sample-data/posters/intolerance.jpg"
};
static const unsigned char poster_12[] = {
#embed "../../sample-data/posters/laborers-love.png"
};
static const unsigned char poster_13[] = {
#embed "../../sample-data/posters/les-vampires.jpg"
};
static const unsigned char poster_14[] = {
#embed "../../sample-data/posters/man-with-a-movie-camera.jpg"
};
static const unsigned char poster_15[] = {
#embed "../../sample-data/posters/metropolis.jpg"
};
static const unsigned char poster_16[] = {
#embed "../../sample-data/posters/napoleon.jpg"
};
static const unsigned char poster_17[] = {
#embed "../../sample-data/posters/nosferatu.jpg"
};
static const unsigned char poster_18[] = {
#embed "../../sample-data/posters/safety-last.jpg"
};
static const unsigned char poster_19[] = {
#embed "../../sample-data/posters/sherlock-jr.jpg"
};
static const unsigned char poster_20[] = {
#embed "../../sample-data/posters/sunrise.jpg"
};
static const unsigned char poster_21[] = {
#embed "../../sample-data/posters/the-adventures-of-prince-achmed.png"
};
static const unsigned char poster_22[] = {
#embed "../../sample-data/posters/the-cabinet-of-dr-caligari.jpg"
};
static const unsigned char poster_23[] = {
#embed "../../sample-data/posters/the-crowd.jpg"
};
static const unsigned char poster_24[] = {
#embed "../../sample-data/posters/the-general.jpg"
};
static const unsigned char poster_25[] = {
#embed "../../sample-data/posters/the-gold-rush.jpg"
};
static const unsigned char poster_26[] = {
#embed "../../sample-data/posters/the-golem.jpg"
};
static const unsigned char poster_27[] = {
#embed "../../sample-data/posters/the-great-train-robbery.jpg"
};
static const unsigned char poster_28[] = {
#embed "../../sample-data/posters/the-kid.jpg"
};
static const unsigned char poster_29[] = {
#embed "../../sample-data/posters/the-last-laugh.jpg"
};
static const unsigned char poster_30[] = {
#embed "../../sample-data/posters/the-lodger.jpg"
};
static const unsigned char poster_31[] = {
#embed "../../sample-data/posters/the-passion-of-joan-of-arc.jpg"
};
static const unsigned char poster_32[] = {
#embed "../../sample-data/posters/the-phantom-carriage.jpg"
};
static const unsigned char poster_33[] = {
#embed "../../sample-data/posters/the-phantom-of-the-opera.jpg"
};
static const unsigned char poster_34[] = {
#embed "../../sample-data/posters/the-thief-of-bagdad.jpg"
};
static const unsigned char poster_35[] = {
#embed "../../sample-data/posters/the-wind.jpg"
};
static const unsigned char poster_36[] = {
#embed "../../sample-data/posters/un-chien-andalou.jpg"
};

static const csample_file files[] = {
    {"movies.json", movies, sizeof movies},
    {"posters/Die Büchse der Pandora.jpg", poster_01, sizeof poster_01},
    {"posters/Häxan.jpg", poster_02, sizeof poster_02},
    {"posters/a-page-of-madness.jpg", poster_03, sizeof poster_03},
    {"posters/a-throw-of-dice.jpg", poster_04, sizeof poster_04},
    {"posters/a-trip-to-the-moon.jpg", poster_05, sizeof poster_05},
    {"posters/aelita.png", poster_06, sizeof poster_06},
    {"posters/battleship-potemkin.jpg", poster_07, sizeof poster_07},
    {"posters/cabiria.jpg", poster_08, sizeof poster_08},
    {"posters/gertie-the-dinosaur.jpg", poster_09, sizeof poster_09},
    {"posters/greed.jpg", poster_10, sizeof poster_10},
    {"posters/intolerance.jpg", poster_11, sizeof poster_11},
    {"posters/laborers-love.png", poster_12, sizeof poster_12},
    {"posters/les-vampires.jpg", poster_13, sizeof poster_13},
    {"posters/man-with-a-movie-camera.jpg", poster_14, sizeof poster_14},
    {"posters/metropolis.jpg", poster_15, sizeof poster_15},
    {"posters/napoleon.jpg", poster_16, sizeof poster_16},
    {"posters/nosferatu.jpg", poster_17, sizeof poster_17},
    {"posters/safety-last.jpg", poster_18, sizeof poster_18},
    {"posters/sherlock-jr.jpg", poster_19, sizeof poster_19},
    {"posters/sunrise.jpg", poster_20, sizeof poster_20},
    {"posters/the-adventures-of-prince-achmed.png", poster_21, sizeof poster_21},
    {"posters/the-cabinet-of-dr-caligari.jpg", poster_22, sizeof poster_22},
    {"posters/the-crowd.jpg", poster_23, sizeof poster_23},
    {"posters/the-general.jpg", poster_24, sizeof poster_24},
    {"posters/the-gold-rush.jpg", poster_25, sizeof poster_25},
    {"posters/the-golem.jpg", poster_26, sizeof poster_26},
    {"posters/the-great-train-robbery.jpg", poster_27, sizeof poster_27},
    {"posters/the-kid.jpg", poster_28, sizeof poster_28},
    {"posters/the-last-laugh.jpg", poster_29, sizeof poster_29},
    {"posters/the-lodger.jpg", poster_30, sizeof poster_30},
    {"posters/the-passion-of-joan-of-arc.jpg", poster_31, sizeof poster_31},
    {"posters/the-phantom-carriage.jpg", poster_32, sizeof poster_32},
    {"posters/the-phantom-of-the-opera.jpg", poster_33, sizeof poster_33},
    {"posters/the-thief-of-bagdad.jpg", poster_34, sizeof poster_34},
    {"posters/the-wind.jpg", poster_35, sizeof poster_35},
    {"posters/un-chien-andalou.jpg", poster_36, sizeof poster_36},
};

size_t csample_count(void) { return sizeof files / sizeof files[0]; }

csample_file csample_at(size_t index) { return files[index]; }
