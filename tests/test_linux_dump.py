# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a guest's programs hear of all their sockets at once is what each socket says itself."""

from __future__ import annotations

import subprocess

import pytest
from sojourn.linux.uml.build import HERE

# Connections of this host: one that holds data, one behind whose data the stream has ended, one
# without anything, one that was closed on both sides, and one that nobody noted.
DRIVER = """
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "dump.h"
_Noreturn void die(const char *what) { perror(what); exit(1); }
static void show(const char *name, int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    const struct told *told = told_of(fd);
    int unread = 0;

    ioctl(fd, FIONREAD, &unread);
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size);
    printf("%s itself %d %u %u\\n", name, unread, info.tcpi_rtt, info.tcpi_snd_cwnd);
    if (told)
        printf("%s told %u %u %u\\n", name, told->unread_bytes, told->rtt_us, told->cwnd_pkts);
}
int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), near[5], far[5];
    char data[3000] = {0};

    dump_wanted();
    if (bind(listener, (void *)&at, size) || listen(listener, 9) ||
        getsockname(listener, (void *)&at, &size))
        die("listen");
    dump_note(listener, "here", AF_INET);
    for (int i = 0; i < 5; i++) {
        near[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (i < 4)
            dump_note(near[i], "here", AF_INET);
        if (connect(near[i], (void *)&at, size))
            die("connect");
        far[i] = accept(listener, NULL, NULL);
        if (i < 4)
            dump_note_accepted(far[i]);
    }
    if (send(near[0], data, 3000, 0) != 3000 || send(near[1], data, 700, 0) != 700)
        die("send");
    shutdown(near[1], SHUT_WR);
    shutdown(near[3], SHUT_RDWR);
    shutdown(far[3], SHUT_RDWR);
    usleep(50000);
    dump_all();
    dump_all();
    show("data", far[0]);
    show("sender", near[0]);
    show("ended", far[1]);
    show("idle", far[2]);
    show("closed", far[3]);
    show("unknown", near[4]);
    show("listener", listener);
    return 0;
}
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[int]]:
    folder = tmp_path_factory.mktemp("dump")
    (folder / "driver.c").write_text(DRIVER)
    words = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{HERE}", "-o", "driver"]
    subprocess.run([*words, "driver.c", HERE / "dump.c"], cwd=folder, check=True)
    lines = subprocess.check_output([folder / "driver"], text=True).splitlines()
    found = [line.split() for line in lines]
    return {(name, how): [int(number) for number in rest] for name, how, *rest in found}


@pytest.mark.parametrize("name", ["data", "sender", "ended", "idle"])
def test_a_dump_says_of_a_connection_what_its_socket_does(
    said: dict[tuple[str, str], list[int]], name: str
) -> None:
    assert said[name, "told"] == said[name, "itself"]


def test_the_end_of_a_stream_is_no_byte_of_it(said: dict[tuple[str, str], list[int]]) -> None:
    assert said["data", "told"][0] == 3000
    assert said["ended", "told"][0] == 700


def test_of_what_is_over_or_was_never_noted_nothing_is_told(
    said: dict[tuple[str, str], list[int]],
) -> None:
    told = {name for name, how in said if how == "told"}
    assert not told & {"closed", "unknown", "listener"}
