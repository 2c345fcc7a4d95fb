// The page without its data, as web/ makes it when Cuttle is built; empty where it was built without npm.
#ifndef CT_OUT_PAGE_SHELL_H
#define CT_OUT_PAGE_SHELL_H

extern const char ct_page_shell[], ct_page_shell_end[];

#endif
