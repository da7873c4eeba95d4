/* The strategies that programs can express; each one's file says what it does to a program and why
 * that computes the same. All are of the type advice_strategy.apply. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ADVICE_TABLE_H
#define AUTOTUNE_ANALYSIS_ADVICE_ADVICE_TABLE_H

#include "analysis/advice/advice.h"

enum status advice_rus(struct trial *trial, struct error *error);
enum status advice_ais(struct trial *trial, struct error *error);

enum status advice_rsd(struct trial *trial, struct error *error);
enum status advice_pp(struct trial *trial, struct error *error);
enum status advice_mrt(struct trial *trial, struct error *error);
enum status advice_itg(struct trial *trial, struct error *error);
enum status advice_aip(struct trial *trial, struct error *error);

#endif
