// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many paths the server takes from one client, honest ones, each of a
 * session of its own: rtrs-hostile fill ADDRESS PORT STAGE brings up path after
 * path until one is refused, and prints how many came before that, and why:
 * the errno of the reject, or "closed".  All of them end with the program.
 *
 * The stage is "accepted": the service connection alone, or "up".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define FILL_MAX 64

/* 0, an errno, or 1 when the server has closed the path. */
static int bring_up(struct path *path, bool all)
{
	u32 cid;
	int err;

	for (cid = 0; cid < (all ? path->nr_cons : 1); cid++) {
		err = path_connect(path, cid);
		if (err)
			return err;
	}
	if (!all)
		return 0;
	path_send_info(path);
	return !path_try_info(path);
}

/**
 * fill() - the command
 * @addr: address of the server
 * @port: its port
 * @stage: how far each path comes
 *
 * Return: exit status.
 */
int fill(const char *addr, const char *port, const char *stage)
{
	static struct path paths[FILL_MAX];
	bool all = !strcmp(stage, "up");
	u32 nr;
	int err;

	for (nr = 0; nr < FILL_MAX; nr++) {
		path_init(&paths[nr], addr, port);
		err = bring_up(&paths[nr], all);
		if (err)
			break;
	}
	if (nr == FILL_MAX)
		printf("%u\n", nr);
	else if (err > 0)
		printf("%u closed\n", nr);
	else
		printf("%u %d\n", nr, err);
	return 0;
}
