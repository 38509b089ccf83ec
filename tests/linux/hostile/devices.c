// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// devices.c: devices, addresses and routes, see devices.h.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_cls.h>
#include <linux/tc_act/tc_tunnel_key.h>
#include <linux/veth.h>

#include "devices.h"

enum { CREATE = NLM_F_CREATE | NLM_F_EXCL };

/* ---- devices ---- */

static uint32_t begin_kind(struct message *m, const char *name, const char *kind,
                           uint32_t *info)
{
	begin_link(m, RTM_NEWLINK, CREATE, 0);
	put_text(m, IFLA_IFNAME, name);
	*info = nest_begin(m, IFLA_LINKINFO);
	put_text(m, IFLA_INFO_KIND, kind);
	return nest_begin(m, IFLA_INFO_DATA);
}

static int end_kind(struct wire *w, struct message *m, uint32_t info, uint32_t data)
{
	nest_end(m, data);
	nest_end(m, info);
	return wire_ask(w, m);
}

int link_add_across(struct wire *w, const char *name, const char *peer, uint32_t queues,
                    int peer_netns)
{
	struct ifinfomsg head = {0};
	struct message m;
	uint32_t info, data, at;

	begin_link(&m, RTM_NEWLINK, CREATE, 0);
	put_text(&m, IFLA_IFNAME, name);
	put_u32(&m, IFLA_NUM_TX_QUEUES, queues);
	put_u32(&m, IFLA_NUM_RX_QUEUES, queues);
	info = nest_begin(&m, IFLA_LINKINFO);
	put_text(&m, IFLA_INFO_KIND, "veth");
	data = nest_begin(&m, IFLA_INFO_DATA);
	at = nest_begin(&m, VETH_INFO_PEER);
	memcpy(m.bytes + m.used, &head, sizeof(head));
	m.used += sizeof(head);
	put_text(&m, IFLA_IFNAME, peer);
	put_u32(&m, IFLA_NUM_TX_QUEUES, queues);
	put_u32(&m, IFLA_NUM_RX_QUEUES, queues);
	put_u32(&m, IFLA_NET_NS_FD, (uint32_t)peer_netns);
	nest_end(&m, at);
	return end_kind(w, &m, info, data);
}

int link_add_vxlan(struct wire *w, const char *name, uint32_t id, const uint8_t far4[4],
                   uint16_t port)
{
	struct message m;
	uint32_t info, data = begin_kind(&m, name, "vxlan", &info);

	put_u16(&m, IFLA_VXLAN_PORT, htons(port));
	if (id) {
		put_u32(&m, IFLA_VXLAN_ID, id);
		put(&m, IFLA_VXLAN_GROUP, far4, 4);
	} else {
		put_u8(&m, IFLA_VXLAN_COLLECT_METADATA, 1);
	}
	return end_kind(w, &m, info, data);
}

int link_add_vrf(struct wire *w, const char *name, uint32_t table)
{
	struct message m;
	uint32_t info, data = begin_kind(&m, name, "vrf", &info);

	put_u32(&m, IFLA_VRF_TABLE, table);
	return end_kind(w, &m, info, data);
}

static int set_u32(struct wire *w, uint32_t index, uint16_t what, uint32_t value)
{
	struct message m;

	begin_link(&m, RTM_NEWLINK, 0, index);
	put_u32(&m, what, value);
	return wire_ask(w, &m);
}

int link_master(struct wire *w, uint32_t index, uint32_t master)
{
	return set_u32(w, index, IFLA_MASTER, master);
}

int link_move(struct wire *w, uint32_t index, int netns)
{
	return set_u32(w, index, IFLA_NET_NS_FD, (uint32_t)netns);
}

int link_delete(struct wire *w, uint32_t index)
{
	struct message m;

	begin_link(&m, RTM_DELLINK, 0, index);
	return wire_ask(w, &m);
}

int link_hardware(struct wire *w, uint32_t index, uint8_t last)
{
	uint8_t address[ETH_ALEN] = {0x42, 0, 0, 0, 0, last};
	struct message m;

	begin_link(&m, RTM_NEWLINK, 0, index);
	put(&m, IFLA_ADDRESS, address, sizeof(address));
	return wire_ask(w, &m);
}

static void take_sent(void *to, const struct nlmsghdr *head)
{
	const struct nlattr *part[IFLA_STATS64 + 1];
	const struct ifinfomsg *fixed = NLMSG_DATA(head);
	const size_t before = NLMSG_ALIGN(NLMSG_LENGTH(sizeof(*fixed)));
	struct rtnl_link_stats64 stats;
	uint64_t *sum = to;

	if (head->nlmsg_len < before || fixed->ifi_index != (int)sum[1])
		return;
	sort_attributes(part, IFLA_STATS64 + 1, (const char *)head + before,
	                head->nlmsg_len - before);
	if (!part[IFLA_STATS64])
		return;
	memcpy(&stats, payload(part[IFLA_STATS64]),
	       payload_bytes(part[IFLA_STATS64]) < sizeof(stats)
	               ? payload_bytes(part[IFLA_STATS64])
	               : sizeof(stats));
	sum[0] = stats.tx_packets;
}

uint64_t link_sent(struct wire *w, uint32_t index)
{
	uint64_t sum[2] = {0, index};
	struct message m;

	begin_link(&m, RTM_GETLINK, 0, 0);
	wire_dump(w, &m, take_sent, sum);
	return sum[0];
}

struct named {
	const char *name;
	uint32_t index;
};

static void take_named(void *to, const struct nlmsghdr *head)
{
	const struct nlattr *part[IFLA_IFNAME + 1];
	const struct ifinfomsg *fixed = NLMSG_DATA(head);
	const size_t before = NLMSG_ALIGN(NLMSG_LENGTH(sizeof(*fixed)));
	struct named *n = to;

	if (head->nlmsg_len < before)
		return;
	sort_attributes(part, IFLA_IFNAME + 1, (const char *)head + before,
	                head->nlmsg_len - before);
	if (part[IFLA_IFNAME] && !strcmp(payload(part[IFLA_IFNAME]), n->name))
		n->index = (uint32_t)fixed->ifi_index;
}

uint32_t index_of(struct wire *w, const char *name)
{
	struct named n = {name, 0};
	struct message m;

	begin_link(&m, RTM_GETLINK, 0, 0);
	wire_dump(w, &m, take_named, &n);
	return n.index;
}

/* ---- addresses and neighbours ---- */

int address_change(struct wire *w, bool add, uint32_t index, bool six, uint8_t prefix,
                   const void *address)
{
	struct ifaddrmsg fixed = {
	        .ifa_family = six ? AF_INET6 : AF_INET,
	        .ifa_prefixlen = prefix,
	        .ifa_flags = six ? IFA_F_NODAD : 0,
	        .ifa_index = index,
	};
	size_t bytes = six ? 16 : 4;
	struct message m;

	begin_message(&m, add ? RTM_NEWADDR : RTM_DELADDR, add ? CREATE : 0, &fixed,
	              sizeof(fixed));
	put(&m, IFA_LOCAL, address, bytes);
	put(&m, IFA_ADDRESS, address, bytes);
	return wire_ask(w, &m);
}

int neighbour_change(struct wire *w, bool add, uint32_t index, bool six, const void *address,
                     uint8_t last)
{
	uint8_t hardware[ETH_ALEN] = {0x42, 0, 0, 0, 0, last};
	struct ndmsg fixed = {
	        .ndm_family = six ? AF_INET6 : AF_INET,
	        .ndm_state = add ? NUD_REACHABLE : 0,
	        .ndm_ifindex = (int)index,
	};
	struct message m;

	begin_message(&m, add ? RTM_NEWNEIGH : RTM_DELNEIGH,
	              add ? NLM_F_CREATE | NLM_F_REPLACE : 0, &fixed, sizeof(fixed));
	put(&m, NDA_DST, address, six ? 16 : 4);
	if (add)
		put(&m, NDA_LLADDR, hardware, sizeof(hardware));
	return wire_ask(w, &m);
}

/* ---- routes ---- */

static void put_gateway(struct message *m, const struct route *r)
{
	struct {
		uint16_t family;
		uint8_t address[16];
	} other = {.family = AF_INET6};

	if (r->gateway == VIA_SAME)
		put(m, RTA_GATEWAY, r->via, r->six ? 16 : 4);
	if (r->gateway != VIA_SIX)
		return;
	memcpy(other.address, r->via, sizeof(other.address));
	put(m, RTA_VIA, &other, sizeof(other));
}

int route_change(struct wire *w, bool add, const struct route *r)
{
	struct rtmsg fixed = {
	        .rtm_family = r->six ? AF_INET6 : AF_INET,
	        .rtm_dst_len = r->prefix,
	        .rtm_table = RT_TABLE_MAIN,
	        .rtm_protocol = RTPROT_STATIC,
	        .rtm_scope = !r->six && r->kind == RTN_UNICAST && !r->gateway
	                             ? RT_SCOPE_LINK
	                             : RT_SCOPE_UNIVERSE,
	        .rtm_type = r->kind,
	};
	struct message m;

	begin_message(&m, add ? RTM_NEWROUTE : RTM_DELROUTE,
	              add ? NLM_F_CREATE | NLM_F_REPLACE : 0, &fixed, sizeof(fixed));
	if (r->prefix)
		put(&m, RTA_DST, r->to, r->six ? 16 : 4);
	put_gateway(&m, r);
	if (r->index)
		put_u32(&m, RTA_OIF, r->index);
	if (r->table)
		put_u32(&m, RTA_TABLE, r->table);
	return wire_ask(w, &m);
}

/* ---- a tunnel beside each packet ---- */

static void put_tunnel(struct message *m)
{
	struct tc_tunnel_key set = {.action = TC_ACT_PIPE, .t_action = TCA_TUNNEL_KEY_ACT_SET};
	uint32_t actions = nest_begin(m, TCA_U32_ACT), first = nest_begin(m, 1), options;

	put_text(m, TCA_ACT_KIND, "tunnel_key");
	options = nest_begin(m, TCA_ACT_OPTIONS);
	put(m, TCA_TUNNEL_KEY_PARMS, &set, sizeof(set));
	put_u32(m, TCA_TUNNEL_KEY_ENC_IPV4_SRC, htonl(0xc0000201));
	put_u32(m, TCA_TUNNEL_KEY_ENC_IPV4_DST, htonl(0xc0000202));
	put_u32(m, TCA_TUNNEL_KEY_ENC_KEY_ID, htonl(5));
	put_u16(m, TCA_TUNNEL_KEY_ENC_DST_PORT, htons(4789));
	nest_end(m, options);
	nest_end(m, first);
	nest_end(m, actions);
}

int tunnel_filter(struct wire *w, uint32_t index, bool add)
{
	const uint32_t egress = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS);
	struct {
		struct tc_u32_sel sel;
		struct tc_u32_key key;
	} all = {.sel = {.flags = TC_U32_TERMINAL, .nkeys = 1}};
	struct message m;
	uint32_t options;

	begin_tc(&m, add ? RTM_NEWQDISC : RTM_DELQDISC, add ? CREATE : 0, index,
	         TC_H_MAKE(TC_H_CLSACT, 0), TC_H_CLSACT, 0);
	put_text(&m, TCA_KIND, "clsact");
	if (wire_ask(w, &m) || !add)
		return add;
	begin_tc(&m, RTM_NEWTFILTER, CREATE, index, 0, egress,
	         TC_H_MAKE(1u << 16, htons(ETH_P_ALL)));
	put_text(&m, TCA_KIND, "u32");
	options = nest_begin(&m, TCA_OPTIONS);
	put(&m, TCA_U32_SEL, &all, sizeof(all.sel) + sizeof(all.key));
	put_tunnel(&m);
	nest_end(&m, options);
	return wire_ask(w, &m);
}

bool sysctl_write(const char *path, const char *value)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/sys/%s", path);
	file = fopen(name, "w");
	if (!file)
		return false;
	fputs(value, file);
	return !fclose(file);
}
