// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses as text: parsing what a user wrote, printing what is in use.
 *
 *	address := "ip:" IPv4 | "ip:" IPv6 [ "%" interface ] | "gid:" GID
 *	pair    := [ address ( "@" | "," ) ] address
 *
 * In a pair the source comes first; without one the routing table chooses it.
 * The port belongs to the destination alone, a source gets port 0, any port.
 *
 * A text is an address as a whole or it is refused. The kernel's own parsers
 * are more lenient, they take "10.0.0.1:80" or "::1%junk" for an address with
 * something behind it that is of no interest. For us that would be a user who
 * believes in a port or a scope that is not used, so the end of each parse is
 * compared with the end of the text.
 *
 * What is printed is read by existing tools, and is the name of a path's
 * directory in sysfs: without port and scope, and never with a slash.
 *
 * Nothing here does I/O, allocates, or keeps anything: safe in any context but
 * for an interface name, whose lookup takes the RCU read lock. The unit tests
 * compile this very file in user space.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <rdma/ib.h>
#include <rdma/rdma_cm.h>

#include "rtrs.h"

/*
 * The longest thing we can be asked to understand, with room to spare: a
 * prefix, an IPv6 address without any abbreviation, a scope, a final NUL.
 */
#define RTRS_ADDR_TEXT_SIZE	80

#define RTRS_ADDR_IP		"ip:"
#define RTRS_ADDR_GID		"gid:"

static bool rtrs_addr_is_v4(const char *text)
{
	const char *end;
	u8 raw[4];

	return in4_pton(text, -1, raw, -1, &end) && !*end;
}

/* A scope may follow the address; whether it is a good one is not seen here. */
static bool rtrs_addr_is_v6(const char *text)
{
	const char *end;
	u8 raw[16];

	return in6_pton(text, -1, raw, '%', &end) && (!*end || *end == '%');
}

static int rtrs_addr_parse_v4(const char *text, u16 port,
			      struct sockaddr_storage *ss)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;
	int err;

	err = inet_pton_with_scope(&init_net, AF_INET, text, NULL, ss);
	if (err)
		return err;

	sin->sin_port = htons(port);
	return 0;
}

static int rtrs_addr_parse_v6(const char *text, u16 port,
			      struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	int err;

	err = inet_pton_with_scope(&init_net, AF_INET6, text, NULL, ss);
	if (err)
		return err;

	/* Only link-local addresses have a scope; elsewhere it is skipped. */
	if (strchr(text, '%') && !sin6->sin6_scope_id)
		return -EINVAL;

	sin6->sin6_port = htons(port);
	return 0;
}

static int rtrs_addr_parse_ip(const char *text, u16 port,
			      struct sockaddr_storage *ss)
{
	if (rtrs_addr_is_v4(text))
		return rtrs_addr_parse_v4(text, port, ss);
	if (rtrs_addr_is_v6(text))
		return rtrs_addr_parse_v6(text, port, ss);
	return -EINVAL;
}

/*
 * A GID is written as an IPv6 address is. The port becomes part of a service
 * id in the range that the connection manager keeps for RDMA_PS_IB.
 */
static int rtrs_addr_parse_gid(const char *text, u16 port,
			       struct sockaddr_storage *ss)
{
	struct sockaddr_ib *sib = (struct sockaddr_ib *)ss;
	const char *end;

	if (!in6_pton(text, -1, sib->sib_addr.sib_raw, -1, &end) || *end)
		return -EINVAL;

	sib->sib_family = AF_IB;
	sib->sib_pkey = cpu_to_be16(0xffff);
	sib->sib_sid = cpu_to_be64(RDMA_IB_IP_PS_IB | port);
	sib->sib_sid_mask = cpu_to_be64(~0ULL);
	return 0;
}

/* One address. The text is the first @len bytes of @str. */
static int rtrs_addr_parse(const char *str, size_t len, u16 port,
			   struct sockaddr_storage *ss)
{
	char text[RTRS_ADDR_TEXT_SIZE];

	if (len >= sizeof(text) || memchr(str, '\0', len))
		return -EINVAL;
	memcpy(text, str, len);
	text[len] = '\0';
	if (strpbrk(text, " \t\n"))
		return -EINVAL;

	memset(ss, 0, sizeof(*ss));
	if (!strncmp(text, RTRS_ADDR_IP, strlen(RTRS_ADDR_IP)))
		return rtrs_addr_parse_ip(text + strlen(RTRS_ADDR_IP), port, ss);
	if (!strncmp(text, RTRS_ADDR_GID, strlen(RTRS_ADDR_GID)))
		return rtrs_addr_parse_gid(text + strlen(RTRS_ADDR_GID), port, ss);
	return -EINVAL;
}

/* How many bytes stand before the first separator; @len when there is none. */
static size_t rtrs_addr_source_len(const char *str, size_t len)
{
	size_t at;

	for (at = 0; at < len; at++)
		if (str[at] == '@' || str[at] == ',')
			break;
	return at;
}

/*
 * Refused are also a pair of two families, which no connection can join, and a
 * source for which @addr has no room. After an error the storage has no defined
 * content; the pointers are what they were.
 */
int rtrs_addr_to_sockaddr(const char *str, size_t len, u16 port,
			  struct rtrs_addr *addr)
{
	size_t source = rtrs_addr_source_len(str, len);
	size_t rest = source + 1;
	int err;

	if (source == len) {
		err = rtrs_addr_parse(str, len, port, addr->dst);
		if (!err)
			addr->src = NULL;
		return err;
	}

	if (!addr->src)
		return -EINVAL;
	err = rtrs_addr_parse(str, source, 0, addr->src);
	if (err)
		return err;
	err = rtrs_addr_parse(str + rest, len - rest, port, addr->dst);
	if (err)
		return err;
	return addr->src->ss_family == addr->dst->ss_family ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(rtrs_addr_to_sockaddr);

/* A family that cannot be an RDMA address is printed as its number. */
int sockaddr_to_str(const struct sockaddr *addr, char *buf, size_t len)
{
	switch (addr->sa_family) {
	case AF_INET:
		return scnprintf(buf, len, RTRS_ADDR_IP "%pI4",
			&((const struct sockaddr_in *)addr)->sin_addr);
	case AF_INET6:
		return scnprintf(buf, len, RTRS_ADDR_IP "%pI6c",
			&((const struct sockaddr_in6 *)addr)->sin6_addr);
	case AF_IB:
		return scnprintf(buf, len, RTRS_ADDR_GID "%pI6",
			&((const struct sockaddr_ib *)addr)->sib_addr.sib_raw);
	}
	return scnprintf(buf, len, "family:%u", addr->sa_family);
}
EXPORT_SYMBOL_GPL(sockaddr_to_str);

int rtrs_addr_to_str(const struct rtrs_addr *addr, char *buf, size_t len)
{
	int at = 0;

	if (addr->src) {
		at = sockaddr_to_str((struct sockaddr *)addr->src, buf, len);
		at += scnprintf(buf + at, len - at, "@");
	}
	return at + sockaddr_to_str((struct sockaddr *)addr->dst, buf + at,
				    len - at);
}
EXPORT_SYMBOL_GPL(rtrs_addr_to_str);
