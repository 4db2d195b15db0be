#include "applets/applet.h"
#include "llm/llm.h"

#include <cstring>

int main(int argc, char** argv)
{
    const char* slash = std::strrchr(argv[0], '/');
    if (auto* applet = ik::find_applet(slash ? slash + 1 : argv[0]))
        return ik::serve(*applet, argc, argv);
    if (argc > 1)
        if (auto* applet = ik::find_applet(argv[1]))
            return ik::serve(*applet, argc - 1, argv + 1);
    if (argc > 1 && std::strcmp(argv[1], "llm") == 0)
        return ik::llm(argc - 1, argv + 1);
    return 2;
}
