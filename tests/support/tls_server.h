// TlsServer: one answer over TLS on the loopback, with a certificate made for the test.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ik::test {

class TlsServer {
public:
    // The certificate is for the name (127.0.0.1: as an address), signed by itself, and kept in the file.
    // newest: the last version of TLS that it speaks, 0x0303 for TLS 1.2.
    TlsServer(const std::string& name, const std::string& certificate_file, const std::string& answer, int newest = 0);
    ~TlsServer();

    std::string base_url() const;   // https://127.0.0.1:PORT/v1
    int port() const;
    int requests() const;
    int connections() const;
    bool heard(const std::string& header) const;   // in any request

private:
    struct Listening;
    std::unique_ptr<Listening> listening_;
};

// The name under which OpenSSL looks for the certificate in a folder: "1a2b3c4d.0".
std::string hashed_name(const std::string& certificate_file);

// How many certificates PEM text holds that can be read.
int readable_certificates(std::string_view pem);

}
