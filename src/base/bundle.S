// The certificates of the machine that builds (CA_BUNDLE of the Makefile), for machines that have none.
    .section .rodata.ikigai_certificates, "a"
    .global ikigai_certificates
    .global ikigai_certificates_end
ikigai_certificates:
    .incbin CA_BUNDLE
ikigai_certificates_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
