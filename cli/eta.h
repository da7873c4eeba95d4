/* How long work will still take, from how it went so far: right within a factor of three, or not
 * said.
 *
 *   struct eta eta = {0};
 *   eta_note(&eta, share, seconds);      as often as it likes, both growing
 *   eta_left_s(&eta)                     at any time */
#ifndef AUTOTUNE_CLI_ETA_H
#define AUTOTUNE_CLI_ETA_H

enum { ETA_MARKS = 128 };

struct eta {
    double share, seconds; /* the latest */
    int steps;             /* that the share has grown by */
    int marks;
    double reached_s[ETA_MARKS + 1]; /* when so many parts of ETA_MARKS were done */
};

/* `share` of the work, 0 to 1, is done `seconds` after it began. */
void eta_note(struct eta *eta, double share, double seconds);

/* Seconds that were left at the latest note; negative while that cannot be told: before a tenth is
 * done, and while what was done so far says one thing in one way and another in another. */
double eta_left_s(const struct eta *eta);

#endif
