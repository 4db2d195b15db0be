// cpp-httplib as ikigai has it: one program has one httplib. For base/http.cc and the tests' TLS server only.
#pragma once

#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_USE_POLL

// The header has an object that sets up OpenSSL before main: two thirds of the start of every applet, and for nothing,
// because OpenSSL does the same when the first TLS connection needs it.
#include <openssl/ssl.h>
#define OPENSSL_init_ssl(...) static_cast<void>(0)
#include <httplib.h>
#undef OPENSSL_init_ssl
