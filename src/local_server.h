// local_server: model servers that run on this machine, found by their usual ports. Asks the
// loopback only, and only where the socket that listens is ours or root's: on a machine with
// several users anybody may listen there.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace ik {

struct ServerKind { std::string_view name; int port; };
inline constexpr ServerKind server_kinds[] = {{"Ollama", 11434}, {"llama-server", 8080}, {"LM Studio", 1234}, {"vLLM", 8000}};

struct LocalServer {
    std::string name, base_url;
    std::string model;   // the first that it offers
};

// Those that answer with a list of models within the limit, in the order of kinds. All are asked at once.
std::vector<LocalServer> local_servers(std::span<const ServerKind> kinds = server_kinds, std::chrono::milliseconds limit = std::chrono::milliseconds(200));

// Whether somebody listens on the port, and nobody but user and root does. table: /proc/net/tcp or tcp6, or both.
bool listens_for(uid_t user, int port, std::string_view table);

}
