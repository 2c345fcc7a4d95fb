// The page without its data: the bytes of CT_PAGE_SHELL, a file that web/ was bundled into.
#include "out/page_shell.h"

#ifdef CT_PAGE_SHELL
__asm__(".section .rodata\n"
        ".global ct_page_shell, ct_page_shell_end\n"
        ".hidden ct_page_shell, ct_page_shell_end\n"
        "ct_page_shell:\n"
        ".incbin \"" CT_PAGE_SHELL "\"\n"
        "ct_page_shell_end:\n"
        ".byte 0\n"
        ".previous\n");
#else
__asm__(".section .rodata\n"
        ".global ct_page_shell, ct_page_shell_end\n"
        ".hidden ct_page_shell, ct_page_shell_end\n"
        "ct_page_shell:\n"
        "ct_page_shell_end:\n"
        ".byte 0\n"
        ".previous\n");
#endif
