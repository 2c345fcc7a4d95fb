// XML documents: text where it stands, lines, data that is not XML, long documents, what is refused.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "text/xml.h"
#include "unit.h"

static void assert_text(const ct_xml* element, const char* expected) {
    assert_non_null(element);
    assert_int_equal(element->text_size, strlen(expected));
    assert_memory_equal(element->text, expected, element->text_size);
}

static void text_runs_from_the_start_tag_to_the_next_markup(void** unused) {
    (void)unused;
    const char text[] =
        "<?xml version='1.0'?>\n<a>one<b\n  k='v'\n> two </b> after <c/><d></d><e><!-- x -->hidden</e>"
        "<f>before<!-- x -->after</f><g>before<?x y?>after</g></a>";
    ct_xml_document document;
    ct_error error;
    assert_int_equal(ct_xml_read(&document, text, strlen(text), NULL, &error), CT_OK);
    const ct_xml* a = document.root;
    assert_text(a, "one");
    assert_text(ct_xml_child(a, "b"), " two ");
    assert_text(ct_xml_child(a, "c"), "");
    assert_text(ct_xml_child(a, "d"), "");
    assert_text(ct_xml_child(a, "e"), "");
    assert_text(ct_xml_child(a, "f"), "before");
    assert_text(ct_xml_child(a, "g"), "before");
    assert_int_equal(a->line, 2);
    assert_int_equal(ct_xml_child(a, "b")->line, 2);
    assert_int_equal(ct_xml_child(a, "b")->text_line, 4);
    assert_string_equal(ct_xml_get(ct_xml_child(a, "b"), "k"), "v");
    ct_xml_free(&document);
}

static void reading_ends_before_data_that_is_not_xml(void** unused) {
    (void)unused;
    const char text[] = "<a><b/><raw k='1'>_\x01<<&\0\xff</nothing>";
    ct_xml_document document;
    ct_error error;
    assert_int_equal(ct_xml_read(&document, text, sizeof text - 1, NULL, &error), CT_BAD_FILE);
    assert_int_equal(ct_xml_read_until(&document, text, sizeof text - 1, "raw", NULL, &error), CT_OK);
    const ct_xml* raw = ct_xml_child(document.root, "raw");
    assert_non_null(ct_xml_child(document.root, "b"));
    assert_non_null(raw);
    assert_ptr_equal(raw->text, strchr(text, '_'));
    assert_ptr_equal(raw->text + raw->text_size, text + sizeof text - 1);
    ct_xml_free(&document);
}

// Longer than what the parser takes at once, with elements across the seams.
static void long_documents_keep_their_places(void** unused) {
    (void)unused;
    const size_t count = 100000, most = 48 * count + 100;
    char* text = malloc(most);
    assert_non_null(text);
    size_t size = (size_t)snprintf(text, most, "<a>\n");
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, most - size, "<b number='%zu'>%zu 1 2 3</b>\n", i, i);
    size += (size_t)snprintf(text + size, most - size, "</a>");
    assert_true(size > (1 << 21));
    ct_xml_document document;
    ct_error error;
    assert_int_equal(ct_xml_read(&document, text, size, NULL, &error), CT_OK);
    int i = 0;
    for (const ct_xml* b = document.root->child; b; b = b->next, i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%d 1 2 3", i);
        assert_text(b, expected);
        assert_int_equal(b->line, i + 2);
    }
    assert_int_equal(i, count);
    ct_xml_free(&document);
    free(text);
}

static void refused(const char* text, int line, const char* part) {
    ct_xml_document document;
    ct_error error;
    ct_error_clear(&error);
    assert_int_equal(ct_xml_read(&document, text, strlen(text), "f.xml", &error), CT_BAD_FILE);
    if (error.line != line || !strstr(error.message, part))
        fail_msg("line %d: %s", error.line, error.message);
}

static void damage_is_named_with_its_line(void** unused) {
    (void)unused;
    refused("<a>\n<b>\n", 3, "a <b> is not closed (it begins in line 2): the file was cut short");
    refused("<a>\n<b>\n</a>", 3, "a <b> is not closed");
    refused("<a>\n<b", 2, "not valid XML");
    refused("", 1, "not valid XML");
    refused("<!DOCTYPE a []>\n<a/>", 1, "document type");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_runs_from_the_start_tag_to_the_next_markup),
        cmocka_unit_test(reading_ends_before_data_that_is_not_xml),
        cmocka_unit_test(long_documents_keep_their_places),
        cmocka_unit_test(damage_is_named_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
