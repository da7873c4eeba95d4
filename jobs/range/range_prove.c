/* What a part's tiling takes, less the regret, is a time that no tiling of the class may beat.
 * Where that is not known yet, branch and bound over all such classes together (search/family.h)
 * finds one that does, or proves that there is none. */
#include "jobs/range/range_parts.h"
#include "search/family.h"

#include <stdlib.h>

/* ---- branch and bound over some classes ----------------------------------------------------- */

static enum status take_member(struct range_answer *answer, const struct family_member *member,
                               int class, int64_t *faster, struct error *error)
{
    struct range_class *of = &answer->classes[class];
    struct tiling tiling;
    if (!member->best_fs) {
        of->least_fs = of->least_fs > member->below_fs ? of->least_fs : member->below_fs;
        return STATUS_OK;
    }
    ++*faster;
    of->best_fs = of->least_fs = member->best_fs;
    space_tiling(member->space, member->index, &tiling);
    return range_add_tiling(answer, class, &tiling, error);
}

/* Classes of larger problems, whose times are longer, come first. */
static int fill_members(const struct range_answer *answer, const int64_t below_fs[],
                        struct family_member *members, int *class_of)
{
    int count = 0;
    for (int c = answer->class_count - 1; c >= 0; c--)
        if (below_fs[c] && answer->classes[c].least_fs < below_fs[c]) {
            members[count] =
                (struct family_member){.space = answer->spaces[c], .below_fs = below_fs[c]};
            class_of[count++] = c;
        }
    return count;
}

static enum status search_members(const struct range_question *question, const struct stop *stop,
                                  struct family_member *members, const int *class_of, int count,
                                  struct range_answer *answer, int64_t *faster, struct error *error)
{
    struct family_effort effort = {0};
    enum status status = search_family(members, count, question->threads, stop, &effort, error);
    answer->bounded += effort.bounded;
    answer->simulated += effort.simulated;
    answer->taken_over += effort.taken_over;
    for (int m = 0; m < count && status == STATUS_OK; m++)
        status = take_member(answer, &members[m], class_of[m], faster, error);
    return status;
}

enum status range_search(const struct range_question *question, const struct stop *stop,
                         const int64_t below_fs[], struct range_answer *answer, int64_t *faster,
                         struct error *error)
{
    size_t room = (size_t)answer->class_count;
    struct family_member *members = calloc(room, sizeof *members);
    int *class_of = calloc(room, sizeof *class_of);
    enum status status = members && class_of ? STATUS_OK : error_memory(error);
    *faster = 0;
    if (status == STATUS_OK)
        status = search_members(question, stop, members, class_of,
                                fill_members(answer, below_fs, members, class_of), answer, faster,
                                error);
    free(members);
    free(class_of);
    return status;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

/* The least time that is within the regret of no faster one. */
static int64_t needed_fs(int64_t time_fs, double asked)
{
    int64_t least = (int64_t)((double)time_fs / (1 + asked));
    while (within_fs(least, asked) < time_fs)
        least++;
    return least;
}

static void need_part(const struct range_answer *answer, const struct range_part *part,
                      double asked, int64_t below_fs[])
{
    for (int run = part->first; run <= part->last; run++) {
        int64_t *below = &below_fs[answer->runs[run].class],
                needed = needed_fs(range_time_fs(answer, part, run), asked);
        *below = needed > *below ? needed : *below;
    }
}

enum status range_prove(const struct range_question *question, const struct stop *stop,
                        double asked, struct range_answer *answer, bool *more, struct error *error)
{
    int64_t faster, *below_fs = calloc((size_t)answer->class_count, sizeof *below_fs);
    if (!below_fs)
        return error_memory(error);
    for (int p = 0; p < answer->part_count; p++)
        need_part(answer, &answer->parts[p], asked, below_fs);
    enum status status = range_search(question, stop, below_fs, answer, &faster, error);
    free(below_fs);
    *more = faster > 0;
    for (int c = 0; *more && c < answer->class_count && status == STATUS_OK; c++)
        status = range_find_best(answer, c, error);
    return status;
}
