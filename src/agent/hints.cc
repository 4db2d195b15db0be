#include "agent/hints.h"

namespace ik {
namespace {

constexpr std::string_view sudo = "Tools have no terminal: sudo cannot ask for a password. Use sudo -n where no password is needed, else tell the user to run the command, "
                                  "or ikigai, as root.";
constexpr std::string_view su = "Tools have no terminal: su cannot ask for a password. Tell the user to run the command, or ikigai, as that user.";
constexpr std::string_view ssh_password = "Tools have no terminal: ssh cannot ask for a password or passphrase. It needs a key that asks for none, or one in an agent; "
                                          "ssh -o BatchMode=yes fails at once instead of asking.";
constexpr std::string_view ssh_host = "Tools have no terminal: ssh cannot ask whether a host is known. The user must add its key to known_hosts after comparing it, "
                                      "for example with ssh-keyscan.";
constexpr std::string_view git = "Tools have no terminal: git cannot ask for a user name or password. It needs a credential helper, a token, or an ssh address of the repository.";
constexpr std::string_view gpg = "Tools have no terminal: gpg cannot ask for a passphrase. Use a key whose passphrase the agent has, or --batch --pinentry-mode loopback with "
                                 "--passphrase-file; git can be told not to sign with --no-gpg-sign.";
constexpr std::string_view terminal = "Tools have no terminal, so /dev/tty cannot be opened: look for an option of the program that makes it ask nothing (-y, -n, --batch).";

struct Row { std::string_view said, hint; };
constexpr Row rows[] = {
    {"sudo: a terminal is required", sudo},
    {"sudo: a password is required", sudo},
    {"sudo: no tty present", sudo},
    {"sudo: sorry, you must have a tty", sudo},
    {"su: must be run from a terminal", su},
    {"su: Authentication failure", su},
    {"could not read Username for", git},
    {"could not read Password for", git},
    {"terminal prompts disabled", git},
    {"Host key verification failed", ssh_host},
    {"Permission denied (publickey", ssh_password},
    {"Permission denied (password", ssh_password},
    {"Permission denied (keyboard-interactive", ssh_password},
    {"read_passphrase: can't open /dev/tty", ssh_password},
    {"ssh_askpass: exec", ssh_password},
    {"gpg: cannot open '/dev/tty'", gpg},
    {"gpg: signing failed", gpg},
    {"gpg: public key decryption failed", gpg},
    {"gpg: Sorry, no terminal at all requested", gpg},
    {"gpg failed to sign the data", gpg},
    {"/dev/tty: No such device or address", terminal},
    {"cannot open /dev/tty", terminal},
    {"can't open /dev/tty", terminal},
};

const std::string* text_at(const Json* json, std::string_view name)
{
    auto* member = json ? json->find(name) : nullptr;
    return member ? member->as<std::string>() : nullptr;
}

// What a program says in the course of a success is no failure to explain.
bool failed(const Json* result)
{
    if (!result)
        return true;
    auto* status = result->find("exit_code");
    return result->find("error") || (status && *status != Json(0));
}

}

std::string_view hint_for(const Json& envelope, std::string_view words)
{
    auto* result = envelope.find("result");
    if (!failed(result))
        return {};
    const std::string* texts[] = {text_at(result, "output"), text_at(result, "error"), text_at(&envelope, "stdout")};
    for (auto& row : rows) {
        if (words.find(row.said) != words.npos)
            return row.hint;
        for (auto* text : texts)
            if (text && text->find(row.said) != text->npos)
                return row.hint;
    }
    return {};
}

}
