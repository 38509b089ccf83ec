// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// links.c: making devices and changing them, see links.h.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_cls.h>
#include <linux/sockios.h>
#include <linux/tc_act/tc_mirred.h>
#include <linux/veth.h>

#include "links.h"

enum { CREATE = NLM_F_CREATE | NLM_F_EXCL };

/* No drawn frame is for these. */
static const uint8_t own_address[] = {0x42, 0, 0, 0, 0, 1};
static const uint8_t far_address[] = {0x42, 0, 0, 0, 0, 2};

/* What a new device's message begins with; `info` and `data` are closed by end_new(). */
struct new_link {
	struct message m;
	uint32_t info, data;
};

static void begin_new(struct new_link *n, const char *name, const char *kind, uint32_t queues)
{
	begin_link(&n->m, RTM_NEWLINK, CREATE, 0);
	put_text(&n->m, IFLA_IFNAME, name);
	put(&n->m, IFLA_ADDRESS, own_address, sizeof(own_address));
	put_u32(&n->m, IFLA_NUM_TX_QUEUES, queues);
	put_u32(&n->m, IFLA_NUM_RX_QUEUES, queues);
	n->info = nest_begin(&n->m, IFLA_LINKINFO);
	put_text(&n->m, IFLA_INFO_KIND, kind);
	n->data = nest_begin(&n->m, IFLA_INFO_DATA);
}

static int end_new(struct wire *w, struct new_link *n)
{
	nest_end(&n->m, n->data);
	nest_end(&n->m, n->info);
	return wire_ask(w, &n->m);
}

int link_add(struct wire *w, const char *name, const char *kind, uint32_t queues)
{
	struct new_link n;

	begin_new(&n, name, kind, queues);
	return end_new(w, &n);
}

int link_add_pair(struct wire *w, const char *name, const char *peer, uint32_t queues)
{
	struct new_link n;
	struct ifinfomsg head = {0};
	uint32_t at;

	begin_new(&n, name, "veth", queues);
	at = nest_begin(&n.m, VETH_INFO_PEER);
	memcpy(n.m.bytes + n.m.used, &head, sizeof(head));
	n.m.used += sizeof(head);
	put_text(&n.m, IFLA_IFNAME, peer);
	put_u32(&n.m, IFLA_NUM_TX_QUEUES, queues);
	put_u32(&n.m, IFLA_NUM_RX_QUEUES, queues);
	nest_end(&n.m, at);
	return end_new(w, &n);
}

int link_add_vlan(struct wire *w, const char *name, uint32_t under, uint16_t type, uint16_t id)
{
	struct new_link n;

	begin_new(&n, name, "vlan", 1);
	put_u16(&n.m, IFLA_VLAN_ID, id);
	put_u16(&n.m, IFLA_VLAN_PROTOCOL, htons(type));
	nest_end(&n.m, n.data);
	nest_end(&n.m, n.info);
	put_u32(&n.m, IFLA_LINK, under);
	return wire_ask(w, &n.m);
}

int link_set(struct wire *w, uint32_t index, uint32_t flags, uint32_t mask)
{
	struct message m;
	struct ifinfomsg *fixed = (void *)(m.bytes + NLMSG_HDRLEN);

	begin_link(&m, RTM_NEWLINK, 0, index);
	fixed->ifi_flags = flags;
	fixed->ifi_change = mask;
	return wire_ask(w, &m);
}

static int set_u32(struct wire *w, uint32_t index, uint16_t what, uint32_t value)
{
	struct message m;

	begin_link(&m, RTM_NEWLINK, 0, index);
	put_u32(&m, what, value);
	return wire_ask(w, &m);
}

int link_mtu(struct wire *w, uint32_t index, uint32_t mtu_bytes)
{
	return set_u32(w, index, IFLA_MTU, mtu_bytes);
}

int link_queue_length(struct wire *w, uint32_t index, uint32_t pkts)
{
	return set_u32(w, index, IFLA_TXQLEN, pkts);
}

int link_address(struct wire *w, uint32_t index)
{
	struct message m;

	begin_link(&m, RTM_NEWLINK, 0, index);
	put(&m, IFLA_ADDRESS, own_address, sizeof(own_address));
	return wire_ask(w, &m);
}

int link_carrier(struct wire *w, uint32_t index, bool on)
{
	struct message m;

	begin_link(&m, RTM_NEWLINK, 0, index);
	put_u8(&m, IFLA_CARRIER, on);
	return wire_ask(w, &m);
}

/* A port of a bridge that learns no addresses: each frame has another. */
int link_join(struct wire *w, uint32_t index, uint32_t bridge)
{
	struct message m;
	uint32_t info, data;
	int err = set_u32(w, index, IFLA_MASTER, bridge);

	if (err)
		return err;
	begin_link(&m, RTM_NEWLINK, 0, index);
	info = nest_begin(&m, IFLA_LINKINFO);
	put_text(&m, IFLA_INFO_SLAVE_KIND, "bridge");
	data = nest_begin(&m, IFLA_INFO_SLAVE_DATA);
	put_u8(&m, IFLA_BRPORT_LEARNING, 0);
	nest_end(&m, data);
	nest_end(&m, info);
	return wire_ask(w, &m);
}

int link_offloads(uint32_t index, struct draw *d)
{
	static const uint32_t what[] = {ETHTOOL_SSG, ETHTOOL_STXCSUM, ETHTOOL_STSO,
	                                ETHTOOL_SGSO, ETHTOOL_SGRO};
	struct ethtool_value value = {what[below(d, 5)], one_in(d, 2)};
	struct ifreq request = {.ifr_data = (void *)&value};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), err;

	err = !if_indextoname(index, request.ifr_name) || ioctl(fd, SIOCETHTOOL, &request);
	close(fd);
	return err;
}

/* ---- what stands behind a device ---- */

int address_add(struct wire *w, uint32_t index, bool six, uint8_t prefix, const void *address)
{
	struct message m;
	struct ifaddrmsg *fixed = (void *)(m.bytes + NLMSG_HDRLEN);
	uint32_t bytes = six ? 16 : 4;

	begin_tc(&m, RTM_NEWADDR, CREATE, 0, 0, 0, 0);
	memset(fixed, 0, sizeof(*fixed));
	m.used = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(*fixed));
	fixed->ifa_family = six ? AF_INET6 : AF_INET;
	fixed->ifa_prefixlen = prefix;
	fixed->ifa_flags = six ? IFA_F_NODAD : 0;
	fixed->ifa_index = index;
	put(&m, IFA_LOCAL, address, bytes);
	put(&m, IFA_ADDRESS, address, bytes);
	return wire_ask(w, &m);
}

int neighbour_add(struct wire *w, uint32_t index, bool six, const void *address)
{
	struct message m;
	struct ndmsg *fixed = (void *)(m.bytes + NLMSG_HDRLEN);

	begin_tc(&m, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, 0, 0, 0, 0);
	memset(fixed, 0, sizeof(*fixed));
	m.used = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(*fixed));
	fixed->ndm_family = six ? AF_INET6 : AF_INET;
	fixed->ndm_state = NUD_PERMANENT;
	fixed->ndm_ifindex = (int)index;
	put(&m, NDA_DST, address, six ? 16 : 4);
	put(&m, NDA_LLADDR, far_address, sizeof(far_address));
	return wire_ask(w, &m);
}

int redirect(struct wire *w, uint32_t from, uint32_t to)
{
	struct {
		struct tc_u32_sel sel;
		struct tc_u32_key key;
	} all = {.sel = {.flags = TC_U32_TERMINAL, .nkeys = 1}};
	struct tc_mirred way = {
	        .action = TC_ACT_STOLEN, .eaction = TCA_EGRESS_REDIR, .ifindex = to};
	struct message m;
	uint32_t options, actions, first, mirred;
	int err;

	begin_tc(&m, RTM_NEWQDISC, CREATE, from, TC_H_MAKE(TC_H_INGRESS, 0), TC_H_INGRESS, 0);
	put_text(&m, TCA_KIND, "ingress");
	err = wire_ask(w, &m);
	if (err)
		return err;
	begin_tc(&m, RTM_NEWTFILTER, CREATE, from, 0, TC_H_MAKE(TC_H_INGRESS, 0),
	         TC_H_MAKE(1u << 16, htons(ETH_P_ALL)));
	put_text(&m, TCA_KIND, "u32");
	options = nest_begin(&m, TCA_OPTIONS);
	put(&m, TCA_U32_SEL, &all, sizeof(all.sel) + sizeof(all.key));
	actions = nest_begin(&m, TCA_U32_ACT);
	first = nest_begin(&m, 1);
	put_text(&m, TCA_ACT_KIND, "mirred");
	mirred = nest_begin(&m, TCA_ACT_OPTIONS);
	put(&m, TCA_MIRRED_PARMS, &way, sizeof(way));
	nest_end(&m, mirred);
	nest_end(&m, first);
	nest_end(&m, actions);
	nest_end(&m, options);
	return wire_ask(w, &m);
}
