// Prints the manual page of the applet that is named. A program of its own, since the pages are part of the binary.
#include "applets/applet.h"

#include <cstdio>

int main(int argc, char** argv)
{
    auto* applet = argc == 2 ? ik::find_applet(argv[1]) : nullptr;
    return applet && std::fputs(ik::man_page(*applet).c_str(), stdout) >= 0 ? 0 : 2;
}
