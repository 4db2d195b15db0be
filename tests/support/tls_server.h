// TlsServer: one answer over TLS on the loopback, with a certificate made for the test.
#pragma once

#include <memory>
#include <string>

namespace ik::test {

class TlsServer {
public:
    // The certificate is for the name (127.0.0.1: as an address), signed by itself, and kept in the file.
    TlsServer(const std::string& name, const std::string& certificate_file, const std::string& answer);
    ~TlsServer();

    std::string base_url() const;   // https://127.0.0.1:PORT/v1
    int requests() const;
    int connections() const;

private:
    struct Listening;
    std::unique_ptr<Listening> listening_;
};

}
