/* "Did you mean": of the words that could have stood there, the one that is like the one that did.
 *
 *   struct suggestion s = suggest_for(word, -1);
 *   suggest_try(&s, "…");            each word that could have
 *   … "expected one of %s%s", s.text  "; did you mean X?", or "" where none is like it */
#ifndef AUTOTUNE_CORE_SUGGEST_H
#define AUTOTUNE_CORE_SUGGEST_H

enum { SUGGEST_WORD = 128 };

struct suggestion {
    char word[SUGGEST_WORD]; /* cut where it is longer */
    int cost;                /* of the one found */
    char text[SUGGEST_WORD + 32];
};

/* `length` < 0: to the end of `word`. */
struct suggestion suggest_for(const char *word, int length);

/* Of equally near ones the first stays; words of the same letters in another case are nearest. */
void suggest_try(struct suggestion *suggestion, const char *candidate);

#endif
