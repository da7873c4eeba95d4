# Completion of autotune for bash: the program says what a word may become; where it says nothing,
# it is a file's name.
_autotune() {
    local IFS=$'\n'
    # shellcheck disable=SC2207 # a line is a word
    COMPREPLY=($("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o bashdefault -o default -F _autotune autotune
