// ikigai llm: one request a line on stdin, event lines on stdout. Everything that is
// provider-shaped is behind this process; it alone has the provider's key.
#pragma once

namespace ik {

int llm(int argc, char** argv);

}
