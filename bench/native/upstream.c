/* A fast OpenAI-compatible upstream on loopback.
 *
 * usage: upstream DELTAS MARK
 *
 * It listens on a free port and prints it. A request whose body holds the model
 * `bench-EVENTS-DELAY-VIOLATE-PLACE` is answered with that many chat.completion.chunk events, one
 * write each, DELAY milliseconds apart; DELAY 0 writes as fast as the reader reads. Each event
 * carries `@NANOSECONDS.CHARACTERS@`: when it was sent (CLOCK_MONOTONIC), and how much text it has.
 * PLACE 0 puts that stamp into the text, where every proxy keeps it; PLACE 1 into the fingerprint,
 * so that the text stays as it is.
 *
 * DELTAS is a file: lines of `characters<TAB>text`, the text escaped for JSON. The first line is
 * the violation: it is sent as event number VIOLATE (from 1, 0 for never), but not where the body
 * holds MARK, by which a second attempt is known. The other lines are the text, from its beginning
 * for each stream, and over again.
 *
 * `GET /closes` tells how long it took from each violation to the end of its connection, and how
 * many second attempts there were, and forgets that.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

enum {
    MAX_CONNECTIONS = 8192,
    MAX_REQUEST = 32768,
    MAX_DELTA = 1024,
    MAX_OUTPUT = 4096,
    MAX_CLOSES = 1 << 20,
    EVENTS_AT_ONCE = 64, /* for one stream, before the next has its turn */
};

typedef struct {
    int characters;
    char text[MAX_DELTA];
} Delta;

typedef struct {
    char request[MAX_REQUEST + 1];
    size_t request_length;
    char output[MAX_OUTPUT];
    size_t output_length, output_sent;
    int streaming, closes_after, waits_for_room;
    int events, sent_events, violate, stamp_in_text;
    long long delay, due, violated;
} Connection;

static Connection *connections[MAX_CONNECTIONS];
static int highest, epoll_fd;
static Delta *deltas;
static size_t delta_count;
static const char *mark;
static long long closes[MAX_CLOSES];
static size_t close_count;
static int second_attempts;

static void end(int fd) {
    Connection *c = connections[fd];
    if (c->violated && close_count < MAX_CLOSES) closes[close_count++] = now() - c->violated;
    close(fd);
    free(c);
    connections[fd] = NULL;
}

static void watch(int fd, int for_room) {
    if (connections[fd]->waits_for_room == for_room) return;
    connections[fd]->waits_for_room = for_room;
    struct epoll_event e = {.events = EPOLLIN | (for_room ? EPOLLOUT : 0), .data.fd = fd};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &e)) die("epoll_ctl");
}

static void put(Connection *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = MAX_OUTPUT - c->output_length;
    int length = vsnprintf(c->output + c->output_length, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room) {
        fprintf(stderr, "upstream: an event is too long\n");
        exit(1);
    }
    c->output_length += (size_t)length;
}

/* Whether all of the output has gone out; a connection that broke is ended. */
static int flush(int fd) {
    Connection *c = connections[fd];
    while (c->output_sent < c->output_length) {
        size_t left = c->output_length - c->output_sent;
        ssize_t sent = send(fd, c->output + c->output_sent, left, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EAGAIN) watch(fd, 1);
            else if (errno != EINTR) end(fd);
            else continue;
            return 0;
        }
        c->output_sent += (size_t)sent;
    }
    c->output_length = c->output_sent = 0;
    watch(fd, 0);
    return 1;
}

#define CHUNK                                                                              \
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\","               \
    "\"created\":1700000000,\"model\":\"bench\",\"system_fingerprint\":\"%s\","            \
    "\"choices\":[{\"index\":0,\"delta\":{%s},\"logprobs\":null,\"finish_reason\":%s}]}\n\n"

static void put_chunked(Connection *c, const char *event, int length) {
    put(c, "%x\r\n%s\r\n", length, event);
}

static void put_event(Connection *c) {
    char event[MAX_OUTPUT], stamp[64], delta[MAX_DELTA + 128];
    int violates = c->violate && c->sent_events + 1 == c->violate;
    size_t at = violates ? 0 : 1 + (size_t)c->sent_events % (delta_count - 1);
    long long time = now();
    snprintf(stamp, sizeof stamp, "@%lld.%d@", time, deltas[at].characters);
    snprintf(delta, sizeof delta, "\"role\":\"assistant\",\"content\":\"%s%s\"", deltas[at].text,
             c->stamp_in_text ? stamp : "");
    int length = snprintf(event, sizeof event, CHUNK, c->stamp_in_text ? "fp_bench" : stamp, delta,
                          "null");
    put_chunked(c, event, length);
    if (violates) c->violated = time;
}

static void put_last_event(Connection *c) {
    char event[MAX_OUTPUT];
    int length = snprintf(event, sizeof event, CHUNK "data: [DONE]\n\n", "fp_bench", "", "\"stop\"");
    put_chunked(c, event, length);
    put(c, "0\r\n\r\n");
}

static void pump(int fd) {
    Connection *c = connections[fd];
    int budget = c->delay ? 1 : EVENTS_AT_ONCE;
    while (c->streaming && budget-- > 0) {
        if (c->output_length && !flush(fd)) return;
        if (c->delay && now() < c->due) return;
        c->due += c->delay;
        if (c->sent_events < c->events) {
            put_event(c);
            c->sent_events++;
        } else {
            put_last_event(c);
            c->streaming = 0;
            c->violated = 0;
        }
        if (!flush(fd)) return;
    }
    if (!c->streaming && c->closes_after) end(fd);
}

static void answer_closes(int fd) {
    Connection *c = connections[fd];
    char body[256];
    qsort(closes, close_count, sizeof *closes, ascending);
    int length = snprintf(body, sizeof body, "{\"count\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f,\"second_attempts\":%d}",
                          close_count, share(closes, close_count, .5) / 1e3,
                          share(closes, close_count, .99) / 1e3, second_attempts);
    close_count = 0;
    second_attempts = 0;
    put(c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s",
        length, body);
    flush(fd);
}

/* Whether the body is there: by its length, or by the ending of the chunked coding. */
static int is_whole(const Connection *c, const char *body) {
    const char *length = strcasestr(c->request, "content-length:");
    const char *chunked = strcasestr(c->request, "transfer-encoding: chunked");
    if (chunked && chunked < body) return strstr(body, "0\r\n\r\n") != NULL;
    size_t wanted = length && length < body ? strtoul(length + 15, NULL, 10) : 0;
    return (size_t)(c->request + c->request_length - body) >= wanted;
}

static void begin_stream(int fd, const char *body) {
    Connection *c = connections[fd];
    const char *model = strstr(body, "bench-");
    int events = 10, delay = 0, violate = 0, place = 0;
    if (model) sscanf(model, "bench-%d-%d-%d-%d", &events, &delay, &violate, &place);
    const char *closes_after = strcasestr(c->request, "connection: close");
    c->closes_after = closes_after && closes_after < body;
    c->events = events;
    c->sent_events = 0;
    int second = strstr(body, mark) != NULL;
    second_attempts += second;
    c->violate = second ? 0 : violate;
    c->stamp_in_text = place == 0;
    c->delay = delay * 1000000LL;
    /* Streams that start together must not all be due in the same millisecond. */
    c->due = now() + (delay ? rand() % delay * 1000000LL : 0);
    c->streaming = 1;
    put(c, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
           "transfer-encoding: chunked\r\n\r\n");
    if (flush(fd)) pump(fd);
}

static void read_request(int fd) {
    Connection *c = connections[fd];
    c->request[c->request_length] = 0;
    char *body = strstr(c->request, "\r\n\r\n");
    if (!body || !is_whole(c, body += 4)) return;
    c->request_length = 0;
    if (!strncmp(c->request, "GET /closes", 11)) answer_closes(fd);
    else if (!strncmp(c->request, "POST", 4)) begin_stream(fd, body);
    else {
        put(c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
        flush(fd);
    }
}

static void receive(int fd) {
    Connection *c = connections[fd];
    size_t room = MAX_REQUEST - c->request_length;
    if (!room) {
        fprintf(stderr, "upstream: a request of more than %d bytes\n", MAX_REQUEST);
        end(fd);
        return;
    }
    ssize_t got = recv(fd, c->request + c->request_length, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        end(fd);
        return;
    }
    c->request_length += (size_t)got;
    read_request(fd);
}

static void accept_all(int listener) {
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MAX_CONNECTIONS || !(connections[fd] = calloc(1, sizeof(Connection)))) {
            fprintf(stderr, "upstream: too many connections\n");
            close(fd);
            continue;
        }
        if (fd > highest) highest = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e)) die("epoll_ctl");
    }
}

static int listen_on_loopback(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0) die("socket");
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, 4096)) die("bind");
    if (getsockname(fd, (struct sockaddr *)&address, &size)) die("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void read_deltas(const char *path) {
    FILE *file = fopen(path, "r");
    char line[MAX_DELTA + 32];
    if (!file) die(path);
    while (fgets(line, sizeof line, file)) {
        char *text = strchr(line, '\t');
        if (!text || strlen(text) > MAX_DELTA) {
            fprintf(stderr, "%s: line %zu is no `characters<TAB>text`\n", path, delta_count + 1);
            exit(1);
        }
        deltas = realloc(deltas, (delta_count + 1) * sizeof *deltas);
        if (!deltas) die("realloc");
        text[strcspn(text, "\n")] = 0;
        deltas[delta_count].characters = atoi(line);
        strcpy(deltas[delta_count++].text, text + 1);
    }
    fclose(file);
    if (delta_count < 2) {
        fprintf(stderr, "%s: a violation and at least one line of text are needed\n", path);
        exit(1);
    }
}

/* How long to wait for the network: not at all while a stream could be written to. */
static int patience(void) {
    int paced = 0;
    for (int fd = 0; fd <= highest; fd++) {
        Connection *c = connections[fd];
        if (!c || !c->streaming) continue;
        if (c->delay) paced = 1;
        else if (!c->waits_for_room) return 0;
    }
    return paced ? 1 : 1000;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: upstream DELTAS MARK\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    read_deltas(arguments[1]);
    mark = arguments[2];
    epoll_fd = epoll_create1(0);
    if (epoll_fd < 0) die("epoll_create1");
    int listener = listen_on_loopback();
    struct epoll_event listening = {.events = EPOLLIN, .data.fd = listener}, ready[1024];
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &listening)) die("epoll_ctl");
    for (;;) {
        int got = epoll_wait(epoll_fd, ready, 1024, patience());
        if (got < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < got; i++) {
            int fd = ready[i].data.fd;
            if (fd == listener) {
                accept_all(listener);
                continue;
            }
            if ((ready[i].events & EPOLLOUT) && connections[fd]) flush(fd);
            if ((ready[i].events & ~(unsigned)EPOLLOUT) && connections[fd]) receive(fd);
        }
        for (int fd = 0; fd <= highest; fd++) {
            Connection *c = connections[fd];
            if (c && c->streaming && !c->waits_for_room) pump(fd);
        }
    }
}
