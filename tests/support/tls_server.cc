#include "support/tls_server.h"

#include "base/httplib.h"

#include <atomic>
#include <cstdio>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <set>
#include <thread>

namespace ik::test {
namespace {

struct FreeX509 { void operator()(X509* x) const { X509_free(x); } };
struct FreeKey { void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); } };
using Certificate = std::unique_ptr<X509, FreeX509>;
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

Certificate make_certificate(EVP_PKEY* key, const std::string& name)
{
    Certificate cert(X509_new());
    X509_set_version(cert.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
    X509_set_pubkey(cert.get(), key);
    auto* subject = X509_get_subject_name(cert.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(cert.get(), subject);
    bool address = name.find_first_not_of("0123456789.") == std::string::npos;
    auto* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ((address ? "IP:" : "DNS:") + name).c_str());
    X509_add_ext(cert.get(), names, -1);
    X509_EXTENSION_free(names);
    X509_sign(cert.get(), key, EVP_sha256());
    return cert;
}

void save(X509* cert, const std::string& path)
{
    if (auto* file = std::fopen(path.c_str(), "w")) {
        PEM_write_X509(file, cert);
        std::fclose(file);
    }
}

}

struct TlsServer::Listening {
    explicit Listening(const std::string& name) : key(EVP_EC_gen("P-256")), certificate(make_certificate(key.get(), name)), server(certificate.get(), key.get()) {}

    Key key;
    Certificate certificate;
    httplib::SSLServer server;
    int port = 0;
    std::atomic<int> requests = 0;
    std::mutex mutex;
    std::set<int> peers;   // a port of the other side each
    std::vector<httplib::Headers> headers;
    std::thread thread = {};
};

TlsServer::TlsServer(const std::string& name, const std::string& certificate_file, const std::string& answer, int newest)
    : listening_(std::make_unique<Listening>(name))
{
    auto& l = *listening_;
    save(l.certificate.get(), certificate_file);
    if (newest) {
        auto* context = l.server.ssl_context();
        SSL_CTX_set_min_proto_version(context, newest);
        SSL_CTX_set_max_proto_version(context, newest);
        SSL_CTX_set_security_level(context, 0);   // what is older than 1.2 is not spoken otherwise
    }
    auto reply = [&l, answer](const httplib::Request& request, httplib::Response& response) {
        ++l.requests;
        std::lock_guard lock(l.mutex);
        l.peers.insert(request.remote_port);
        l.headers.push_back(request.headers);
        response.set_content(answer, "text/event-stream");
    };
    l.server.Get(".*", reply);
    l.server.Post(".*", reply);
    l.port = l.server.bind_to_any_port("127.0.0.1");
    l.thread = std::thread([&l] { l.server.listen_after_bind(); });
    l.server.wait_until_ready();
}

TlsServer::~TlsServer()
{
    listening_->server.stop();
    listening_->thread.join();
}

std::string TlsServer::base_url() const { return "https://127.0.0.1:" + std::to_string(listening_->port) + "/v1"; }
int TlsServer::port() const { return listening_->port; }
int TlsServer::requests() const { return listening_->requests; }

bool TlsServer::heard(const std::string& header) const
{
    std::lock_guard lock(listening_->mutex);
    return std::any_of(listening_->headers.begin(), listening_->headers.end(), [&](auto& h) { return h.count(header) > 0; });
}

int TlsServer::connections() const
{
    std::lock_guard lock(listening_->mutex);
    return static_cast<int>(listening_->peers.size());
}

std::string hashed_name(const std::string& certificate_file)
{
    auto* file = std::fopen(certificate_file.c_str(), "r");
    if (!file)
        return {};
    Certificate cert(PEM_read_X509(file, nullptr, nullptr, nullptr));
    std::fclose(file);
    char name[16] = {};
    std::snprintf(name, sizeof name, "%08lx.0", X509_subject_name_hash(cert.get()));
    return name;
}

int readable_certificates(std::string_view pem)
{
    auto* bytes = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    int count = 0;
    while (Certificate(PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr))) ++count;
    BIO_free(bytes);
    return count;
}

}
