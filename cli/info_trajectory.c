// cuttle info: what is in a trajectory.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

typedef struct contact_summary {
    int most;        // in a frame, with force
    double deepest;  // m, 0: no penetration
} contact_summary;

static ct_status sum_up_contacts(ct_trajectory* file, int nframe, contact_summary* out, ct_error* error) {
    *out = (contact_summary){0};
    for (int k = 0; k < nframe; k++) {
        const ct_contact* list;
        int count, active = 0;
        ct_status status = ct_trajectory_read_contacts(file, k, &list, &count, error);
        if (status) return status;
        for (int i = 0; i < count; i++) {
            active += list[i].set != CT_CONTACT_SET_OPEN;
            if (-list[i].gap > out->deepest) out->deepest = -list[i].gap;
        }
        if (active > out->most) out->most = active;
    }
    return CT_OK;
}

// Sheets, obstacles and contacts of a trajectory: lines, or entries of an object (NULL: lines).
static ct_status show_contacts(ct_trajectory* file, const ct_trajectory_info* info, json_t* object,
                               ct_error* error) {
    contact_summary contacts = {0};
    ct_status status = info->contact ? sum_up_contacts(file, info->nframe, &contacts, error) : CT_OK;
    const ct_obstacle_info* obstacle = ct_trajectory_obstacles(file);
    if (status) return status;
    json_t* array = json_array();
    for (int k = 0; k < info->nobstacle; k++) {
        if (!object)
            printf("  obstacle %s: %s%s\n", obstacle[k].name, ct_obstacle_kind_name(obstacle[k].kind),
                   obstacle[k].hidden ? ", hidden" : "");
        json_array_append_new(array, json_pack("{s:s, s:s, s:b}", "name", obstacle[k].name, "kind",
                                               ct_obstacle_kind_name(obstacle[k].kind), "hidden",
                                               (int)obstacle[k].hidden));
    }
    if (object) json_object_set(object, "obstacles", array);
    json_decref(array);
    if (object && info->contact)
        json_object_set_new(object, "contacts",
                            json_pack("{s:I, s:i, s:f}", "stored", (json_int_t)info->ncontact, "most",
                                      contacts.most, "penetration", contacts.deepest));
    else if (info->contact && !object) {
        printf("  %lld contacts stored, up to %d with force in a frame", (long long)info->ncontact,
               contacts.most);
        if (contacts.deepest > 0) printf(", deepest penetration %.1e m", contacts.deepest);
        printf("\n");
    }
    return CT_OK;
}

// Cavities of a trajectory, volume and pressure from the first to the last frame: lines, or an entry of an
// object.
static ct_status show_cavities(ct_trajectory* file, const ct_trajectory_info* info, json_t* object,
                               ct_error* error) {
    json_t* array = json_array();
    ct_status status = CT_OK;
    for (int k = 0; !status && k < info->ncavity && info->nframe; k++) {
        const double* values;
        double first[2], last[2] = {0};
        if (!(status = ct_trajectory_read_cavities(file, 0, &values, error)))
            memcpy(first, values + 2 * k, sizeof first);
        if (!status && !(status = ct_trajectory_read_cavities(file, info->nframe - 1, &values, error)))
            memcpy(last, values + 2 * k, sizeof last);
        if (status) break;
        const char* name = ct_trajectory_cavity_name(file, k);
        if (!object)
            printf("  cavity %s: from %.4g m^3 at %.4g Pa to %.4g m^3 at %.4g Pa\n", name, first[0], first[1],
                   last[0], last[1]);
        json_array_append_new(array, json_pack("{s:s, s:[f,f], s:[f,f]}", "name", name, "volume", first[0],
                                               last[0], "pressure", first[1], last[1]));
    }
    if (object && info->ncavity) json_object_set(object, "cavities", array);
    json_decref(array);
    return status;
}

// Length and tension of a cable, from its eyelets in a frame.
static void cable_state(const double* at, int count, double out[2]) {
    out[0] = 0;
    out[1] = at[3];
    for (int i = 1; i < count; i++) {
        const double *a = at + 4 * (i - 1), *b = at + 4 * i;
        out[0] += sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) +
                       (b[2] - a[2]) * (b[2] - a[2]));
    }
}

// Cables of a trajectory, length and tension from the first to the last frame: lines, or an entry of an
// object.
static ct_status show_cables(ct_trajectory* file, const ct_trajectory_info* info, json_t* object,
                             ct_error* error) {
    json_t* array = json_array();
    ct_status status = CT_OK;
    for (int k = 0; !status && k < info->ncable && info->nframe; k++) {
        int start = ct_trajectory_cable_start(file, k),
            count = ct_trajectory_cable_start(file, k + 1) - start;
        const double* values;
        double first[2] = {0}, last[2] = {0};
        status = ct_trajectory_read_cables(file, 0, &values, error);
        if (!status) cable_state(values + 4 * start, count, first);
        if (!status) status = ct_trajectory_read_cables(file, info->nframe - 1, &values, error);
        if (!status) cable_state(values + 4 * start, count, last);
        const char* name = ct_trajectory_cable_name(file, k);
        if (!status && !object)
            printf("  cable %s: from %.4g m at %.4g N to %.4g m at %.4g N\n", name, first[0], first[1],
                   last[0], last[1]);
        json_array_append_new(array, json_pack("{s:s, s:[ff], s:[ff]}", "name", name, "length", first[0],
                                               last[0], "tension", first[1], last[1]));
    }
    if (object && info->ncable) json_object_set(object, "cables", array);
    json_decref(array);
    return status;
}

// Most tets inside out in a frame of a trajectory: a line where there are some, or an entry of an object.
static ct_status show_inverted(ct_trajectory* file, const ct_trajectory_info* info, json_t* object,
                               ct_error* error) {
    int most = 0, frames = 0;
    ct_status status = CT_OK;
    for (int k = 0; !status && k < info->nframe; k++) {
        int count;
        status = ct_trajectory_read_inverted(file, k, &count, error);
        if (status) break;
        frames += count > 0;
        if (count > most) most = count;
    }
    if (object) json_object_set_new(object, "inverted", json_integer(most));
    else if (most) printf("  up to %d tet%s inside out, in %d frames\n", most, most == 1 ? "" : "s", frames);
    return status;
}

int info_trajectory(const char* path, bool json) {
    ct_error error = {.element = -1};
    ct_trajectory_info info;
    ct_trajectory* file = NULL;
    if (ct_trajectory_open(&file, path, &error)) return cli_report_input_error(&error, json);
    info = ct_trajectory_summary(file);
    const int* middles = ct_trajectory_middles(file);
    int flesh = info_flesh_nodes(ct_trajectory_tets(file), middles, info.ntet, ct_trajectory_tris(file),
                                 info.ntri),
        code = CLI_OK;
    if (json) {
        json_t* object = json_pack(
            "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:s, s:s, s:o}", "kind", "trajectory",
            "frames", info.nframe, "nodes", info.nvert, "tets", info.ntet, "sheet_triangles", info.ntri,
            "surface_triangles", info.nsurface, "bodies", info.nbody, "start", info.start, "stop", info.stop,
            "time_step", info.time_step, "scene_file", info.scene_file, "scene_name", info.scene_name,
            "links", info_links(ct_trajectory_links(file), info.nlink, NULL, flesh, true));
        json_object_set_new(object, "second_order_tets", json_integer(info_count_second(middles, info.ntet)));
        if (show_contacts(file, &info, object, &error) || show_cavities(file, &info, object, &error) ||
            show_cables(file, &info, object, &error) || show_inverted(file, &info, object, &error))
            code = cli_report_error(&error, true);
        else cli_print_json(json_incref(object));
        json_decref(object);
    } else {
        printf("trajectory %s\n  %d frames from %g to %g s, time step %g s\n", path, info.nframe, info.start,
               info.stop, info.time_step);
        printf("  %d nodes, ", info.nvert);
        info_print_tets(info.ntet, info_count_second(middles, info.ntet));
        printf(", ");
        if (info.ntri) printf("%d triangles of sheets, ", info.ntri);
        printf("%d surface triangles, %d bod%s\n", info.nsurface, info.nbody, info.nbody == 1 ? "y" : "ies");
        printf("  scene %s %s\n", info.scene_name, info.scene_file);
        json_decref(info_links(ct_trajectory_links(file), info.nlink, NULL, flesh, false));
        if (show_contacts(file, &info, NULL, &error) || show_cavities(file, &info, NULL, &error) ||
            show_cables(file, &info, NULL, &error) || show_inverted(file, &info, NULL, &error))
            code = cli_report_error(&error, false);
    }
    ct_trajectory_close(file, NULL);
    return code;
}
