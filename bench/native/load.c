/* A load client for streams of events on loopback.
 *
 * usage: load KEY=VALUE ...
 *   port, path    where to send requests
 *   at_once       streams that run side by side
 *   streams       how many in all; or
 *   seconds       for how long new ones are begun
 *   events, delay, violate, place    what the upstream is asked for, see upstream.c
 *   limit         seconds after which it gives up (default 60)
 *
 * It prints `open` when as many streams as run side by side have had their first event, and one
 * JSON object at the end. Times are taken from the stamps in the events, whose clock is this one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

enum { MAX_CONNECTIONS = 8192, MAX_READ = 262144, MAX_HEAD = 4096 };

typedef struct {
    long long sent, received;
    int characters;
} Event;

typedef struct {
    long long started, number, sent;
    enum { OUTSIDE, IN_TIME, IN_LENGTH } state;
    /* The body as it is framed: to its end, or in chunks of a size that stands in front. */
    enum { HEAD, TO_THE_END, CHUNK_SIZE, CHUNK } framing;
    char head[MAX_HEAD + 1];
    size_t head_length, chunk_left, ending;
    int ended;
    Event *events;
    size_t count, room;
} Stream;

typedef struct {
    long long *values;
    size_t count, room;
} Samples;

static struct {
    int port, at_once, streams, seconds, events, delay, violate, place, limit;
    const char *path;
} options = {.at_once = 1, .events = 10, .limit = 60, .path = "/v1/chat/completions"};

static Stream streams[MAX_CONNECTIONS];
static Samples latencies, firsts, lags, helds, jitters;
static char request[4096];
static size_t request_length;
static int epoll_fd, started, finished, errors, incomplete, opened;
static long long began;

static void *grown(void *values, size_t *room, size_t size) {
    *room = *room ? *room * 2 : 256;
    values = realloc(values, *room * size);
    if (!values) die("realloc");
    return values;
}

static void add(Samples *samples, long long value) {
    if (samples->count == samples->room)
        samples->values = grown(samples->values, &samples->room, sizeof value);
    samples->values[samples->count++] = value;
}

static int may_start(void) {
    if (options.streams) return started < options.streams;
    return now() < began + options.seconds * 1000000000LL;
}

static void fail(int fd) {
    errors++;
    finished++;
    close(fd);
}

static void start(void) {
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(options.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0) die("socket");
    if (fd >= MAX_CONNECTIONS) {
        fprintf(stderr, "load: more than %d connections\n", MAX_CONNECTIONS);
        exit(1);
    }
    started++;
    Stream *s = &streams[fd];
    Event *events = s->events;
    size_t room = s->room;
    *s = (Stream){.started = now(), .events = events, .room = room};
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
        fail(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (send(fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length) {
        fail(fd);
        return;
    }
    if (fcntl(fd, F_SETFL, O_NONBLOCK)) die("fcntl");
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e)) die("epoll_ctl");
}

static void got_event(Stream *s, long long time) {
    if (s->count == s->room) s->events = grown(s->events, &s->room, sizeof *s->events);
    s->events[s->count++] = (Event){s->sent, time, (int)s->number};
    add(&latencies, time - s->sent);
    if (s->count > 1) return;
    add(&firsts, time - s->started);
    if (++opened == options.at_once) {
        puts("open");
        fflush(stdout);
    }
}

/* Looks for `@NANOSECONDS.CHARACTERS@` and for `[DONE]`, wherever reads and chunks cut them. */
static void scan(Stream *s, const char *bytes, size_t length, long long time) {
    static const char done[] = "[DONE]";
    for (size_t i = 0; i < length; i++) {
        char byte = bytes[i];
        if (byte == '@') {
            if (s->state == IN_LENGTH) got_event(s, time);
            s->state = s->state == IN_LENGTH ? OUTSIDE : IN_TIME;
            s->number = 0;
        } else if (byte == '.' && s->state == IN_TIME) {
            s->sent = s->number;
            s->number = 0;
            s->state = IN_LENGTH;
        } else if (byte >= '0' && byte <= '9') {
            s->number = s->number * 10 + (byte - '0');
        } else {
            s->state = OUTSIDE;
        }
        s->ending = byte == done[s->ending] ? s->ending + 1 : byte == done[0];
        if (s->ending == sizeof done - 1) {
            s->ended = 1;
            s->ending = 0;
        }
    }
}

/* How many later events had been sent when an event came, and how much text the proxy had kept
 * when the next event was sent. */
static void measure_lags(const Stream *s) {
    size_t ahead = 0, released = 0;
    long long held = 0;
    for (size_t k = 0; k < s->count; k++) {
        if (ahead < k) ahead = k;
        while (ahead + 1 < s->count && s->events[ahead + 1].sent < s->events[k].received) ahead++;
        add(&lags, (long long)(ahead - k));
        if (k) {
            long long gap = s->events[k].received - s->events[k - 1].received;
            long long sent = s->events[k].sent - s->events[k - 1].sent;
            add(&jitters, gap > sent ? gap - sent : sent - gap);
        }
        held += s->events[k].characters;
        if (k + 1 == s->count) break;
        while (released <= k && s->events[released].received <= s->events[k + 1].sent)
            held -= s->events[released++].characters;
        add(&helds, held);
    }
}

static size_t read_head(Stream *s, const char *bytes, size_t length) {
    for (size_t i = 0; i < length && s->head_length < MAX_HEAD; i++) {
        s->head[s->head_length++] = bytes[i];
        s->head[s->head_length] = 0;
        if (s->head_length < 4 || strcmp(s->head + s->head_length - 4, "\r\n\r\n")) continue;
        s->framing = strcasestr(s->head, "transfer-encoding: chunked") ? CHUNK_SIZE : TO_THE_END;
        return i + 1;
    }
    return length;
}

/* The line feed behind a chunk is an empty size, which changes nothing. */
static size_t read_chunk_size(Stream *s, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char byte = bytes[i];
        if (byte == '\n' && s->chunk_left) {
            s->framing = CHUNK;
            return i + 1;
        }
        if (byte >= '0' && byte <= '9') s->chunk_left = s->chunk_left * 16 + (size_t)(byte - '0');
        else if ((byte | 32) >= 'a' && (byte | 32) <= 'f')
            s->chunk_left = s->chunk_left * 16 + (size_t)((byte | 32) - 'a' + 10);
    }
    return length;
}

static size_t read_body(Stream *s, const char *bytes, size_t length, long long time) {
    if (s->framing == CHUNK) {
        if (length > s->chunk_left) length = s->chunk_left;
        s->chunk_left -= length;
        if (!s->chunk_left) s->framing = CHUNK_SIZE;
    }
    scan(s, bytes, length, time);
    return length;
}

static void read_bytes(Stream *s, const char *bytes, size_t length, long long time) {
    while (length) {
        size_t taken = s->framing == HEAD         ? read_head(s, bytes, length)
                       : s->framing == CHUNK_SIZE ? read_chunk_size(s, bytes, length)
                                                  : read_body(s, bytes, length, time);
        bytes += taken;
        length -= taken;
    }
}

static void finish(int fd) {
    Stream *s = &streams[fd];
    if (strncmp(s->head, "HTTP/1.1 200", 12)) errors++;
    else if (!s->ended || (!options.violate && s->count != (size_t)options.events)) incomplete++;
    if (options.delay) measure_lags(s);
    close(fd);
    finished++;
    if (may_start()) start();
}

static void receive(int fd) {
    static char bytes[MAX_READ];
    Stream *s = &streams[fd];
    ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        finish(fd);
        return;
    }
    read_bytes(s, bytes, (size_t)got, now());
}

static void read_option(const char *argument) {
    struct {
        const char *name;
        int *value;
    } numbers[] = {
        {"port=", &options.port},       {"at_once=", &options.at_once},
        {"streams=", &options.streams}, {"seconds=", &options.seconds},
        {"events=", &options.events},   {"delay=", &options.delay},
        {"violate=", &options.violate}, {"place=", &options.place},
        {"limit=", &options.limit},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t length = strlen(numbers[i].name);
        if (!strncmp(argument, numbers[i].name, length)) {
            *numbers[i].value = atoi(argument + length);
            return;
        }
    }
    if (!strncmp(argument, "path=", 5)) {
        options.path = argument + 5;
        return;
    }
    fprintf(stderr, "load: unknown option %s\n", argument);
    exit(2);
}

static void make_request(void) {
    char body[512];
    int length = snprintf(body, sizeof body,
                          "{\"model\":\"bench-%d-%d-%d-%d\",\"stream\":true,"
                          "\"messages\":[{\"role\":\"user\",\"content\":\"hello there\"}]}",
                          options.events, options.delay, options.violate, options.place);
    int whole = snprintf(request, sizeof request,
                         "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                         "Content-Type: application/json\r\nAuthorization: Bearer sk-bench\r\n"
                         "Accept: text/event-stream\r\nConnection: close\r\n"
                         "Content-Length: %d\r\n\r\n%s",
                         options.path, options.port, length, body);
    if (whole < 0 || (size_t)whole >= sizeof request) {
        fprintf(stderr, "load: the path is too long\n");
        exit(2);
    }
    request_length = (size_t)whole;
}

static void report(const char *name, Samples *samples, double unit) {
    qsort(samples->values, samples->count, sizeof *samples->values, ascending);
    printf(",\"%s_p50\":%.1f,\"%s_p99\":%.1f", name, share(samples->values, samples->count, .5) / unit,
           name, share(samples->values, samples->count, .99) / unit);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) read_option(arguments[i]);
    if (!options.port || !(options.streams || options.seconds)) {
        fprintf(stderr, "usage: load port=PORT streams=COUNT|seconds=SECONDS [KEY=VALUE ...]\n");
        return 2;
    }
    make_request();
    epoll_fd = epoll_create1(0);
    if (epoll_fd < 0) die("epoll_create1");
    began = now();
    for (int i = 0; i < options.at_once && may_start(); i++) start();
    struct epoll_event ready[1024];
    int timed_out = 0;
    while (finished < started) {
        if (now() > began + options.limit * 1000000000LL) {
            timed_out = 1;
            break;
        }
        int got = epoll_wait(epoll_fd, ready, 1024, 100);
        if (got < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < got; i++) receive(ready[i].data.fd);
    }
    double wall = (double)(now() - began) / 1e9;
    printf("{\"wall\":%.4f,\"streams\":%d,\"events\":%zu,\"errors\":%d,\"incomplete\":%d,"
           "\"timed_out\":%d",
           wall, finished, latencies.count, errors, incomplete, timed_out);
    report("latency_us", &latencies, 1e3);
    report("first_us", &firsts, 1e3);
    report("jitter_us", &jitters, 1e3);
    report("lag", &lags, 1);
    report("held", &helds, 1);
    puts("}");
    return 0;
}
