// What stands for other elements of an MJCF file, put in its place before the file is read: <include> by the
// children of another file's outermost element, <replicate> by so many <frame>s.
//
// Copy i of a <replicate> has the pose (offset, rotation) i times in a row, and "sep i" behind every name in
// it, the number with as many digits as the last one has.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/place.h"
#include "base/status.h"
#include "math/quat.h"
#include "read/mjcf.h"
#include "read/read.h"

enum { MOST_DEPTH = 20, MOST_COPIES = 10000, MOST_ELEMENTS = 200000 };

typedef struct expansion {
    ct_robot_reader* reader;
    int elements;  // made so far
} expansion;

static void* make(expansion* e, size_t count, size_t size) {
    void* memory = ct_arena_alloc(&e->reader->document.arena, count, size);
    if (!memory) ct_robot_out_of_memory(e->reader);
    return memory;
}

// ---- includes ----

bool ct_mjcf_find_file(ct_robot_reader* reader, const ct_xml* element, const char* folder, const char* name,
                       char path[CT_PLACE_SIZE]) {
    char directory[CT_PLACE_SIZE];
    const char *main = reader->robot->file, *between = folder && *folder ? "/" : "";
    if (!main[0])
        ct_robot_fail(reader, element,
                      "names the file \"%.60s\", but this text is not from a file: read it "
                      "from one, so that it is clear where that is",
                      name);
    if (reader->status) return false;
    ct_place_directory(main, directory);
    int length;
    if (*name == '/') length = snprintf(path, CT_PLACE_SIZE, "%s", name);
    else if (folder && *folder == '/') length = snprintf(path, CT_PLACE_SIZE, "%s/%s", folder, name);
    else length = snprintf(path, CT_PLACE_SIZE, "%s/%s%s%s", directory, folder ? folder : "", between, name);
    if (length >= CT_PLACE_SIZE) ct_robot_fail(reader, element, "names a file whose path is too long");
    return !reader->status;
}

// The outermost element of the file, NULL after a failure.
static ct_xml* read_included(expansion* e, const ct_xml* include) {
    ct_robot_reader* reader = e->reader;
    char path[CT_PLACE_SIZE], *text = NULL;
    const char* name = ct_xml_get(include, "file");
    size_t size;
    if (!name) ct_robot_fail(reader, include, "lacks its file");
    if (reader->nincluded == CT_ROBOT_INCLUDES)
        ct_robot_fail(reader, include, "is one file too many: %d are the most", (int)CT_ROBOT_INCLUDES);
    if (reader->status || !ct_mjcf_find_file(reader, include, NULL, name, path)) return NULL;
    const char* kept = ct_arena_copy(&reader->document.arena, path, strlen(path) + 1, 1);
    if (!kept) ct_robot_out_of_memory(reader);
    if (reader->status) return NULL;
    ct_error inner = {0};
    const ct_status status = ct_file_read(path, CT_READ_GIGABYTES, &text, &size, &inner);
    if (status == CT_OUT_OF_MEMORY) ct_robot_out_of_memory(reader);
    if (status) ct_robot_fail(reader, include, "names a file that cannot be read: %.300s", inner.message);
    if (status) return NULL;
    ct_xml_document* document = &reader->included[reader->nincluded];
    reader->status = ct_xml_read(document, text, size, kept, reader->error);
    ct_free(text);
    if (reader->status) return NULL;
    reader->nincluded++;
    if (strcmp(document->root->name, "mujoco") && strcmp(document->root->name, "mujocoinclude"))
        ct_robot_fail(reader, document->root,
                      "is not <mujoco> or <mujocoinclude>, as an included file needs");
    return reader->status ? NULL : document->root;
}

static void include_files(expansion* e, ct_xml* element, int depth) {
    ct_xml *before = NULL, *child = element->child;
    if (depth > MOST_DEPTH)
        ct_robot_fail(e->reader, element, "is nested too deep: do files include themselves?");
    while (child && !e->reader->status) {
        if (strcmp(child->name, "include")) {
            include_files(e, child, depth);
            before = child, child = child->next;
            continue;
        }
        ct_xml* root = read_included(e, child);
        if (!root) return;
        include_files(e, root, depth + 1);
        // its children take the place of the <include>
        for (ct_xml* at = root->child; at; at = at->next) at->parent = element;
        ct_xml *first = root->child ? root->child : child->next, *last = root->last;
        if (last) last->next = child->next;
        if (before) before->next = first;
        else element->child = first;
        if (element->last == child) element->last = last ? last : before;
        if (last) before = last;
        child = child->next;
    }
}

// ---- copies ----

static ct_xml* copy(expansion* e, const ct_xml* from, ct_xml* parent, const char* suffix) {
    if (++e->elements > MOST_ELEMENTS) ct_robot_fail(e->reader, from, "has too many copies");
    ct_xml* to = e->reader->status ? NULL : make(e, 1, sizeof *to);
    ct_xml_attribute* attribute = to ? make(e, (size_t)from->nattribute, sizeof *attribute) : NULL;
    if (!attribute) return NULL;
    *to = *from;
    to->attribute = attribute, to->parent = parent, to->child = to->last = to->next = NULL;
    for (int i = 0; i < from->nattribute && !e->reader->status; i++) {
        attribute[i] = from->attribute[i];
        if (strcmp(attribute[i].name, "name")) continue;
        const size_t size = strlen(attribute[i].value) + strlen(suffix) + 1;
        char* name = make(e, size, 1);
        if (name) snprintf(name, size, "%s%s", attribute[i].value, suffix);
        attribute[i].value = name ? name : "";
    }
    for (const ct_xml* child = from->child; child && !e->reader->status; child = child->next) {
        ct_xml* own = copy(e, child, to, suffix);
        if (to->last) to->last->next = own;
        else to->child = own;
        to->last = own;
    }
    return e->reader->status ? NULL : to;
}

// A <frame> at a pose with copies of the children.
static ct_xml* make_frame(expansion* e, const ct_xml* replicate, ct_robot_pose pose, const char* suffix) {
    ct_xml* frame = copy(e, replicate, replicate->parent, suffix);
    ct_xml_attribute* attribute = frame ? make(e, 3, sizeof *attribute) : NULL;
    char* text = attribute ? make(e, 600, 1) : NULL;
    if (!text) return NULL;
    const char* class = ct_xml_get(replicate, "childclass");
    ct_mat3 R = pose.R;
    snprintf(text, 300, "%.17g %.17g %.17g", pose.t.x, pose.t.y, pose.t.z);
    snprintf(text + 300, 300, "%.17g %.17g %.17g %.17g %.17g %.17g", R.a[0][0], R.a[1][0], R.a[2][0],
             R.a[0][1], R.a[1][1], R.a[2][1]);
    attribute[0] = (ct_xml_attribute){"pos", text};
    attribute[1] = (ct_xml_attribute){"xyaxes", text + 300};
    attribute[2] = (ct_xml_attribute){"childclass", class};
    frame->name = "frame", frame->attribute = attribute, frame->nattribute = class ? 3 : 2;
    return frame;
}

static int read_count(expansion* e, const ct_xml* replicate) {
    double count = 0;
    const char* text = ct_xml_get(replicate, "count");
    ct_robot_numbers(e->reader, replicate, "count", text, 1, 1, &count);
    if (!(count >= 1 && count <= MOST_COPIES) || count != floor(count))
        ct_robot_fail(e->reader, replicate, "has count=\"%.20s\": it must be a whole number from 1 to %d",
                      text ? text : "", (int)MOST_COPIES);
    return e->reader->status ? 0 : (int)count;
}

// The frames in the place of a <replicate>; *last is the last of them.
static ct_xml* replicate_one(expansion* e, ct_mjcf* m, const ct_xml* replicate, ct_xml** last) {
    double offset[3] = {0}, euler[3] = {0};
    const int count = read_count(e, replicate);
    const char* sep = ct_xml_get(replicate, "sep");
    ct_robot_numbers(e->reader, replicate, "offset", ct_xml_get(replicate, "offset"), 3, 3, offset);
    ct_robot_numbers(e->reader, replicate, "euler", ct_xml_get(replicate, "euler"), 3, 3, euler);
    if ((euler[0] != 0) + (euler[1] != 0) + (euler[2] != 0) > 1)
        ct_robot_fail(e->reader, replicate, "turns about several axes: use one of the numbers in euler");
    char digits[16], suffix[64];
    const int width = snprintf(digits, sizeof digits, "%d", count - 1);
    ct_robot_pose pose = {ct_mat3_identity(), {0, 0, 0}};
    ct_xml* first = NULL;
    for (int i = 0; i < count && !e->reader->status; i++) {
        const double turn = i * m->angle;
        pose.R =
            ct_quat_matrix(ct_quat_from_vector((ct_vec3){turn * euler[0], turn * euler[1], turn * euler[2]}));
        snprintf(suffix, sizeof suffix, "%.32s%0*d", sep ? sep : "", width, i);
        ct_xml* frame = make_frame(e, replicate, pose, suffix);
        if (first && frame) (*last)->next = frame;
        else first = frame;
        *last = frame;
        pose.t = ct_vec3_add(pose.t, ct_mat3_apply(pose.R, ct_vec3_load(offset)));
    }
    return e->reader->status ? NULL : first;
}

static void replicate_all(expansion* e, ct_mjcf* m, ct_xml* element) {
    ct_xml *before = NULL, *child = element->child;
    for (; child && !e->reader->status; before = child, child = child->next) {
        replicate_all(e, m, child);  // inner ones first
        if (e->reader->status || strcmp(child->name, "replicate")) continue;
        ct_xml *last = child, *first = replicate_one(e, m, child, &last);
        if (!first) return;
        last->next = child->next;
        if (before) before->next = first;
        else element->child = first;
        if (element->last == child) element->last = last;
        child = last;
    }
}

void ct_mjcf_include(ct_robot_reader* reader, ct_xml* root) {
    expansion e = {.reader = reader};
    include_files(&e, root, 0);
}

void ct_mjcf_replicate(ct_mjcf* m, ct_xml* root) {
    expansion e = {.reader = m->reader};
    replicate_all(&e, m, root);
}
