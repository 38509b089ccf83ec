// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * host.c: preloaded into the kernel process; shows the guest the same of every host.
 *
 * The guest's root is the host's, through hostfs. Names, modes, owners and bytes of its files
 * are the host's; inode numbers, dates, the order of a folder, free space and the host's name
 * are not.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* As EPOCH_S of boot.py: the guest's clock begins then. */
static const int64_t EPOCH_S = 1767225600;
/* The folders of a run lie below it: their files are as new as the run, and the guest's own. */
static const char OF_THE_RUN[] = "/proc/self/cwd/";

/* The birth is part of a file's identity: a host gives a number again once a file is gone. */
struct identity {
	uint64_t device, inode, born_ns;
};

enum { SLOTS = 1 << 20 };
static struct {
	struct identity of;
	uint64_t number;
} seen[SLOTS];

/* Number files in the order in which the guest sees them. */
static uint64_t number_of(struct identity of)
{
	static uint64_t known;
	uint64_t hash = (of.inode ^ of.device << 32 ^ of.born_ns << 7) * 0x9e3779b97f4a7c15u;
	uint32_t at = hash >> 44;

	while (seen[at].number && memcmp(&seen[at].of, &of, sizeof(of)))
		at = (at + 1) % SLOTS;
	if (seen[at].number)
		return seen[at].number;
	/* A fuller table would be slow; no guest has come near. */
	if (known == SLOTS / 4 * 3)
		return of.inode;
	seen[at].of = of;
	seen[at].number = ++known;
	return known;
}

int statx(int folder, const char *path, int flags, unsigned int mask, struct statx *file)
{
	const struct statx_timestamp epoch = {.tv_sec = EPOCH_S};
	struct identity of;

	if (syscall(SYS_statx, folder, path, flags, mask | STATX_INO | STATX_BTIME, file))
		return -1;
	of.device = (uint64_t)file->stx_dev_major << 32 | file->stx_dev_minor;
	of.inode = file->stx_ino;
	of.born_ns = (uint64_t)file->stx_btime.tv_sec * 1000000000 + file->stx_btime.tv_nsec;
	file->stx_ino = number_of(of);
	file->stx_atime = file->stx_ctime = file->stx_btime = epoch;
	if (strstr(path, OF_THE_RUN)) {
		file->stx_mtime = epoch;
		file->stx_mode = (file->stx_mode & S_IFMT) | 0755;
		file->stx_uid = file->stx_gid = 0;
	}
	/* A package's files keep their dates, since Python compiles a source of another date
	 * anew. */
	if (!S_ISREG(file->stx_mode))
		file->stx_mtime = epoch;
	file->stx_blksize = 4096;
	if (S_ISDIR(file->stx_mode)) {
		file->stx_size = 4096;
		file->stx_nlink = 1;
	}
	file->stx_blocks = (file->stx_size + 511) / 512;
	return 0;
}

/* Kernels before 6.12 ask so. */
int lstat64(const char *path, struct stat64 *file)
{
	struct statx found;

	if (syscall(SYS_newfstatat, AT_FDCWD, path, file, AT_SYMLINK_NOFOLLOW) ||
	    statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &found))
		return -1;
	file->st_ino = found.stx_ino;
	file->st_mode = found.stx_mode;
	file->st_uid = found.stx_uid;
	file->st_gid = found.stx_gid;
	file->st_size = (off64_t)found.stx_size;
	file->st_nlink = found.stx_nlink;
	file->st_blksize = found.stx_blksize;
	file->st_blocks = (blkcnt64_t)found.stx_blocks;
	file->st_atim = file->st_ctim = (struct timespec){.tv_sec = EPOCH_S};
	file->st_mtim.tv_sec = found.stx_mtime.tv_sec;
	file->st_mtim.tv_nsec = found.stx_mtime.tv_nsec;
	return 0;
}

int statfs64(const char *path, struct statfs64 *system)
{
	if (syscall(SYS_statfs, path, system))
		return -1;
	system->f_bsize = system->f_frsize = 4096;
	system->f_blocks = system->f_bfree = system->f_bavail = 1 << 30;
	system->f_files = system->f_ffree = 1 << 30;
	memset(&system->f_fsid, 0, sizeof(system->f_fsid));
	return 0;
}

/* Everything that tells of the processor is empty. */
FILE *fopen64(const char *path, const char *mode)
{
	return fopen(strcmp(path, "/proc/cpuinfo") ? path : "/dev/null", mode);
}

int uname(struct utsname *host)
{
	if (syscall(SYS_uname, host))
		return -1;
	strcpy(host->nodename, "host");
	strcpy(host->release, "any");
	strcpy(host->version, "any");
	return 0;
}

/* ---- folders, in the order of their names ---- */

struct folder {
	char path[PATH_MAX];
	struct dirent64 **entries;
	int count, next;
};

static int by_bytes(const struct dirent64 **a, const struct dirent64 **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

DIR *opendir(const char *path)
{
	struct folder *folder = calloc(1, sizeof(*folder));

	if (!folder)
		return NULL;
	snprintf(folder->path, sizeof(folder->path), "%s", path);
	folder->count = scandir64(path, &folder->entries, NULL, by_bytes);
	if (folder->count >= 0)
		return (DIR *)folder;
	free(folder);
	return NULL;
}

struct dirent64 *readdir64(DIR *dir)
{
	struct folder *folder = (struct folder *)dir;
	static char path[2 * PATH_MAX]; /* the kernel's stack is small, and has one user */
	struct dirent64 *entry;
	struct statx file;

	if (folder->next >= folder->count)
		return NULL;
	entry = folder->entries[folder->next++];
	/* The folder above a run's is nobody's. */
	snprintf(path, sizeof(path), "%s/%s", folder->path,
	         strcmp(entry->d_name, "..") ? entry->d_name : ".");
	if (!statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &file))
		entry->d_ino = file.stx_ino;
	entry->d_off = folder->next;
	return entry;
}

/* The same on 64 bits; for programs that start the kernel. */
struct dirent *readdir(DIR *dir)
{
	return (struct dirent *)readdir64(dir);
}

void seekdir(DIR *dir, long position)
{
	((struct folder *)dir)->next = (int)position;
}

int closedir(DIR *dir)
{
	struct folder *folder = (struct folder *)dir;

	for (int i = 0; i < folder->count; i++)
		free(folder->entries[i]);
	free(folder->entries);
	free(folder);
	return 0;
}
