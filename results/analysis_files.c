/* Which files a profile's answer is made of, as JSON. */
#include "results/analysis_files.h"

#include "formats/json.h"

json_t *analysis_modes_json(unsigned modes)
{
    json_t *names = json_array();
    for (int mode = 0; mode < PROFILE_MODES; mode++)
        if (modes >> mode & 1)
            json_array_append_new(names, json_string(profile_mode_name(mode)));
    if (!modes)
        json_array_append_new(names, json_string(profile_mode_name(PROFILE_MODES)));
    return names;
}

json_t *analysis_files_json(const struct profile_join *join)
{
    json_t *files = json_array();
    for (int f = 0; f < join->file_count; f++)
        json_array_append_new(files, json_pack("{s:o, s:s, s:o}", "file",
                                               json_text(join->files[f].csv.file), "format",
                                               join->files[f].format, "modes",
                                               analysis_modes_json(join->files[f].modes)));
    return files;
}
