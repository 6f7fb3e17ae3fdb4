// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel functions that rtrs-addr.c calls, rebuilt on the C library.
 *
 * They stand in for the kernel's parsers and its printf, whose own correctness
 * is not under test. What they copy faithfully is how lenient the parsers are
 * about the end of a text: a test of "10.0.0.1:80 is refused" proves something
 * only when the parser beneath accepts it. Taken over from the kernel's are:
 *
 *   in4_pton	ends successfully at the delimiter and at any ':'; with -1 for
 *		the delimiter at any character that is no part of an address
 *   in6_pton	the same, but a ':' is part of the address until there was a '.'
 *   inet_pton_with_scope	does not care what stands behind the address,
 *		unless it is the scope of a link-local one
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>

struct net init_net;

/* The first @len bytes of @src as an address of @af. */
static int parse(int af, const char *src, size_t len, u8 *dst, const char **end)
{
	char text[INET6_ADDRSTRLEN];

	if (end)
		*end = src + len;
	if (len >= sizeof(text))
		return 0;
	memcpy(text, src, len);
	text[len] = '\0';
	return inet_pton(af, text, dst) == 1;
}

/* Where a parser stops: behind what may belong to an address. */
static int span(const char *src, size_t len, const char *set, int delim)
{
	size_t at = strspn(src, set);

	if (at > len)
		at = len;
	if (at < len && src[at] != delim && src[at] != ':' && delim != -1)
		return -1;
	return at;
}

/* An IPv6 address may end in an IPv4 one, which a ':' ends. */
static int without_tail(const char *src, int len)
{
	const char *dot = memchr(src, '.', len);
	const char *colon = dot ? memchr(dot, ':', src + len - dot) : NULL;

	return colon ? colon - src : len;
}

static int pton(int af, const char *src, int srclen, const char *set, u8 *dst,
		int delim, const char **end)
{
	int len;

	if (srclen < 0)
		srclen = strlen(src);
	len = span(src, srclen, set, delim);
	if (af == AF_INET6 && len > 0)
		len = without_tail(src, len);
	return len < 0 ? 0 : parse(af, src, len, dst, end);
}

int in4_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	return pton(AF_INET, src, srclen, "0123456789.", dst, delim, end);
}

int in6_pton(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	return pton(AF_INET6, src, srclen, "0123456789abcdefABCDEF:.", dst,
		    delim, end);
}

static int scope_of(const char *text, __u32 *scope)
{
	char *end;

	*scope = if_nametoindex(text);
	if (*scope)
		return 0;
	*scope = strtoul(text, &end, 0);
	if (end == text || (*end && strcmp(end, "\n")))
		return -EINVAL;
	return 0;
}

static int inet6(const char *src, struct sockaddr_in6 *sin6)
{
	const char *end;
	int err = 0;

	if (!in6_pton(src, -1, sin6->sin6_addr.s6_addr, '%', &end))
		return -EINVAL;
	if (IN6_IS_ADDR_LINKLOCAL(&sin6->sin6_addr) && *end == '%')
		err = scope_of(end + 1, &sin6->sin6_scope_id);
	sin6->sin6_family = AF_INET6;
	return err;
}

int inet_pton_with_scope(struct net *net, unsigned short af, const char *src,
			 const char *port, struct sockaddr_storage *addr)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;

	if (net != &init_net || port)
		abort();
	if (af == AF_INET6)
		return inet6(src, (struct sockaddr_in6 *)addr);
	if (af != AF_INET)
		return -EINVAL;
	if (!in4_pton(src, -1, (u8 *)&sin->sin_addr, '\n', NULL))
		return -EINVAL;
	sin->sin_family = AF_INET;
	return 0;
}

static void print_gid(const u8 *raw, char *text, size_t size)
{
	size_t at = 0;
	int i;

	for (i = 0; i < 16; i += 2)
		at += snprintf(text + at, size - at, "%s%02x%02x",
			       i ? ":" : "", raw[i], raw[i + 1]);
}

/* One %p conversion; its length in @fmt is returned. */
static int print_pointer(const char *fmt, const void *value, char *text,
			 size_t size)
{
	if (!strncmp(fmt, "%pI6c", 5))
		return inet_ntop(AF_INET6, value, text, size) ? 5 : 0;
	if (!strncmp(fmt, "%pI4", 4))
		return inet_ntop(AF_INET, value, text, size) ? 4 : 0;
	if (strncmp(fmt, "%pI6", 4))
		abort();
	print_gid(value, text, size);
	return 4;
}

/* One conversion of any kind; its length in @fmt is returned. */
static int print_one(const char *fmt, va_list *args, char *text, size_t size)
{
	switch (fmt[1]) {
	case 'p':
		return print_pointer(fmt, va_arg(*args, const void *), text,
				     size);
	case 'u':
		snprintf(text, size, "%u", va_arg(*args, unsigned int));
		return 2;
	case 'd':
		snprintf(text, size, "%d", va_arg(*args, int));
		return 2;
	case 's':
		snprintf(text, size, "%s", va_arg(*args, const char *));
		return 2;
	}
	abort();
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	char text[256];
	size_t at = 0;
	va_list args;

	va_start(args, fmt);
	while (*fmt) {
		snprintf(text, sizeof(text), "%c", *fmt);
		fmt += *fmt == '%' ? print_one(fmt, &args, text, sizeof(text))
				   : 1;
		if (at < size)
			at += snprintf(buf + at, size - at, "%s", text);
	}
	va_end(args);
	if (!size)
		return 0;
	return at < size ? at : size - 1;
}
