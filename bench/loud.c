/* A tool that answers with one JSON string of 200 MB, as fast as it can be written; called "lines", in lines of 50 bytes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int say(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(1, bytes, size);
        if (n < 0)
            return 0;
        bytes += n;
        size -= (size_t)n;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static char piece[200000];
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    if (argc > 1 && strcmp(argv[1], "--schema") == 0)
        return printf("{\"name\":\"%s\",\"description\":\"200 MB\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}", name) < 0;
    memset(piece, 'x', sizeof piece);
    for (size_t end = 50; strcmp(name, "lines") == 0 && end <= sizeof piece; end += 50)
        memcpy(piece + end - 2, "\\n", 2);
    if (!say("\"", 1))
        return 1;
    for (int i = 0; i < 1000; ++i)
        if (!say(piece, sizeof piece))
            return 1;
    return !say("\"", 1);
}
