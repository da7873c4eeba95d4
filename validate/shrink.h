/* What is left of a gain that the model claims, once it is measured. Of two kernels of the same
 * problem the one that the model calls faster was chosen for it: part of what it is ahead by is the
 * model's error. */
#ifndef AUTOTUNE_VALIDATE_SHRINK_H
#define AUTOTUNE_VALIDATE_SHRINK_H

/* The slope of measured on predicted log differences between kernels of equal size. */
struct gain_slope {
    double value, error; /* and what it lies within, on either side */
};
extern const struct gain_slope gain_slope;

/* Gains as shares: 0.25 is a quarter faster, time before over time after - 1; below 0 slower. */
struct shrunk {
    double claimed;
    double gain;      /* to be expected */
    double low, high; /* over what the slope lies within, low <= gain <= high */
};

/* Of a gain > -1. */
struct shrunk shrunk_gain(double claimed);

/* The same of the share of a tiling's time that another one saves, below 1; of a loss, which is
 * negative, likewise. */
double shrunk_saving(double claimed_share);

#endif
