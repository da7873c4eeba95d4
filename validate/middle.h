/* What samples come to. */
#ifndef AUTOTUNE_VALIDATE_MIDDLE_H
#define AUTOTUNE_VALIDATE_MIDDLE_H

/* Median and half the distance of the quartiles, relative to it; samples are put in order. 0 and 0
 * without any. */
struct middle {
    double median, spread;
    int count;
};
struct middle middle_of(double *samples, int count);

#endif
