// What a shell reads once. It hands the words on to `ikigai completion --of`, so that a script never knows less than the program.
#include "completion.h"

namespace ik {
namespace {

constexpr std::string_view bash = R"script(# ikigai: completion for bash. To have it in this shell: source <(ikigai completion bash)
_ikigai()
{
    local line cur=${COMP_WORDS[COMP_CWORD]} program=${1/#\~\//$HOME/}
    [[ $cur == = ]] && cur=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :folders | :commands)
            local kind=-f path
            [[ $line == :folders ]] && kind=-d
            [[ $line == :commands ]] && kind=-c
            compopt -o filenames 2>/dev/null
            while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$kind" -- "$cur")
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$program" completion --of "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
}
complete -F _ikigai ikigai
)script";

constexpr std::string_view zsh = R"script(#compdef ikigai
# ikigai: completion for zsh. To have it in this shell: source <(ikigai completion zsh)
_ikigai()
{
    local line
    local -a found
    for line in ${(f)"$(${(Q)words[1]/#\~\//$HOME/} completion --of "${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)"}; do
        case $line in
        (:files) _files ;;
        (:folders) _files -/ ;;
        (:commands) _command_names -e ;;
        (*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( ! $#found )) || _describe 'ikigai' found
}
if [[ ${funcstack[1]} == _ikigai ]]; then
    _ikigai "$@"
else
    compdef _ikigai ikigai
fi
)script";

constexpr std::string_view fish = R"script(# ikigai: completion for fish. To have it in this shell: ikigai completion fish | source
function __ikigai_complete
    set -l words (commandline -opc)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    for line in ($program completion --of $words[2..-1] (commandline -ct) 2>/dev/null </dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct) ''
            case ':commands'
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end
complete -c ikigai -f -a '(__ikigai_complete)'
)script";

constexpr struct {
    std::string_view shell, text;
} scripts[] = {{"bash", bash}, {"fish", fish}, {"zsh", zsh}};

}

std::vector<std::string> completion_shells()
{
    std::vector<std::string> out;
    for (auto& script : scripts) out.emplace_back(script.shell);
    return out;
}

std::string_view completion_script(std::string_view shell)
{
    for (auto& script : scripts)
        if (script.shell == shell) return script.text;
    return "";
}

}
