// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * player.c: in the guest, plays a script: what is asked of the kernel and what is sent,
 * each at its time. Nothing but the script decides: no interpreter reads the clock beside
 * it, or starts programs, each of which draws from the random pool.
 *
 *   player SCRIPT                        play.py writes it; its first line may be #!
 *
 *   zero NS                              `at` counts from here, of the wall clock
 *   at NS                                sleep until then; to be late is an error
 *   mount TYPE FOLDER
 *   module FILE [PARAMETERS]
 *   space NAME                           go to this network namespace, made the first time;
 *                                        the first one is the descriptor 100, the next 101
 *   write FILE VALUE
 *   ask TYPE FLAGS HEX                   a request of rtnetlink without its head; until it
 *                                        is answered
 *   socket NUMBER TOS SEGMENT_BYTES ADDRESS
 *                                        UDP to this address; 0: no segments
 *   send NUMBER COUNT BYTES              as many datagrams, of as many bytes of payload
 *   start PROGRAM INPUT [ARGUMENT]       beside the script, which waits for it at its end
 *   copy FROM TO
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SPACES = 8, FIRST_SPACE_FD = 100, MAX_SOCKETS = 64, MAX_WORDS = 4 };
enum { FIRST_PORT = 7000, PORT = 9 };
/* Datagrams of many bursts wait in a queue before it lets one of them go. */
enum { SEND_BUFFER_BYTES = 1 << 24 };

static struct {
	char name[32];
	int rtnl;
} spaces[MAX_SPACES];
static int inside = -1;
static struct {
	int fd;
	struct sockaddr_in peer;
} sockets[MAX_SOCKETS];
static uint64_t zero_ns;
static int children;
static char buffer[1 << 16];
/* The line that is played, for whoever reads why it failed. */
static int line_number;

_Noreturn static void fail(const char *why)
{
	fprintf(stderr, "player: line %d: %s\n", line_number, why);
	exit(1);
}

static int must(long result)
{
	if (result < 0)
		fail(strerror(errno));
	return (int)result;
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 0);
}

/* ---- time ---- */

static void zero(char **word)
{
	zero_ns = number(word[0]);
}

static void at(char **word)
{
	uint64_t at_ns = zero_ns + number(word[0]);
	struct timespec now, then = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)};

	clock_gettime(CLOCK_REALTIME, &now);
	if ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec > at_ns)
		fail("late");
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &then, NULL);
}

/* ---- files ---- */

static void mount_on(char **word)
{
	must(mount("none", word[1], word[0], 0, NULL));
}

static void module(char **word)
{
	int fd = must(open(word[0], O_RDONLY | O_CLOEXEC));

	must(syscall(SYS_finit_module, fd, word[1] ? word[1] : "", 0));
	close(fd);
}

static void write_to(char **word)
{
	int fd = must(open(word[0], O_WRONLY | O_CLOEXEC));

	must(write(fd, word[1], strlen(word[1])));
	close(fd);
}

static void copy(char **word)
{
	int from = must(open(word[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	int to = must(open(word[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
	ssize_t bytes;

	while ((bytes = read(from, buffer, sizeof(buffer))) > 0)
		if (must(write(to, buffer, (size_t)bytes)) != bytes)
			fail("the disk is full");
	/* The kernel's log has no end; here nothing more stands in it. */
	if (bytes < 0 && errno != EAGAIN)
		fail(strerror(errno));
	close(from);
	close(to);
}

static void option(int fd, int level, int name, int value)
{
	must(setsockopt(fd, level, name, &value, sizeof(value)));
}

/* ---- namespaces, and what is asked in them ---- */

static int make_space(const char *name)
{
	char path[64];
	int n = 0;

	while (n < MAX_SPACES && *spaces[n].name)
		n++;
	if (n == MAX_SPACES)
		fail("too many namespaces");
	snprintf(spaces[n].name, sizeof(spaces[n].name), "%s", name);
	must(unshare(CLONE_NEWNET));
	/* As ip-netns(8) keeps them: there others find them too. */
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	mkdir("/run/netns", 0755);
	close(must(open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0)));
	must(mount("/proc/self/ns/net", path, "none", MS_BIND, NULL));
	/* Those whom `start` starts need no other door. */
	must(dup3(must(open(path, O_RDONLY | O_CLOEXEC)), FIRST_SPACE_FD + n, O_CLOEXEC));
	spaces[n].rtnl = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
	option(spaces[n].rtnl, SOL_NETLINK, NETLINK_CAP_ACK, 1);
	option(spaces[n].rtnl, SOL_NETLINK, NETLINK_EXT_ACK, 1);
	return n;
}

static void space(char **word)
{
	int n = 0;

	while (n < MAX_SPACES && strcmp(spaces[n].name, word[0]))
		n++;
	if (n == MAX_SPACES)
		n = make_space(word[0]);
	must(setns(FIRST_SPACE_FD + n, CLONE_NEWNET));
	inside = n;
}

static uint32_t read_hex(const char *hex, unsigned char *to)
{
	uint32_t bytes = 0;
	unsigned int value;

	for (; sscanf(hex, "%2x", &value) == 1; hex += 2)
		to[bytes++] = (unsigned char)value;
	return bytes;
}

/* Behind a refusal without the message that it answers stands why, if anything. */
_Noreturn static void refused(const struct nlmsghdr *head)
{
	const struct nlmsgerr *answer = NLMSG_DATA(head);
	const char *end = (const char *)head + head->nlmsg_len;
	const struct nlattr *at = (const void *)(answer + 1);

	for (; head->nlmsg_flags & NLM_F_ACK_TLVS && (const char *)(at + 1) < end;
	     at = (const void *)((const char *)at + NLA_ALIGN(at->nla_len)))
		if (at->nla_type == NLMSGERR_ATTR_MSG)
			fail((const char *)(at + 1));
	fail(strerror(-answer->error));
}

static int ended(ssize_t bytes)
{
	const struct nlmsghdr *head = (void *)buffer;

	for (; NLMSG_OK(head, bytes); head = NLMSG_NEXT(head, bytes)) {
		const struct nlmsgerr *answer = NLMSG_DATA(head);

		if (head->nlmsg_type == NLMSG_ERROR && answer->error)
			refused(head);
		if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE)
			return 1;
	}
	return 0;
}

static void ask(char **word)
{
	struct nlmsghdr *head = (void *)buffer;

	if (inside < 0)
		fail("in which namespace?");
	*head = (struct nlmsghdr){
	        .nlmsg_type = (uint16_t)number(word[0]),
	        .nlmsg_flags = (uint16_t)(number(word[1]) | NLM_F_REQUEST | NLM_F_ACK),
	};
	head->nlmsg_len = NLMSG_LENGTH(read_hex(word[2], NLMSG_DATA(head)));
	must(send(spaces[inside].rtnl, buffer, head->nlmsg_len, 0));
	while (!ended(must(recv(spaces[inside].rtnl, buffer, sizeof(buffer), 0))))
		;
}

/* ---- traffic ---- */

/* From a port of its own, so that its flow is the same in each play. */
static void open_socket(char **word)
{
	uint64_t n = number(word[0]);
	struct sockaddr_in here = {.sin_family = AF_INET,
	                           .sin_port = htons((uint16_t)(FIRST_PORT + n))};
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int fd = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	if (n >= MAX_SOCKETS || inet_pton(AF_INET, word[3], &peer.sin_addr) != 1)
		fail("no such socket");
	option(fd, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER_BYTES);
	option(fd, IPPROTO_IP, IP_TOS, (int)number(word[1]));
	option(fd, IPPROTO_UDP, UDP_SEGMENT, (int)number(word[2]));
	must(bind(fd, (void *)&here, sizeof(here)));
	sockets[n].fd = fd;
	sockets[n].peer = peer;
}

static void send_to(char **word)
{
	static const char payload[1 << 16];
	uint64_t n = number(word[0]), bytes = number(word[2]);

	if (n >= MAX_SOCKETS || bytes > sizeof(payload))
		fail("no such datagram");
	for (uint64_t left = number(word[1]); left; left--)
		must(sendto(sockets[n].fd, payload, bytes, 0, (void *)&sockets[n].peer,
		            sizeof(sockets[n].peer)));
}

static void start(char **word)
{
	pid_t child = must(fork());

	if (child == 0) {
		int input = must(open(word[1], O_RDONLY));

		must(dup2(input, 0));
		execl(word[0], word[0], word[2], NULL);
		fail(strerror(errno));
	}
	children++;
}

static void wait_for_all(void)
{
	for (int status; children; children--) {
		must(wait(&status));
		if (status)
			fail("a program that was started has failed");
	}
}

/* ---- the script ---- */

static const struct {
	const char *name;
	int least; /* words; the last one takes the rest of the line */
	int most;
	void (*play)(char **word);
} verbs[] = {
        {"zero", 1, 1, zero},      {"at", 1, 1, at},
        {"mount", 2, 2, mount_on}, {"module", 1, 2, module},
        {"space", 1, 1, space},    {"write", 2, 2, write_to},
        {"ask", 3, 3, ask},        {"send", 3, 3, send_to},
        {"start", 2, 3, start},    {"socket", 4, 4, open_socket},
        {"copy", 2, 2, copy},
};

static void play(char *line)
{
	char *word[MAX_WORDS] = {NULL}, *verb = strsep(&line, " ");
	size_t i = 0;
	int n = 0;

	while (i < sizeof(verbs) / sizeof(*verbs) && strcmp(verbs[i].name, verb))
		i++;
	if (i == sizeof(verbs) / sizeof(*verbs))
		fail("no such verb");
	while (line && n < verbs[i].most - 1)
		word[n++] = strsep(&line, " ");
	if (line)
		word[n++] = line;
	if (n < verbs[i].least)
		fail("words are missing");
	verbs[i].play(word);
}

int main(int argc, char **argv)
{
	FILE *script = argc == 2 ? fopen(argv[1], "re") : NULL;
	static char line[1 << 15], all[1 << 20];

	if (!script) {
		fprintf(stderr, "player SCRIPT\n");
		return 2;
	}
	/* Read at once, not while it is played. */
	setvbuf(script, all, _IOFBF, sizeof(all));
	while (fgets(line, sizeof(line), script)) {
		line_number++;
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#')
			play(line);
	}
	wait_for_all();
	return 0;
}
