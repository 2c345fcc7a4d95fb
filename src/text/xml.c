// Reading XML with Expat; see xml.h.
#include "text/xml.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

enum { MOST_DEPTH = 200, CHUNK = 1 << 20 };  // bytes that Expat is given at once

typedef struct xml_reader {
    ct_xml_document* document;
    ct_xml* open;  // the element that is being read
    int depth;
    XML_Parser parser;
    const char *begin, *end;  // of the document
    const char* last;         // reading ends at an element of this name, NULL: none
    bool in_text;             // of the open element: no markup yet
    bool too_deep, has_type, complete;
} xml_reader;

static void* allocate(size_t size) { return ct_alloc(size, 1); }
static void* reallocate(void* memory, size_t size) { return ct_resize(memory, size, 1); }
static void release(void* memory) { ct_free(memory); }

static const char* copy_text(ct_arena* arena, const char* text) {
    return ct_arena_copy(arena, text, strlen(text) + 1, 1);
}

// Keeps name and attributes; false: out of memory.
static bool fill_element(ct_arena* arena, ct_xml* element, const char* name, const char** pairs) {
    while (pairs[2 * element->nattribute]) element->nattribute++;
    ct_xml_attribute* attribute = ct_arena_alloc(arena, (size_t)element->nattribute, sizeof *attribute);
    element->name = copy_text(arena, name);
    if (!attribute || !element->name) return false;
    for (int i = 0; i < element->nattribute; i++) {
        attribute[i].name = copy_text(arena, pairs[2 * i]);
        attribute[i].value = copy_text(arena, pairs[2 * i + 1]);
    }
    element->attribute = attribute;
    return !arena->failed;
}

static const char* current(const xml_reader* reader) {
    return reader->begin + XML_GetCurrentByteIndex(reader->parser);
}

// The text of the open element ends at the first markup within it.
static void end_text(void* user) {
    xml_reader* reader = user;
    const char* here = current(reader);
    if (reader->in_text && here > reader->open->text)
        reader->open->text_size = (size_t)(here - reader->open->text);
    reader->in_text = false;
}

static void begin_text(xml_reader* reader, ct_xml* element) {
    const char* tag = current(reader);
    element->line = element->text_line = (int)XML_GetCurrentLineNumber(reader->parser);
    element->text = tag + XML_GetCurrentByteCount(reader->parser);
    for (; tag < element->text; tag++) element->text_line += *tag == '\n';
}

static void skip_comment(void* user, const char* text) {
    (void)text;
    end_text(user);
}

static void skip_instruction(void* user, const char* target, const char* text) {
    (void)target, (void)text;
    end_text(user);
}

static void begin_element(void* user, const char* name, const char** pairs) {
    xml_reader* reader = user;
    end_text(reader);
    reader->too_deep |= ++reader->depth > MOST_DEPTH;
    ct_arena* arena = &reader->document->arena;
    ct_xml* element = reader->too_deep ? NULL : ct_arena_alloc(arena, 1, sizeof *element);
    if (!element || !fill_element(arena, element, name, pairs)) {
        XML_StopParser(reader->parser, XML_FALSE);
        return;
    }
    begin_text(reader, element);
    element->file = reader->document->file;
    element->parent = reader->open;
    if (!reader->open) reader->document->root = element;
    else if (reader->open->last) reader->open->last = reader->open->last->next = element;
    else reader->open->child = reader->open->last = element;
    reader->open = element;
    reader->in_text = true;
    if (!reader->last || strcmp(name, reader->last)) return;
    reader->complete = true;
    element->text_size = (size_t)(reader->end - element->text);
    XML_StopParser(reader->parser, XML_FALSE);
}

static void end_element(void* user, const char* name) {
    xml_reader* reader = user;
    (void)name;
    end_text(reader);
    reader->depth--;
    reader->open = reader->open->parent;
}

static void begin_type(void* user, const char* name, const char* system, const char* public, int internal) {
    xml_reader* reader = user;
    reader->has_type = true;
    XML_StopParser(reader->parser, XML_FALSE);
}

// Expat counts in ints: a long document is given in pieces.
static bool parse_all(xml_reader* reader) {
    const char* at = reader->begin;
    for (;;) {
        size_t left = (size_t)(reader->end - at), size = left < CHUNK ? left : CHUNK;
        if (XML_Parse(reader->parser, at, (int)size, size == left) != XML_STATUS_OK) return reader->complete;
        if (size == left) return true;
        at += size;
    }
}

// What is wrong with an element that is still open where it must not be.
static ct_status fail_open(const xml_reader* reader, int line, ct_error* error) {
    return ct_fail_at(
        error, CT_BAD_FILE, reader->document->file, line,
        "this is not valid XML: a <%.40s> is not closed (it begins in line %d): the file was cut "
        "short or damaged",
        reader->open->name, reader->open->line);
}

static ct_status parse(xml_reader* reader, ct_error* error) {
    const char* file = reader->document->file;
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, begin_element, end_element);
    XML_SetCommentHandler(reader->parser, skip_comment);
    XML_SetProcessingInstructionHandler(reader->parser, skip_instruction);
    XML_SetCdataSectionHandler(reader->parser, end_text, NULL);
    XML_SetStartDoctypeDeclHandler(reader->parser, begin_type);
    bool fine = parse_all(reader);
    int line = (int)XML_GetCurrentLineNumber(reader->parser);
    enum XML_Error code = XML_GetErrorCode(reader->parser);
    if (reader->has_type)
        return ct_fail_at(error, CT_BAD_FILE, file, line,
                          "the file declares a document type (DOCTYPE): remove it");
    if (reader->too_deep)
        return ct_fail_at(error, CT_BAD_FILE, file, line, "elements are nested deeper than %d",
                          (int)MOST_DEPTH);
    if (reader->document->arena.failed || (!fine && code == XML_ERROR_NO_MEMORY))
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    bool unclosed = code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_TAG_MISMATCH;
    if (!fine && unclosed && reader->open) return fail_open(reader, line, error);
    if (!fine)
        return ct_fail_at(error, CT_BAD_FILE, file, line, "this is not valid XML: %s (line %d)",
                          XML_ErrorString(code), line);
    return CT_OK;
}

ct_status ct_xml_read(ct_xml_document* document, const char* text, size_t size, const char* file,
                      ct_error* error) {
    return ct_xml_read_until(document, text, size, NULL, file, error);
}

ct_status ct_xml_read_until(ct_xml_document* document, const char* text, size_t size, const char* last,
                            const char* file, ct_error* error) {
    *document = (ct_xml_document){.file = file ? file : ""};
    XML_Memory_Handling_Suite memory = {allocate, reallocate, release};
    xml_reader reader = {.document = document,
                         .parser = XML_ParserCreate_MM(NULL, &memory, NULL),
                         .begin = text,
                         .end = text + size,
                         .last = last};
    if (!reader.parser) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = parse(&reader, error);
    XML_ParserFree(reader.parser);
    if (status) ct_xml_free(document);
    return status;
}

void ct_xml_free(ct_xml_document* document) {
    ct_arena_free(&document->arena);
    document->root = NULL;
}

const char* ct_xml_get(const ct_xml* element, const char* name) {
    for (int i = 0; i < element->nattribute; i++)
        if (!strcmp(element->attribute[i].name, name)) return element->attribute[i].value;
    return NULL;
}

static const ct_xml* first_named(const ct_xml* element, const char* name) {
    while (element && strcmp(element->name, name)) element = element->next;
    return element;
}

const ct_xml* ct_xml_child(const ct_xml* element, const char* name) {
    return first_named(element->child, name);
}
const ct_xml* ct_xml_next(const ct_xml* element, const char* name) {
    return first_named(element->next, name);
}

ct_status ct_xml_fail(const ct_xml_document* document, const ct_xml* element, ct_error* error,
                      const char* format, ...) {
    char rest[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rest, sizeof rest, format, arguments);
    va_end(arguments);
    const char* file = element->file ? element->file : document->file;
    return ct_fail_at(error, CT_BAD_FILE, file, element->line, "<%.40s> %s", element->name, rest);
}
