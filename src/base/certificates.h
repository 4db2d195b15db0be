// certificates: whom to trust. Names files and folders and holds the bundle that is built in; reads no certificate.
#pragma once

#include <string>
#include <string_view>

namespace ik {

// A file of certificates or a folder of hashed ones; neither: only the built-in bundle is left.
struct Certificates {
    std::string file, folder;
    friend bool operator==(const Certificates&, const Certificates&) = default;
};

// SSL_CERT_FILE, else SSL_CERT_DIR, else the usual place of this system.
Certificates certificates();

// The usual places of Debian, Red Hat, SUSE and Alpine, looked for below root.
Certificates system_certificates(const std::string& root = "");

// Mozilla's list as the machine that built the program had it: PEM.
std::string_view built_in_certificates();

}
