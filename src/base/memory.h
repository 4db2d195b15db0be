// Memory that was wanted for a moment, given back: a process that waits for long must not keep what its largest request took.
#pragma once

namespace ik {

void give_back_memory();   // what is free already; takes some 100 us

}
