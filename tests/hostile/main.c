// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rtrs-hostile: breaks the protocol's rules one by one.
 *
 * usage: rtrs-hostile list
 *	  rtrs-hostile attack ADDRESS PORT TABLE-OR-NAME...
 *	  rtrs-hostile fill ADDRESS PORT STAGE
 *
 * attack prints a line for each attack, "ok NAME MS" or "not ok NAME WHY", and
 * exits with 1 if anything was not as the table wants it.  The honest session
 * that must not suffer is another program's.  fill: see fill.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define TOGETHER_MAX 16

static const struct table {
	const char *name;
	const struct attack *attacks;
} tables[] = {
	{ "connect", connect_attacks },
	{ "info", info_attacks },
	{ "silent", silent_attacks },
	{ "message", message_attacks },
	{ "request", request_attacks },
	{ "secure", secure_attacks },
	{ "plain", plain_attacks },
};

/* NULL if the path is well. */
static const char *judge_requests(struct path *path)
{
	static char text[80];
	int answer;

	answer = request_honest(path, 1, 0, 0);
	if (!answer)
		answer = request_honest(path, 0, 2, 1000);
	if (!answer)
		return NULL;
	snprintf(text, sizeof(text), "an honest request is answered with %d",
		 answer);
	return text;
}

/* After the attack: has happened what must?  NULL if so. */
static const char *judge_path(struct path *path, const struct attack *attack,
			      int answer)
{
	static char text[80];

	switch (attack->outcome) {
	case REFUSED:
		if (answer == attack->err)
			return NULL;
		snprintf(text, sizeof(text), "answered with %d, not %d", answer,
			 attack->err);
		return text;
	case CLOSED:
		return path_gone(path, attack->ms ?: REPLY_MS) ? NULL :
		       "the path is not closed";
	case HARMLESS:
		return answer ? "no answer" : judge_requests(path);
	case EITHER:
		return path_gone(path, 500) ? NULL : judge_requests(path);
	}
	return "?";
}

/*
 * The lines may come a little later than the end of the connections; @wanted of
 * them are.
 */
static const char *judge_log(struct path *path, const struct attack *attack,
			     u32 wanted)
{
	u64 end = now_ms() + REPLY_MS;
	static char text[80];
	u32 count;

	if (!attack->rule)
		return NULL;
	do {
		count = log_count(attack->rule, path->addr);
	} while (count < wanted && now_ms() < end);
	if (count == wanted)
		return NULL;
	snprintf(text, sizeof(text), "%u lines in the log about that rule",
		 count);
	return text;
}

static bool report(const struct attack *attack, const char *fault, u64 start)
{
	if (fault)
		printf("not ok %s: %s\n", attack->name, fault);
	else
		printf("ok %s %llu ms\n", attack->name, now_ms() - start);
	fflush(stdout);
	return !fault;
}

static bool run_attack(const char *addr, const char *port,
		       const struct attack *attack)
{
	const char *fault;
	struct path path;
	u64 start;
	int answer;

	log_pace();
	path_init(&path, addr, port);
	path_bring_up(&path, attack->stage);
	log_mark();
	start = now_ms();
	answer = attack->run(&path, attack);
	fault = judge_path(&path, attack, answer);
	if (!fault)
		fault = judge_log(&path, attack, 1);
	path_close(&path);
	return report(attack, fault, start);
}

/* Attacks that wait for a long time do it all at once. */
static u32 run_together(const char *addr, const char *port,
			const struct attack *attacks)
{
	struct path paths[TOGETHER_MAX];
	u64 start = now_ms();
	const char *fault, *rule;
	u32 i, j, same, bad = 0;

	log_mark();
	for (i = 0; attacks[i].name; i++) {
		if (i == TOGETHER_MAX)
			die("too many attacks");
		path_init(&paths[i], addr, port);
		path_bring_up(&paths[i], attacks[i].stage);
		attacks[i].run(&paths[i], &attacks[i]);
	}
	for (i = 0; attacks[i].name; i++) {
		fault = judge_path(&paths[i], &attacks[i], 0);
		rule = attacks[i].rule;
		same = 0;
		for (j = 0; attacks[j].name; j++)
			same += rule && attacks[j].rule &&
				!strcmp(attacks[j].rule, rule);
		if (!fault)
			fault = judge_log(&paths[i], &attacks[i], same);
		path_close(&paths[i]);
		bad += !report(&attacks[i], fault, start);
	}
	return bad;
}

/* All of a table, or the attack of that name. */
static u32 run_named(const char *addr, const char *port, const char *name)
{
	const struct attack *attack;
	u32 i, found = 0, bad = 0;

	if (!strcmp(name, "silent"))
		return run_together(addr, port, silent_attacks);
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (attack = tables[i].attacks; attack->name; attack++) {
			if (strcmp(name, tables[i].name) &&
			    strcmp(name, attack->name))
				continue;
			found++;
			bad += !run_attack(addr, port, attack);
		}
	}
	if (!found)
		die("no attack or table '%s'", name);
	return bad;
}

static int list(void)
{
	const struct attack *attack;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (attack = tables[i].attacks; attack->name; attack++)
			printf("%-8s %-18s %s\n", tables[i].name, attack->name,
			       attack->rule ?: "the path goes on");
	return 0;
}

int main(int argc, char **argv)
{
	u32 bad = 0;
	int i;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc < 5)
		die("usage: rtrs-hostile list | attack|fill ADDRESS PORT WHAT...");
	con_init();
	if (!strcmp(argv[1], "fill"))
		return fill(argv[2], argv[3], argv[4]);
	if (strcmp(argv[1], "attack"))
		die("no command '%s'", argv[1]);
	log_open();
	for (i = 4; i < argc; i++)
		bad += run_named(argv[2], argv[3], argv[i]);
	return bad > 0;
}
