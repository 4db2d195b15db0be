// schema: the tables of a database of sessions, and how older ones are brought up to date.
#pragma once

#include "store/db.h"

namespace ik {

// Of the newest schema that this program knows: the database's user_version.
std::int64_t schema_version();

// Makes or migrates the tables, in one transaction.
// Error: STORE_NEWER, INVALID_ARG for the database of another program; then nothing has been touched.
Status bring_up_to_date(Db&, const std::string& path);

// The sentence for a database that is newer than this program.
Error newer(const std::string& path, std::int64_t version);

}
