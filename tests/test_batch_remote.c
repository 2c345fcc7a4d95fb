// Batches over several ranks: the ranks are threads of this program, or another process, and their messages
// go through sockets.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_scenes.h"

enum { RANKS = 3, TAGS = 3 };

// A socket pair for every tag and every rank above 0: [0] is rank 0's end.
typedef struct wires {
    int socket[RANKS][TAGS][2];
} wires;

typedef struct rank_end {
    const wires* wires;
    int rank;
    int answers;  // messages to rank 0 that it may send before it is gone; negative: no limit
} rank_end;

static void connect_all(wires* w) {
    for (int r = 1; r < RANKS; r++)
        for (int t = 0; t < TAGS; t++)
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, w->socket[r][t]), 0);
}

static void disconnect_all(wires* w) {
    for (int r = 1; r < RANKS; r++)
        for (int t = 0; t < TAGS; t++)
            for (int end = 0; end < 2; end++) close(w->socket[r][t][end]);
}

static int socket_of(const rank_end* end, int other, int tag) {
    return end->rank == 0 ? end->wires->socket[other][tag][0] : end->wires->socket[end->rank][tag][1];
}

// As when the process ends.
static void hang_up(const rank_end* end) {
    for (int t = 0; t < TAGS; t++) shutdown(end->wires->socket[end->rank][t][1], SHUT_RDWR);
}

static bool send_bytes(int to, int tag, const void* bytes, size_t count, void* user) {
    rank_end* end = user;
    if (end->answers >= 0 && __atomic_sub_fetch(&end->answers, 1, __ATOMIC_SEQ_CST) < 0) {
        hang_up(end);
        return false;
    }
    for (size_t done = 0; done < count;) {
        ssize_t n = send(socket_of(end, to, tag), (const char*)bytes + done, count - done, MSG_NOSIGNAL);
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool receive_bytes(int from, int tag, void* bytes, size_t count, void* user) {
    rank_end* end = user;
    for (size_t done = 0; done < count;) {
        ssize_t n = recv(socket_of(end, from, tag), (char*)bytes + done, count - done, 0);
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static ct_transport transport_of(rank_end* end, int size) {
    return (ct_transport){
        .rank = end->rank, .size = size, .send = send_bytes, .receive = receive_bytes, .user = end};
}

// ---- another rank --------------------------------------------------------------------------

typedef struct other {
    pthread_t thread;
    const ct_scene* scene;
    rank_end end;
    int size, workers;
    int batches;  // one after the other; 0: one
    bool serves;  // false: frees its batch at once
    ct_status created, served;
    int total;
    ct_error error;
} other;

static void* be_another_rank(void* user) {
    other* o = user;
    ct_transport transport = transport_of(&o->end, o->size);
    for (int k = 0; k < (o->batches ? o->batches : 1) && o->created == CT_OK; k++) {
        ct_batch* batch = NULL;
        o->created = ct_batch_create(&batch, o->scene, o->workers, &transport, &o->error);
        if (o->created != CT_OK) return NULL;
        o->total = ct_batch_workers(batch);
        if (o->serves) o->served = ct_batch_serve(batch, &o->error);
        ct_batch_free(batch);
    }
    return NULL;
}

typedef struct team {
    wires wires;
    rank_end end;
    other others[RANKS];
    int size;
} team;

// Rank 0 of a team, the others begun as threads; `scene` NULL in an entry of others: the same as that of rank
// 0.
static ct_transport begin_team(team* t, int size, const ct_scene* scene) {
    connect_all(&t->wires);
    t->size = size;
    t->end = (rank_end){.wires = &t->wires, .answers = -1};
    for (int r = 1; r < size; r++) {
        other* o = &t->others[r];
        int answers = o->end.answers;
        o->end = (rank_end){.wires = &t->wires, .rank = r, .answers = answers ? answers : -1};
        o->size = size;
        if (!o->scene) o->scene = scene;
        if (!o->workers) o->workers = r;
        assert_int_equal(pthread_create(&o->thread, NULL, be_another_rank, o), 0);
    }
    return transport_of(&t->end, size);
}

static void end_team(team* t) {
    for (int r = 1; r < t->size; r++) pthread_join(t->others[r].thread, NULL);
    disconnect_all(&t->wires);
}

// ---- claims --------------------------------------------------------------------------------

enum { POINTS = 8 };

static outcome evaluate_here(const ct_scene* scene, double** y) {
    ct_batch* batch = open_batch(scene, 1, NULL);
    *y = points_of(batch, POINTS, 1, 7);
    outcome o = evaluate_all(batch, POINTS, *y);
    ct_batch_free(batch);
    return o;
}

// Three ranks of one, one and two workers.
static void several_ranks_give_the_same_as_one(void** state) {
    ct_scene* scene = shortened("suspension_bridge", 0.02, NULL);
    double* y;
    outcome expected = evaluate_here(scene, &y);
    team t = {.others = {[1] = {.serves = true}, [2] = {.serves = true}}};
    ct_transport transport = begin_team(&t, 3, scene);
    ct_batch* batch = open_batch(scene, 1, &transport);
    assert_int_equal(ct_batch_workers(batch), 4);
    for (int round = 0; round < 2; round++) {
        outcome here = evaluate_all(batch, POINTS, y);
        assert_same(&expected, &here);
        free_outcome(&here);
    }
    ct_evaluation results[POINTS];
    assert_int_equal(ct_batch_evaluate(batch, POINTS, y, NULL, results, NULL), CT_OK);
    for (int i = 0; i < POINTS; i++)
        assert_memory_equal(&results[i].loss, &expected.result[i].loss, sizeof(double));
    ct_batch_free(batch);
    end_team(&t);
    for (int r = 1; r < 3; r++) {
        assert_int_equal(t.others[r].created, CT_OK);
        assert_int_equal(t.others[r].served, CT_OK);
        assert_int_equal(t.others[r].total, 4);
    }
    free_outcome(&expected);
    free(y);
    ct_scene_free(scene);
}

// All points of a rank's worker: rank 0's own worker waits until the others have had something to do.
typedef struct delay {
    const int* answers;
} delay;

static void wait_for_answers(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
                             double* q_bar, void* user) {
    const delay* d = user;
    if (step || x_bar) return;
    while (__atomic_load_n(d->answers, __ATOMIC_SEQ_CST) >= 0) sched_yield();
}

// Rank 1 says hello, answers one point (answer and gradient), and is gone in the middle of the next one.
static void what_a_lost_rank_had_is_done_by_another(void** state) {
    ct_scene* scene = shortened("throw", 0.03, NULL);
    double* y;
    outcome expected = evaluate_here(scene, &y);
    team t = {.others = {[1] = {.serves = true, .end = {.answers = 4}}}};
    ct_transport transport = begin_team(&t, 2, scene);
    ct_batch* batch = open_batch(scene, 1, &transport);
    assert_int_equal(ct_batch_workers(batch), 2);
    delay d = {&t.others[1].end.answers};
    ct_problem_set_term(batch->local[0].problem, wait_for_answers, &d);
    outcome here = evaluate_all(batch, POINTS, y);
    assert_same(&expected, &here);
    assert_int_equal(ct_batch_workers(batch), 1);
    free_outcome(&here);
    here = evaluate_all(batch, POINTS, y);
    assert_same(&expected, &here);
    free_outcome(&here);
    ct_batch_free(batch);
    end_team(&t);
    assert_int_equal(t.others[1].served, CT_IO);
    free_outcome(&expected);
    free(y);
    ct_scene_free(scene);
}

static void a_rank_that_does_not_serve_is_not_waited_for(void** state) {
    ct_scene* scene = shortened("throw", 0.03, NULL);
    double* y;
    outcome expected = evaluate_here(scene, &y);
    team t = {.others = {[1] = {.serves = true, .batches = 4}, [2] = {.serves = false, .batches = 4}}};
    ct_transport transport = begin_team(&t, 3, scene);
    for (int k = 0; k < 4; k++) {  // whether it is asked or not: one batch after the other on the same wires
        ct_batch* batch = open_batch(scene, 1, &transport);
        outcome here = evaluate_all(batch, k % 2 ? POINTS : 0, y);
        for (int i = 0; i < here.count; i++) assert_same_point(&expected, i, &here, i);
        assert_true(ct_batch_workers(batch) >= 2);
        ct_batch_free(batch);
        free_outcome(&here);
    }
    end_team(&t);
    assert_int_equal(t.others[1].created, CT_OK);
    assert_int_equal(t.others[2].created, CT_OK);
    free_outcome(&expected);
    free(y);
    ct_scene_free(scene);
}

// Whichever rank fails, all learn of it.
static void a_rank_that_cannot_begin_stops_all(void** state) {
    ct_scene *scene = shortened("throw", 0.1, NULL), *longer = shortened("throw", 0.2, NULL),
             *bare = shortened("throw", 0.1, "[]");
    const struct {
        const ct_scene *first, *second;
        ct_status status;
        const char *here, *there;
    } cases[] = {
        {scene, longer, CT_BAD_ARGUMENT, "rank 1 has a different scene", "rank 1 has a different scene"},
        {scene, bare, CT_BAD_SCENE, "rank 1: the scene has no parameters", "the scene has no parameters"},
        {bare, scene, CT_BAD_SCENE, "the scene has no parameters", "the scene has no parameters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        team t = {.others = {[1] = {.scene = cases[i].second, .serves = true}}};
        ct_transport transport = begin_team(&t, 2, NULL);
        ct_batch* batch = NULL;
        ct_error error = {0};
        assert_int_equal(ct_batch_create(&batch, cases[i].first, 1, &transport, &error), cases[i].status);
        assert_null(batch);
        end_team(&t);
        assert_int_equal(t.others[1].created, cases[i].status);
        assert_non_null(strstr(error.message, cases[i].here));
        assert_non_null(strstr(t.others[1].error.message, cases[i].there));
    }
    ct_scene_free(scene), ct_scene_free(longer), ct_scene_free(bare);
}

// A rank that is gone before it said hello.
static void a_rank_that_never_comes_is_named(void** state) {
    ct_scene* scene = shortened("throw", 0.1, NULL);
    team t = {0};
    connect_all(&t.wires);
    t.end = (rank_end){.wires = &t.wires, .answers = -1};
    hang_up(&(rank_end){.wires = &t.wires, .rank = 1});
    ct_transport transport = transport_of(&t.end, 2);
    ct_batch* batch = NULL;
    ct_error error = {0};
    assert_int_equal(ct_batch_create(&batch, scene, 1, &transport, &error), CT_IO);
    assert_string_equal(error.message, "rank 1 is gone");
    disconnect_all(&t.wires);
    ct_scene_free(scene);
}

static void only_rank_0_asks(void** state) {
    ct_scene* scene = shortened("throw", 0.1, NULL);
    team t = {.others = {[1] = {.serves = true}}};
    connect_all(&t.wires);
    rank_end ends[2] = {{.wires = &t.wires, .answers = -1}, {.wires = &t.wires, .rank = 1, .answers = -1}};
    // rank 0 in a thread of its own frees its batch at once
    other zero = {.scene = scene, .end = ends[0], .size = 2, .workers = 1};
    pthread_create(&zero.thread, NULL, be_another_rank, &zero);
    ct_transport transport = transport_of(&ends[1], 2);
    ct_batch* batch = open_batch(scene, 1, &transport);
    double y[8] = {0};
    ct_evaluation result;
    ct_error error = {0};
    assert_int_equal(ct_batch_evaluate(batch, 1, y, NULL, &result, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "rank 0"));
    assert_int_equal(ct_batch_serve(batch, &error), CT_OK);
    ct_batch_free(batch);
    pthread_join(zero.thread, NULL);
    disconnect_all(&t.wires);
    ct_scene_free(scene);
}

// Rank 1 in a process of its own, which is begun before this one has any threads.
static wires process_wires;
static pid_t process;

static void begin_process(void) {
    connect_all(&process_wires);
    process = fork();
    if (process) return;
    for (int t = 0; t < TAGS; t++) close(process_wires.socket[1][t][0]);
    ct_scene* scene = shortened("incline", 0.05, NULL);
    other o = {.scene = scene,
               .end = {.wires = &process_wires, .rank = 1, .answers = -1},
               .size = 2,
               .workers = 2,
               .serves = true};
    be_another_rank(&o);
    ct_scene_free(scene);
    _exit(o.created == CT_OK && o.served == CT_OK ? 0 : 1);
}

static void another_process_gives_the_same(void** state) {
    ct_scene* scene = shortened("incline", 0.05, NULL);
    double* y;
    outcome expected = evaluate_here(scene, &y);
    rank_end end = {.wires = &process_wires, .answers = -1};
    ct_transport transport = transport_of(&end, 2);
    for (int t = 0; t < TAGS; t++) close(process_wires.socket[1][t][1]);
    ct_batch* batch = open_batch(scene, 1, &transport);
    assert_int_equal(ct_batch_workers(batch), 3);
    outcome here = evaluate_all(batch, POINTS, y);
    assert_same(&expected, &here);
    ct_batch_free(batch);
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free_outcome(&here);
    free_outcome(&expected);
    free(y);
    ct_scene_free(scene);
}

int main(void) {
    begin_process();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_process_gives_the_same),
        cmocka_unit_test(several_ranks_give_the_same_as_one),
        cmocka_unit_test(what_a_lost_rank_had_is_done_by_another),
        cmocka_unit_test(a_rank_that_does_not_serve_is_not_waited_for),
        cmocka_unit_test(a_rank_that_cannot_begin_stops_all),
        cmocka_unit_test(a_rank_that_never_comes_is_named),
        cmocka_unit_test(only_rank_0_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
