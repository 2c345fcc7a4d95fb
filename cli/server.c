// A server for one page on this machine; see server.h.
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#ifndef CUTTLE_HAVE_WEBSOCKETS

ct_status server_start(server** out, int port, ct_error* error) {
    (void)port;
    *out = NULL;
    return cli_fail(
        error, CT_IO, "",
        "this build of Cuttle cannot show scenes live: install libwebsockets (Debian: apt-get install "
        "libwebsockets-dev), and configure and build again");
}
const char* server_address(const server* s) { return (void)s, ""; }
int server_clients(server* s) { return (void)s, 0; }
void server_publish(server* s, server_topic topic, const void* bytes, size_t size) {
    (void)s, (void)topic, (void)bytes, (void)size;
}
bool server_take(server* s, server_command* out) { return (void)s, (void)out, false; }
void server_stop(server* s) { (void)s; }

#else

#include <libwebsockets.h>
#include <pthread.h>
#include <sys/random.h>

enum { MOST_MESSAGE = 4096, MOST_COMMANDS = 256, MOST_CLIENTS = 8, TOKEN = 32, PIECE = 16384 };

typedef struct topic {
    uint8_t* bytes;  // LWS_PRE bytes of room, then 8 that say what it is, then the data
    size_t size;     // of data and the 8 bytes
    size_t capacity;
    unsigned serial;
} topic;

typedef struct client {
    struct lws* wsi;
    bool writer, told;               // may write; knows whether it may
    unsigned serial[SERVER_TOPICS];  // of what it has got
    char message[MOST_MESSAGE];
    size_t size;
    size_t sent;  // bytes of the page, where this is a request for it
    struct client* next;
} client;

struct server {
    struct lws_context* context;
    pthread_t thread;
    pthread_mutex_t lock;  // of everything below
    bool stopping;
    topic topic[SERVER_TOPICS];
    server_command command[MOST_COMMANDS];
    int first, count;  // of the commands
    int nclient;
    // of the thread alone
    client* clients;
    topic outgoing;
    char *page, token[TOKEN + 1], address[96], host[2][40], origin[2][48];
    size_t page_size;
    int port;
};

// ---- who may ask ----

static bool header_is(struct lws* wsi, enum lws_token_indexes which, const char* a, const char* b) {
    char text[128];
    int length = lws_hdr_copy(wsi, text, sizeof text, which);
    return length > 0 && (strcmp(text, a) == 0 || strcmp(text, b) == 0);
}

static bool path_is(const server* s, const char* path, const char* end) {
    size_t length = strlen(path), tail = strlen(end);
    unsigned char differ = 0;
    if (length != 1 + TOKEN + tail || path[0] != '/' || strcmp(path + 1 + TOKEN, end) != 0) return false;
    for (int k = 0; k < TOKEN; k++) differ |= (unsigned char)(path[1 + k] ^ s->token[k]);
    return differ == 0;
}

static bool may_connect(const server* s, struct lws* wsi) {
    char path[256];
    return lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) > 0 && path_is(s, path, "/ws") &&
           header_is(wsi, WSI_TOKEN_HOST, s->host[0], s->host[1]) &&
           header_is(wsi, WSI_TOKEN_ORIGIN, s->origin[0], s->origin[1]);
}

// ---- the page ----

static bool add_header(struct lws* wsi, const char* name, const char* value, uint8_t** at, uint8_t* end) {
    return lws_add_http_header_by_name(wsi, (const unsigned char*)name, (const unsigned char*)value,
                                       (int)strlen(value), at, end) == 0;
}

static int begin_page(const server* s, struct lws* wsi) {
    uint8_t buffer[LWS_PRE + 2048], *start = buffer + LWS_PRE, *at = start, *end = buffer + sizeof buffer - 1;
    char policy[256];
    snprintf(
        policy, sizeof policy,
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:; "
        "connect-src ws://%s ws://%s",
        s->host[0], s->host[1]);
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, "text/html; charset=utf-8", s->page_size, &at,
                                    end) ||
        !add_header(wsi, "content-security-policy:", policy, &at, end) ||
        !add_header(wsi, "referrer-policy:", "no-referrer", &at, end) ||
        !add_header(wsi, "x-content-type-options:", "nosniff", &at, end) ||
        !add_header(wsi, "cache-control:", "no-store", &at, end) ||
        lws_finalize_write_http_header(wsi, start, &at, end))
        return 1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int send_page(const server* s, struct lws* wsi, client* c) {
    uint8_t buffer[LWS_PRE + PIECE];
    size_t left = s->page_size - c->sent, size = left < PIECE ? left : PIECE;
    memcpy(buffer + LWS_PRE, s->page + c->sent, size);
    c->sent += size;
    bool last = c->sent == s->page_size;
    if (lws_write(wsi, buffer + LWS_PRE, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0) return 1;
    if (last) return lws_http_transaction_completed(wsi) ? -1 : 0;
    lws_callback_on_writable(wsi);
    return 0;
}

static int on_http(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in, size_t length) {
    server* s = lws_context_user(lws_get_context(wsi));
    client* c = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        if (!path_is(s, in, "/") || !header_is(wsi, WSI_TOKEN_HOST, s->host[0], s->host[1]))
            return lws_return_http_status(wsi, HTTP_STATUS_NOT_FOUND, NULL) ||
                           lws_http_transaction_completed(wsi)
                       ? -1
                       : 0;
        c->sent = 0;
        return begin_page(s, wsi);
    case LWS_CALLBACK_HTTP_WRITEABLE: return c ? send_page(s, wsi, c) : -1;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        for (client* each = s->clients; each; each = each->next) lws_callback_on_writable(each->wsi);
        return 0;
    default: return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

// ---- messages ----

static void choose_writer(server* s) {
    client* oldest = NULL;  // clients are listed from the newest on
    for (client* c = s->clients; c; c = c->next) {
        if (c->writer) return;
        oldest = c;
    }
    if (!oldest) return;
    oldest->writer = true;
    oldest->told = false;
    lws_callback_on_writable(oldest->wsi);
}

static void forget(server* s, client* c) {
    for (client** at = &s->clients; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            pthread_mutex_lock(&s->lock);
            s->nclient--;
            if (c->writer && s->count < MOST_COMMANDS)  // what it held is let go
                s->command[(s->first + s->count++) % MOST_COMMANDS] =
                    (server_command){.action = SERVER_RELEASE};
            pthread_mutex_unlock(&s->lock);
            break;
        }
    choose_writer(s);
}

static bool reserve(topic* t, size_t size) {
    size_t wanted = LWS_PRE + 8 + size;
    if (wanted > t->capacity) {
        uint8_t* grown = realloc(t->bytes, wanted + wanted / 2);
        if (!grown) return false;
        t->bytes = grown;
        t->capacity = wanted + wanted / 2;
    }
    return true;
}

static int send_text(struct lws* wsi, const char* text) {
    uint8_t buffer[LWS_PRE + 64];
    size_t size = strlen(text);
    memcpy(buffer + LWS_PRE, text, size);
    return lws_write(wsi, buffer + LWS_PRE, size, LWS_WRITE_TEXT) < (int)size ? -1 : 0;
}

// One thing at a time, in the order of the topics; the next when the client has taken it.
static int send_next(server* s, struct lws* wsi, client* c) {
    if (lws_partial_buffered(wsi)) return lws_callback_on_writable(wsi), 0;
    if (!c->told) {
        c->told = true;
        lws_callback_on_writable(wsi);
        return send_text(wsi, c->writer ? "{\"role\": \"writer\"}" : "{\"role\": \"viewer\"}");
    }
    int which = -1;
    pthread_mutex_lock(&s->lock);
    for (int k = 0; k < SERVER_TOPICS && which < 0; k++)
        if (s->topic[k].serial != c->serial[k] && s->topic[k].size) which = k;
    if (which >= 0 && reserve(&s->outgoing, s->topic[which].size)) {
        memcpy(s->outgoing.bytes + LWS_PRE, s->topic[which].bytes + LWS_PRE, s->topic[which].size);
        s->outgoing.size = s->topic[which].size;
        c->serial[which] = s->topic[which].serial;
    } else which = -1;
    pthread_mutex_unlock(&s->lock);
    if (which < 0) return 0;
    lws_callback_on_writable(wsi);
    bool text = which == SERVER_STATE || which == SERVER_SEARCH;
    uint8_t* from = s->outgoing.bytes + LWS_PRE + (text ? 8 : 0);
    size_t size = s->outgoing.size - (text ? 8 : 0);
    return lws_write(wsi, from, size, text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY) < (int)size ? -1 : 0;
}

// A message may come in pieces; one that is too long ends the connection.
static int receive(server* s, struct lws* wsi, client* c, const void* in, size_t size) {
    if (lws_frame_is_binary(wsi) || c->size + size > MOST_MESSAGE) return -1;
    memcpy(c->message + c->size, in, size);
    c->size += size;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi)) return 0;
    server_command command = server_read_command(c->message, c->size);
    c->size = 0;
    if (command.action == SERVER_NONE || !c->writer) return 0;
    pthread_mutex_lock(&s->lock);
    server_command* last = &s->command[(s->first + s->count + MOST_COMMANDS - 1) % MOST_COMMANDS];
    if (s->count && command.action == SERVER_DRAG && last->action == SERVER_DRAG) *last = command;
    else if (s->count < MOST_COMMANDS) s->command[(s->first + s->count++) % MOST_COMMANDS] = command;
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static int on_socket(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in, size_t length) {
    server* s = lws_context_user(lws_get_context(wsi));
    client* c = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return may_connect(s, wsi) && s->nclient < MOST_CLIENTS ? 0 : -1;
    case LWS_CALLBACK_ESTABLISHED:
        memset(c, 0, sizeof *c);
        c->wsi = wsi;
        c->next = s->clients;
        s->clients = c;
        pthread_mutex_lock(&s->lock);
        s->nclient++;
        pthread_mutex_unlock(&s->lock);
        choose_writer(s);
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLOSED: return forget(s, c), 0;
    case LWS_CALLBACK_RECEIVE: return receive(s, wsi, c, in, length);
    case LWS_CALLBACK_SERVER_WRITEABLE: return send_next(s, wsi, c);
    default: return 0;
    }
}

// ---- life ----

static void* serve(void* user) {
    server* s = user;
    for (bool stopping = false; !stopping;) {
        lws_service(s->context, 0);
        pthread_mutex_lock(&s->lock);
        stopping = s->stopping;
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static bool make_token(server* s) {
    unsigned char random[TOKEN / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    for (int k = 0; k < TOKEN / 2; k++) snprintf(s->token + 2 * k, 3, "%02x", random[k]);
    return true;
}

static const struct lws_protocols protocols[] = {
    {"http", on_http, sizeof(client), 0, 0, NULL, 0},
    {"cuttle", on_socket, sizeof(client), MOST_MESSAGE, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0}};

static ct_status listen_at(server* s, int port, ct_error* error) {
    struct lws_context_creation_info info = {.port = port,
                                             .iface = "127.0.0.1",
                                             .protocols = protocols,
                                             .gid = (gid_t)-1,
                                             .uid = (uid_t)-1,
                                             .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                                                        LWS_SERVER_OPTION_DISABLE_IPV6,
                                             .user = s};
    lws_set_log_level(0, NULL);
    s->context = lws_create_context(&info);
    struct lws_vhost* vhost = s->context ? lws_create_vhost(s->context, &info) : NULL;
    s->port = vhost ? lws_get_vhost_listen_port(vhost) : 0;
    if (s->port <= 0)
        return cli_fail(error, CT_IO, "", "no server can be started at 127.0.0.1: is the port taken?");
    static const char* const names[2] = {"127.0.0.1", "localhost"};
    for (int k = 0; k < 2; k++) {
        snprintf(s->host[k], sizeof s->host[k], "%s:%d", names[k], s->port);
        snprintf(s->origin[k], sizeof s->origin[k], "http://%s:%d", names[k], s->port);
    }
    snprintf(s->address, sizeof s->address, "%s/%s/", s->origin[0], s->token);
    return CT_OK;
}

ct_status server_start(server** out, int port, ct_error* error) {
    *out = NULL;
    server* s = calloc(1, sizeof *s);
    if (!s) return cli_fail(error, CT_OUT_OF_MEMORY, "", "out of memory");
    pthread_mutex_init(&s->lock, NULL);
    ct_status status =
        ct_page_text("<script type=\"application/cuttle-live\">{}</script>", &s->page, &s->page_size, error);
    if (!status && !make_token(s)) status = cli_fail(error, CT_IO, "", "the system has no random numbers");
    if (!status) status = listen_at(s, port, error);
    if (!status && pthread_create(&s->thread, NULL, serve, s) != 0)
        status = cli_fail(error, CT_IO, "", "no thread can be started for the server");
    if (status) {
        if (s->context) lws_context_destroy(s->context);
        ct_free(s->page);
        free(s);
        return status;
    }
    *out = s;
    return CT_OK;
}

const char* server_address(const server* s) { return s->address; }

int server_clients(server* s) {
    pthread_mutex_lock(&s->lock);
    int count = s->nclient;
    pthread_mutex_unlock(&s->lock);
    return count;
}

void server_publish(server* s, server_topic which, const void* bytes, size_t size) {
    topic* t = &s->topic[which];
    uint64_t kind = (uint64_t)which;
    pthread_mutex_lock(&s->lock);
    if (reserve(t, size)) {
        memcpy(t->bytes + LWS_PRE, &kind, 8);
        memcpy(t->bytes + LWS_PRE + 8, bytes, size);
        t->size = 8 + size;
        t->serial++;
    }
    pthread_mutex_unlock(&s->lock);
    lws_cancel_service(s->context);
}

bool server_take(server* s, server_command* out) {
    pthread_mutex_lock(&s->lock);
    bool there = s->count > 0;
    if (there) {
        *out = s->command[s->first];
        s->first = (s->first + 1) % MOST_COMMANDS;
        s->count--;
    }
    pthread_mutex_unlock(&s->lock);
    return there;
}

void server_stop(server* s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_mutex_unlock(&s->lock);
    lws_cancel_service(s->context);
    pthread_join(s->thread, NULL);
    lws_context_destroy(s->context);
    for (int k = 0; k < SERVER_TOPICS; k++) free(s->topic[k].bytes);
    free(s->outgoing.bytes);
    ct_free(s->page);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

#endif
