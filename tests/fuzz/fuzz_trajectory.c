// Fuzz target of trajectory files. A small file of the library's own is damaged; what comes of it is an error
// that says why, or can be read to its end, drawn and shown. The first byte chooses the damage: flipped bits
// ('f'), the same in a file without checksums ('o'), wrong values in arrays and attributes that are otherwise
// in order, as of a file that somebody else wrote ('w').
#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../old_file.h"
#include "cuttle.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }  // HDF5 loses an object whose header fails its checksum

static const char text[] =
    "{\"bodies\": [{\"name\": \"cube\", \"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [1, 1, 1]}},"
    "{\"name\": \"cloth\", \"sheet\": {\"size\": [0.1, 0.1], \"cells\": [1, 1]}, \"translate\": [0.5, 0.2, "
    "0], \"material\": {\"thickness\": 0.001}}],"
    "\"obstacles\": [{\"name\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}},"
    "{\"name\": \"ball\", \"sphere\": {\"center\": [2, 0, 0], \"radius\": 0.3}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"rod\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, "
    "1], \"anchor\": [1, 1, 0]}, \"mass\": 1, \"center\": [1.2, 1, 0], \"inertia\": [0.01, 0.01, 0.01]}]}],"
    "\"cables\": [{\"name\": \"string\", \"eyelets\": [{\"point\": [0.05, 0.3, 0.05]},"
    "{\"body\": \"cube\", \"node\": 0}], \"tension\": 0.1}]}";

enum { PARTS = 4096, GAP = 64 };
typedef struct copy {  // of a file that is zeros for the most part: room for frames to come
    uint8_t* bytes;
    size_t size, begin[PARTS], end[PARTS], written;  // npart pieces with something in them
    int npart;
} copy;

enum { OBJECTS = 256, NAME = 96 };

static char path[FUZZ_FILE_NAME];
static copy checked, old;
static char object[OBJECTS][NAME];  // groups and arrays
static int nobject;

static herr_t note_object(hid_t root, const char* name, const H5O_info_t* info, void* user) {
    (void)root, (void)info, (void)user;
    if (nobject < OBJECTS) snprintf(object[nobject++], NAME, "%s", name);
    return 0;
}

static void record(void) {
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    ct_trajectory* file;
    ct_step_report report = {.converged = true};
    fuzz_need(!ct_scene_parse(&scene, text, strlen(text), NULL, NULL));
    fuzz_need(!ct_model_create(&model, scene, NULL));
    fuzz_need(!ct_state_create(&state, model, NULL) && !ct_work_create(&work, model, 1, NULL));
    fuzz_need(!ct_trajectory_create(&file, scene, model, path, NULL));
    for (int k = 0; k < 2; k++) {
        fuzz_need(!ct_trajectory_append(file, model, state, &report, NULL));
        fuzz_need(!ct_step(model, work, state, NULL, &report));
    }
    fuzz_need(!ct_trajectory_close(file, NULL));
    ct_work_free(work), ct_state_free(state), ct_model_free(model), ct_scene_free(scene);
}

static void take(copy* to) {
    to->bytes = fuzz_file_read(path, &to->size);
    size_t last = 0;
    for (size_t i = 0; i < to->size; i++) {
        if (!to->bytes[i]) continue;
        if (!to->npart || i > last + GAP) to->begin[to->npart++] = i;
        fuzz_need(to->npart < PARTS);
        to->end[to->npart - 1] = (last = i) + 1;
    }
    for (int k = 0; k < to->npart; k++) to->written += to->end[k] - to->begin[k];
}

static void prepare(void) {
    if (checked.bytes) return;
    fuzz_file_name(path, "h5");
    record();
    take(&checked);
    fuzz_need(old_file(path) > 30);
    take(&old);
    hid_t raw = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit1(raw, H5_INDEX_NAME, H5_ITER_INC, note_object, NULL);
    H5Fclose(raw);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static unsigned number(const uint8_t* data) { return data[0] * 256u + data[1]; }

static void restore(const copy* from, int file) {
    fuzz_need(file >= 0 && !ftruncate(file, 0) && !ftruncate(file, (off_t)from->size));
    for (int k = 0; k < from->npart; k++) {
        const size_t begin = from->begin[k], length = from->end[k] - begin;
        fuzz_need(pwrite(file, from->bytes + begin, length, (off_t)begin) == (ssize_t)length);
    }
}

static size_t written_place(const copy* from, size_t index) {
    int k = 0;
    for (index %= from->written; index >= from->end[k] - from->begin[k]; k++)
        index -= from->end[k] - from->begin[k];
    return from->begin[k] + index;
}

// Three bytes of an edit say where, the fourth which bits; two that are left over cut the file.
static void flip(const copy* from, const uint8_t* data, size_t size) {
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    restore(from, file);
    for (int k = 0; size >= 4 && k < 16; data += 4, size -= 4, k++) {
        const size_t at = written_place(from, (size_t)data[0] << 16 | number(data + 1));
        const uint8_t bad = from->bytes[at] ^ data[3];
        fuzz_need(pwrite(file, &bad, 1, (off_t)at) == 1);
    }
    if (size >= 2 && size < 4) fuzz_need(!ftruncate(file, (off_t)(from->size * number(data) / 65536)));
    close(file);
}

// Overwrites `width` bytes at a place of the values, or whatever fits.
static void spoil(uint8_t* values, size_t size, unsigned place, const uint8_t* wrong, size_t width) {
    if (!size) return;
    const size_t at = width < size ? place * width % (size - width + 1) : 0;
    memcpy(values + at, wrong, width < size ? width : size);
}

static void spoil_attribute(hid_t owner, unsigned which, unsigned place, const uint8_t* wrong, size_t width) {
    static uint8_t values[4096];
    H5O_info_t info;
    if (H5Oget_info1(owner, &info) < 0 || !info.num_attrs) return;
    hid_t attribute = H5Aopen_by_idx(owner, ".", H5_INDEX_NAME, H5_ITER_INC, which % info.num_attrs,
                                     H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    const size_t size = (size_t)H5Aget_storage_size(attribute);
    if (size <= sizeof values && H5Aread(attribute, type, values) >= 0) {
        spoil(values, size, place, wrong, width);
        H5Awrite(attribute, type, values);
    }
    H5Tclose(type), H5Aclose(attribute);
}

static void spoil_array(hid_t array, unsigned place, const uint8_t* wrong, size_t width) {
    static uint8_t values[65536];
    hid_t type = H5Dget_type(array), space = H5Dget_space(array);
    const size_t size = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    if (size <= sizeof values && H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
        spoil(values, size, place, wrong, width);
        H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    H5Sclose(space), H5Tclose(type);
}

// Eleven bytes: what is done, to which object, where, and eight of a number.
static void edit(hid_t file, const uint8_t* data) {
    const char* name = object[data[1] % nobject];
    const size_t width = data[0] & 16 ? 8 : data[0] & 8 ? 4 : 1;
    const unsigned place = data[2];
    const uint8_t* wrong = data + 3;
    hid_t at = H5Oopen(file, name, H5P_DEFAULT);
    if (at < 0) return;
    const bool array = H5Iget_type(at) == H5I_DATASET;
    switch (data[0] & 7) {
    case 0: H5Ldelete(file, name, H5P_DEFAULT); break;
    case 1: H5Adelete_by_idx(file, name, H5_INDEX_NAME, H5_ITER_INC, place, H5P_DEFAULT); break;
    case 2: {
        const hsize_t count[2] = {wrong[0] % 64, wrong[1] % 64};
        if (array) H5Dset_extent(at, count);
        break;
    }
    case 3:
    case 4: spoil_attribute(at, place, place / 8, wrong, width); break;
    default:
        if (array) spoil_array(at, place, wrong, width);
        else spoil_attribute(at, place, place / 8, wrong, width);
    }
    H5Oclose(at);
}

static void rewrite(const uint8_t* data, size_t size) {
    const int restored = open(path, O_WRONLY | O_CREAT, 0600);
    restore(&old, restored);
    close(restored);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    for (int k = 0; size >= 11 && k < 8; k++, data += 11, size -= 11) edit(file, data);
    H5Fclose(file), H5Pclose(access);
}

static void expect_reason(ct_status status, const ct_error* error) {
    fuzz_need(!status || (error->code == status && error->message[0]));
}

static void read_frame(ct_trajectory* file, int k) {
    static const char* const names[] = {"displacement", "velocity", "stress",    "energy",
                                        "volume",       "contact",  "activation"};
    ct_error error = {0};
    ct_frame frame;
    const double *a, *b;
    const ct_contact* list;
    int count;
    bool per_tet;
    expect_reason(ct_trajectory_read(file, k, &frame, &error), &error);
    for (int i = 0; i < 7; i++)
        expect_reason(ct_trajectory_read_field(file, k, names[i], &a, &count, &per_tet, &error), &error);
    expect_reason(ct_trajectory_read_inverted(file, k, &count, &error), &error);
    expect_reason(ct_trajectory_read_links(file, k, &a, &b, &error), &error);
    expect_reason(ct_trajectory_read_obstacles(file, k, &a, &error), &error);
    expect_reason(ct_trajectory_read_cables(file, k, &a, &error), &error);
    expect_reason(ct_trajectory_read_cavities(file, k, &a, &error), &error);
    expect_reason(ct_trajectory_read_contacts(file, k, &list, &count, &error), &error);
}

// What the program does with a file that it reads.
static void use(ct_trajectory* file) {
    static uint8_t pixels[3 * 16 * 12];
    ct_error error = {0};
    ct_picture_def picture = ct_picture_def_default();
    picture.width = 16, picture.height = 12, picture.samples = 1, picture.label = false;
    picture.color_by = "stress", picture.contacts = true;
    expect_reason(ct_picture_draw(file, 0, &picture, pixels, &error), &error);
    const ct_page_def page = ct_page_def_default();
    uint8_t* bytes = NULL;
    size_t size;
    expect_reason(ct_page_data(file, &page, &bytes, &size, &error), &error);
    ct_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    prepare();
    if (!size || !strchr("fow", data[0]) || !data[0]) return 0;
    if (data[0] == 'w') rewrite(data + 1, size - 1);
    else flip(data[0] == 'f' ? &checked : &old, data + 1, size - 1);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    const char* scene;
    const ct_status status = ct_trajectory_open(&file, path, &error);
    expect_reason(status, &error);
    if (status) return 0;
    const int nframe = ct_trajectory_summary(file).nframe;
    expect_reason(ct_trajectory_read_scene(file, &scene, &error), &error);
    for (int k = 0; k < nframe && k < 4; k++) read_frame(file, k);
    if (data[0] != 'f' && nframe) use(file);
    ct_trajectory_close(file, NULL);
    return 0;
}
