// The bytes of FILE, built in as NAME up to NAME_end: read from the executable's own pages, and only when they are looked at.
#define TEXT(word) #word
#define TEXT_OF(word) TEXT(word)
#define JOIN(a, b) a##b
#define JOIN_OF(a, b) JOIN(a, b)
    .section TEXT_OF(.rodata.NAME), "a"
    .global NAME
    .global JOIN_OF(NAME, _end)
NAME:
    .incbin FILE
JOIN_OF(NAME, _end):
    .byte 0
    .section .note.GNU-stack, "", %progbits
