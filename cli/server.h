// A server for one page on this machine: what is shown goes out, what the user does comes in.
//
// It listens at 127.0.0.1 alone, under an address with a random token; requests from other origins are
// refused, messages are bounded, and of several browsers the first may write. It runs in a thread of its own:
// a client that is slow misses frames and holds up nobody. Where Cuttle is built without libwebsockets,
// server_start says so.
#ifndef CUTTLE_SERVER_H
#define CUTTLE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cuttle.h"

typedef struct server server;

typedef enum server_topic {
    SERVER_START,   // what all frames share; every client gets it first
    SERVER_STATE,   // JSON
    SERVER_FRAME,   // the last one alone
    SERVER_SEARCH,  // JSON
    SERVER_MOTION,  // frames of the best motion that a search has found
    SERVER_TOPICS
} server_topic;

typedef enum server_action {
    SERVER_NONE,
    SERVER_PAUSE,    // number[0]: 1 or 0
    SERVER_STEP,     // one step, then pause
    SERVER_RESET,    // from the start
    SERVER_DRAG,     // index: a shown node; number: where it is pulled to
    SERVER_RELEASE,  // lets go
    SERVER_SET       // index: of a slider; number[0]: its value
} server_action;

typedef struct server_command {
    server_action action;
    int index;
    double number[3];
} server_command;

// port 0: any that is free. Fails with CT_IO, with a sentence.
ct_status server_start(server** out, int port, ct_error* error);
const char* server_address(const server* s);  // "http://127.0.0.1:PORT/TOKEN/"
int server_clients(server* s);                // that are connected now
// Copies the bytes; what was there of the topic is replaced.
void server_publish(server* s, server_topic topic, const void* bytes, size_t size);
// The oldest command that was not taken yet; false: there is none.
bool server_take(server* s, server_command* out);
void server_stop(server* s);  // NULL: does nothing

// What a message says; SERVER_NONE for anything that is not a command, whatever it is (server_command.c).
server_command server_read_command(const char* text, size_t size);

#endif
