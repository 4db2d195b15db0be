// pages: the events in the raw pages of a damaged database, where the way to them is lost. Reads the file
// format of SQLite itself (sqlite.org/fileformat2.html): leaf pages of tables, and what overflows from them.
// Knows the columns of `events` and nothing of locks or logs.
#pragma once

#include "base/function_ref.h"
#include "store/event.h"

namespace ik {

// Every event that still is whole, in the order of their writing. Error: OPEN_FAILED and its like, and what take says.
Status scan_pages(const std::string& path, FunctionRef<Status(StoredEvent)> take);

}
