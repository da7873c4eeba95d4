# Completion of autotune for fish: the program says what a word may become; where it says nothing,
# it is a file's name.
function __autotune_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l found ($words[1] --complete $words[2..] "$last" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete -c autotune -f -a '(__autotune_complete)'
