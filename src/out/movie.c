// MP4 movies: raw frames go to the ffmpeg program through a socket on its standard input.
//
// A socket and not a pipe, because writing to a program that has died must be an error here, never a signal
// that ends the caller. ffmpeg is started directly, without a shell, and its complaints are kept for the
// error.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

extern char** environ;

struct ct_movie {
    pid_t program;
    int feed;          // our end of the socket, -1 when closed
    FILE* complaints;  // what ffmpeg writes to its standard error
    size_t frame_bytes;
    char* path;
};

static ct_status start_ffmpeg(ct_movie* movie, int width, int height, double rate, int child_end,
                              ct_error* error) {
    char size[48], fps[48];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(fps, sizeof fps, "%ld/1000", lround(rate * 1000));
    // H.264 in its common form wants even sides: pad by a line where needed.
    char* arguments[] = {"ffmpeg",
                         "-y",
                         "-nostdin",
                         "-hide_banner",
                         "-loglevel",
                         "error",
                         "-f",
                         "rawvideo",
                         "-pix_fmt",
                         "rgb24",
                         "-s",
                         size,
                         "-r",
                         fps,
                         "-i",
                         "pipe:0",
                         "-an",
                         "-vf",
                         "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                         "-c:v",
                         "libx264",
                         "-preset",
                         "medium",
                         "-crf",
                         "18",
                         "-pix_fmt",
                         "yuv420p",
                         "-movflags",
                         "+faststart",
                         "-f",
                         "mp4",
                         movie->path,
                         NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    posix_spawn_file_actions_adddup2(&actions, child_end, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(movie->complaints), STDERR_FILENO);
    int problem = posix_spawnp(&movie->program, "ffmpeg", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!problem) return CT_OK;
    movie->program = 0;
    if (problem == ENOENT)
        return ct_fail(error, CT_UNSUPPORTED,
                       "movies need the program ffmpeg, which is not on the PATH: install it, or write PNG "
                       "frames instead");
    return ct_fail(error, CT_IO, "ffmpeg could not be started: %s", strerror(problem));
}

static void discard(ct_movie* movie) {
    if (movie->feed >= 0) close(movie->feed);
    if (movie->program > 0) waitpid(movie->program, NULL, 0);
    if (movie->complaints) fclose(movie->complaints);
    ct_free(movie->path);
    ct_free(movie);
}

ct_status ct_movie_create(ct_movie** out, const char* path, int width, int height, double frames_per_second,
                          ct_error* error) {
    CT_NEED(error, out, path);
    ct_error_clear(error);
    *out = NULL;
    if (width < 2 || height < 2 || width > 16384 || height > 16384 ||
        !(frames_per_second >= 0.01 && frames_per_second <= 1000))
        return ct_fail(error, CT_BAD_ARGUMENT, "a movie of %d x %d pixels and %g frames per second", width,
                       height, frames_per_second);
    ct_movie* movie = ct_alloc(1, sizeof *movie);
    if (!movie) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    movie->feed = -1;
    movie->frame_bytes = 3 * (size_t)width * (size_t)height;
    // A name that begins with a dash must not look like an option.
    size_t length = strlen(path) + 8;
    movie->path = ct_alloc(length, 1);
    movie->complaints = tmpfile();
    int ends[2] = {-1, -1};
    ct_status status = CT_OK;
    if (!movie->path) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    else if (!movie->complaints || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        status = ct_fail(error, CT_IO, "no connection to ffmpeg: %s", strerror(errno));
    if (!status) {
        snprintf(movie->path, length, "file:%s", path);
        fcntl(fileno(movie->complaints), F_SETFD, FD_CLOEXEC);
        movie->feed = ends[0];
        status = start_ffmpeg(movie, width, height, frames_per_second, ends[1], error);
        close(ends[1]);
    }
    if (status) discard(movie);
    else *out = movie;
    return status;
}

ct_status ct_movie_append(ct_movie* movie, const uint8_t* pixels, ct_error* error) {
    CT_NEED(error, movie);
    ct_error_clear(error);
    for (size_t sent = 0; sent < movie->frame_bytes;) {
        ssize_t now = send(movie->feed, pixels + sent, movie->frame_bytes - sent, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0)
            return ct_fail_at(
                error, CT_IO, movie->path + 5, 0,
                "ffmpeg ended before the movie was complete; closing the movie returns the reason");
        sent += (size_t)now;
    }
    return CT_OK;
}

// The last words of ffmpeg, on one line.
static void read_complaints(FILE* stream, char* text, size_t size) {
    fseek(stream, 0, SEEK_END);
    long length = ftell(stream), keep = (long)size - 1;
    fseek(stream, length > keep ? length - keep : 0, SEEK_SET);
    size_t got = fread(text, 1, size - 1, stream);
    text[got] = 0;
    for (size_t k = 0; k < got; k++)
        if (text[k] == '\n' || text[k] == '\r') text[k] = ' ';
}

ct_status ct_movie_close(ct_movie* movie, ct_error* error) {
    ct_error_clear(error);
    if (!movie) return CT_OK;
    int result = 0;
    close(movie->feed);
    movie->feed = -1;
    while (waitpid(movie->program, &result, 0) < 0 && errno == EINTR) {
    }
    movie->program = 0;
    ct_status status = CT_OK;
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
        char text[360];
        read_complaints(movie->complaints, text, sizeof text);
        status = ct_fail_at(error, CT_IO, movie->path + 5, 0, "ffmpeg could not write the movie: %s", text);
    }
    discard(movie);
    return status;
}
