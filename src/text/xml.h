// XML documents as trees of elements, read with Expat.
//
// Of the text within an element the part before the first markup is kept, as it stands in the document:
// entities are not resolved. Comments and processing instructions are passed over; documents that declare a
// type (DTD) are refused, and with them entities of their own. The tree lives in the document's arena.
#ifndef CT_TEXT_XML_H
#define CT_TEXT_XML_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_xml_attribute {
    const char *name, *value;
} ct_xml_attribute;

typedef struct ct_xml {
    const char* name;
    const ct_xml_attribute* attribute;  // nattribute
    int nattribute;
    const char* file;  // that it was read from, as of its document
    int line;          // 1-based, where the element begins
    const char* text;  // borrowed from the document: from its start tag to the next markup, not terminated
    size_t text_size;  // bytes
    int text_line;     // 1-based, where the text begins
    struct ct_xml *parent, *child, *last, *next;
} ct_xml;

typedef struct ct_xml_document {
    ct_arena arena;
    ct_xml* root;
    const char* file;  // for messages, "" when read from memory
} ct_xml_document;

ct_status ct_xml_read(ct_xml_document* document, const char* text, size_t size, const char* file,
                      ct_error* error);
// The same, where what follows the start tag of the first element named `last` need not be XML: reading ends
// there, and the element's text is the rest of the document. NULL: read all.
ct_status ct_xml_read_until(ct_xml_document* document, const char* text, size_t size, const char* last,
                            const char* file, ct_error* error);
void ct_xml_free(ct_xml_document* document);

// value of an attribute, NULL: absent
const char* ct_xml_get(const ct_xml* element, const char* name);
// the first of that name, NULL: none
const ct_xml* ct_xml_child(const ct_xml* element, const char* name);
const ct_xml* ct_xml_next(const ct_xml* element, const char* name);  // the next sibling of that name
// Fails with CT_BAD_FILE at the element: file, line and "<name> ...".
ct_status ct_xml_fail(const ct_xml_document* document, const ct_xml* element, ct_error* error,
                      const char* format, ...) __attribute__((format(printf, 4, 5)));

#endif
