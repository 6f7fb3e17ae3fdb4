// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel log: which rule the modules say was broken, and by whom.
 *
 * The modules limit the rate of their lines, each kind to 10 in 5 seconds.
 * log_pace() keeps a table of attacks below that, so that every line is seen;
 * that more of them are suppressed is tested on its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

#define BURST 9
#define INTERVAL_MS 5500

static int log_fd = -1;
static char lines[65536];	/* of RTRS since the mark, each with a newline */
static size_t used;

/**
 * log_open() - begin to look at the kernel log
 */
void log_open(void)
{
	log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (log_fd < 0)
		die("no kernel log");
}

/**
 * log_mark() - what is in the log by now does not count
 */
void log_mark(void)
{
	if (lseek(log_fd, 0, SEEK_END) < 0)
		die("no kernel log");
	used = 0;
}

static void read_lines(void)
{
	char line[2048];
	ssize_t got;
	size_t len;

	while ((got = read(log_fd, line, sizeof(line) - 1)) > 0) {
		line[got] = '\0';
		len = strchrnul(line, '\n') - line;
		line[len] = '\0';
		if (!strstr(line, "rtrs_") || len >= sizeof(lines) - used)
			continue;
		memcpy(lines + used, line, len);
		used += len;
		lines[used++] = '\n';
	}
}

/**
 * log_count() - count lines in the log
 * @rule: text of the lines to count
 * @peer: another text that they must have
 *
 * Return: number of lines of RTRS since the last mark that have both.
 */
u32 log_count(const char *rule, const char *peer)
{
	char *line, *end;
	u32 count = 0;

	read_lines();
	for (line = lines; line < lines + used; line = end + 1) {
		end = memchr(line, '\n', lines + used - line);
		count += memmem(line, end - line, rule, strlen(rule)) &&
			 memmem(line, end - line, peer, strlen(peer));
	}
	return count;
}

/**
 * log_pace() - wait until one more line is sure to be printed
 */
void log_pace(void)
{
	static u64 times[BURST];
	static u32 next;
	u64 now = now_ms();

	if (times[next] && now - times[next] < INTERVAL_MS)
		usleep((INTERVAL_MS - (now - times[next])) * 1000);
	times[next] = now_ms();
	next = (next + 1) % BURST;
}
