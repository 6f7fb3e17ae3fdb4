/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SOCKET_H
#define SHIM_LINUX_SOCKET_H

#include <netinet/in.h>
#include <sys/socket.h>

#endif /* SHIM_LINUX_SOCKET_H */
