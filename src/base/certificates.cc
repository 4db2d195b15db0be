#include "base/certificates.h"

#include "base/places.h"

#include <algorithm>
#include <cctype>
#include <dirent.h>
#include <unistd.h>

// bundle.S with the certificates of the machine that builds (CA_BUNDLE of the Makefile), for machines that have none
extern "C" const char ikigai_certificates[], ikigai_certificates_end[];

namespace ik {
namespace {

// A folder whose certificates are found by their hash: only the one that is needed is read.
bool hashed(const std::string& folder)
{
    auto* dir = opendir(folder.c_str());
    if (!dir)
        return false;
    bool found = false;
    while (auto* entry = readdir(dir)) {
        std::string_view name = entry->d_name;
        found = name.size() > 9 && name[8] == '.' && std::ranges::all_of(name.substr(0, 8), [](unsigned char c) { return std::isxdigit(c); });
        if (found)
            break;
    }
    closedir(dir);
    return found;
}

constexpr const char* folders[] = {"/etc/ssl/certs", "/etc/pki/ca-trust/extracted/pem/directory-hash"};
constexpr const char* files[] = {
    "/etc/ssl/certs/ca-certificates.crt",                  // Debian, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",                    // Red Hat
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",                              // SUSE
    "/var/lib/ca-certificates/ca-bundle.pem",
    "/etc/ssl/cert.pem",                                   // Alpine
};

}

Certificates certificates()
{
    if (auto file = variable("SSL_CERT_FILE"); !file.empty()) return {file, {}};
    if (auto folder = variable("SSL_CERT_DIR"); !folder.empty()) return {{}, folder};
    return system_certificates();
}

Certificates system_certificates(const std::string& root)
{
    for (auto* folder : folders)
        if (hashed(root + folder))
            return {{}, root + folder};
    for (auto* file : files)
        if (access((root + file).c_str(), R_OK) == 0)
            return {root + file, {}};
    return {};
}

std::string_view built_in_certificates()
{
    return {ikigai_certificates, static_cast<std::size_t>(ikigai_certificates_end - ikigai_certificates)};
}

}
