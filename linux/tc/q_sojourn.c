// SPDX-FileCopyrightText: 2026 The Sojourn authors
// SPDX-License-Identifier: MIT OR GPL-2.0-only
// q_sojourn.c: `tc qdisc ... sojourn`, a plugin of iproute2.
//
// Nothing here names an algorithm or a row: options, help and output are made from
// the tables, which are compiled in.

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "setup.h"
#include "sojourn.h"
#include "tc.h"
#include "value.h"

#define PAYLOAD(nla) ((void *)((char *)(nla) + NLA_HDRLEN))

enum { TABLES = 3 };

struct table {
	const struct aqm_field *rows;
	int type;
};

static void tables_of(const struct aqm_algo *algo, struct table tables[TABLES])
{
	tables[0] = (struct table){sojourn_rows, TCA_SOJOURN_HOST};
	tables[1] = (struct table){aqm_setup_rows, TCA_SOJOURN_QUEUE};
	tables[2] = (struct table){algo ? algo->params : NULL, TCA_SOJOURN_PARAMS};
}

/* The row that takes one address of each family. */
static const char *const RESPONDER = "responder";

/* ---- help ---- */

static void help_row(FILE *out, const struct aqm_field *row, u64 default_)
{
	const char *note = aqm_units[row->unit].note;
	char def[VALUE_TEXT], min[VALUE_TEXT], max[VALUE_TEXT];

	if (row->type == AQM_BOOL) {
		fprintf(out, "  %s | no%s (default %s%s)\n", row->name, row->name,
		        default_ ? "" : "no", row->name);
	} else if (row->type == AQM_CHOICE) {
		fprintf(out, "  %s %s (default %s)\n", row->name, value_words(row, " | "),
		        row->choices[default_]);
	} else {
		value_write(row, default_, def);
		value_write(row, row->min, min);
		value_write(row, row->max, max);
		fprintf(out, "  %s %s to %s (default %s)\n", row->name, min, max, def);
	}
	fprintf(out, "      %s", row->help);
	if (note)
		fprintf(out, " (%s)", note);
	fprintf(out, "%s\n", row->flags & AQM_FIXED ? "; cannot be changed later" : "");
	if (!strcmp(row->name, RESPONDER))
		fprintf(out, "      also an IPv6 address, for its IPv6 probes; `::`: the next "
		             "hop\n");
}

static void help_rows(FILE *out, const struct aqm_field *rows)
{
	for (; rows && rows->name; rows++)
		help_row(out, rows, rows->def);
}

/* Rows of the queue for which this algorithm has its own default. */
static void help_defaults(FILE *out, const struct aqm_algo *algo)
{
	const char *head = "Of the rows of every queue, with defaults of its own:\n";
	const struct aqm_field *row;

	for (row = aqm_setup_rows; row->name; row++) {
		u64 own = aqm_setup_default(algo, row);

		if (own == row->def)
			continue;
		fputs(head, out);
		head = "";
		help_row(out, row, own);
	}
}

static void help(FILE *out, const struct aqm_algo *algo)
{
	const struct aqm_algo *const *a;

	if (algo) {
		fprintf(out, "%s: %s (%s)\n", algo->name, algo->brief, algo->source);
		help_rows(out, algo->params);
		help_defaults(out, algo);
		return;
	}
	fprintf(out, "Usage: ... sojourn [ [ fq ] ALGORITHM [ ROW VALUE | ROW | noROW ] ... ]\n"
	             "       ... sojourn ALGORITHM help\n"
	             "Algorithms (without one: the parameter `default` of the module):\n");
	for (a = aqm_all; *a; a++)
		fprintf(out, "  %-9s %s\n", (*a)->name, (*a)->brief);
	fprintf(out, "Rows of every queue (fq: %u flows):\n", SOJOURN_FQ_FLOWS);
	help_rows(out, aqm_setup_rows);
	help_rows(out, sojourn_rows);
}

/* ---- in ---- */

/* The parsed words of a command. */
struct said {
	const struct aqm_algo *algo;
	struct word {
		const struct aqm_field *row;
		int type;
		u64 value;
	} *words; /* room for each row once */
	u32 count;
	bool fq;
	struct in6_addr responder6;
	bool says_responder6;
};

static bool is_said(const struct said *said, const struct aqm_field *row)
{
	u32 i;

	for (i = 0; i < said->count; i++)
		if (said->words[i].row == row)
			return true;
	return false;
}

static bool say(struct said *said, const struct aqm_field *row, int type, u64 value)
{
	if (is_said(said, row)) {
		fprintf(stderr, "sojourn: %s: given twice\n", row->name);
		return false;
	}
	said->words[said->count++] = (struct word){row, type, value};
	return true;
}

static bool make_room(struct said *said)
{
	struct table tables[TABLES];
	const struct aqm_field *row;
	u32 i, rows = 0;

	tables_of(said->algo, tables);
	for (i = 0; i < TABLES; i++)
		for (row = tables[i].rows; row && row->name; row++)
			rows++;
	said->words = calloc(rows, sizeof(*said->words));
	return said->words;
}

static const struct aqm_field *find(const struct said *said, const char *word, int *type)
{
	const struct aqm_field *row = NULL;
	struct table tables[TABLES];
	u32 i;

	tables_of(said->algo, tables);
	for (i = 0; i < TABLES && !row; i++) {
		row = aqm_field_find(tables[i].rows, word);
		*type = tables[i].type;
	}
	return row;
}

static bool in_range(const struct aqm_field *row, u64 value)
{
	char text[VALUE_TEXT], min[VALUE_TEXT], max[VALUE_TEXT];

	if (value >= row->min && value <= row->max)
		return true;
	value_write(row, value, text);
	value_write(row, row->min, min);
	value_write(row, row->max, max);
	fprintf(stderr, "sojourn: %s: %s is not in %s to %s\n", row->name, text, min, max);
	return false;
}

static bool is_responder6(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[0], RESPONDER) && strchr(argv[1], ':');
}

static int read_responder6(struct said *said, const char *text)
{
	if (said->says_responder6) {
		fprintf(stderr, "sojourn: responder: given twice\n");
		return -1;
	}
	if (inet_pton(AF_INET6, text, &said->responder6) != 1) {
		fprintf(stderr,
		        "sojourn: responder: an address, as in 192.0.2.1 or "
		        "2001:db8::1 is wanted, not %s\n",
		        text);
		return -1;
	}
	said->says_responder6 = true;
	return 2;
}

/* One row with its value; the number of words used, or -1. */
static int read_words(struct said *said, int argc, char **argv)
{
	bool no = !strncmp(argv[0], "no", 2);
	const struct aqm_field *row;
	const char *wanted;
	int type;
	u64 value;

	if (is_responder6(argc, argv))
		return read_responder6(said, argv[1]);
	row = find(said, argv[0], &type);
	if (row && row->type == AQM_BOOL)
		return say(said, row, type, 1) ? 1 : -1;
	if (!row && no) {
		row = find(said, argv[0] + 2, &type);
		if (row && row->type == AQM_BOOL)
			return say(said, row, type, 0) ? 1 : -1;
		row = NULL;
	}
	if (!row) {
		fprintf(stderr, "sojourn: %s has no row \"%s\"; try \"sojourn %s help\"\n",
		        said->algo->name, argv[0], said->algo->name);
		return -1;
	}
	wanted = argc > 1 ? value_read(row, argv[1], &value) : "a value";
	if (wanted) {
		fprintf(stderr, "sojourn: %s: %s is wanted%s%s\n", row->name, wanted,
		        argc > 1 ? ", not " : "", argc > 1 ? argv[1] : "");
		return -1;
	}
	return in_range(row, value) && say(said, row, type, value) ? 2 : -1;
}

/* The words in front of the rows; false: no algorithm, or a request for help. */
static bool read_algo(struct said *said, int *argc, char ***argv)
{
	if (!strcmp(**argv, "fq")) {
		said->fq = true;
		(*argc)--, (*argv)++;
	}
	if (!*argc) {
		fprintf(stderr, "sojourn: fq: an algorithm is wanted behind it\n");
		return false;
	}
	said->algo = aqm_find(**argv);
	if (!said->algo) {
		if (strcmp(**argv, "help"))
			fprintf(stderr, "sojourn: no algorithm is called \"%s\"\n", **argv);
		help(stderr, NULL);
		return false;
	}
	(*argc)--, (*argv)++;
	return true;
}

static bool read_command(struct said *said, int argc, char **argv)
{
	const struct aqm_field *flows = aqm_field_find(aqm_setup_rows, "flows");

	/* No word at all: the module takes its default. */
	if (!argc)
		return true;
	if (!read_algo(said, &argc, &argv) || !make_room(said))
		return false;
	while (argc > 0) {
		int used;

		if (!strcmp(argv[0], "help")) {
			help(stderr, said->algo);
			return false;
		}
		used = read_words(said, argc, argv);
		if (used < 0)
			return false;
		argc -= used;
		argv += used;
	}
	if (said->fq && !is_said(said, flows))
		return say(said, flows, TCA_SOJOURN_QUEUE, SOJOURN_FQ_FLOWS);
	return true;
}

static void put_table(struct nlmsghdr *message, const struct said *said, int type)
{
	struct rtattr *nest = addattr_nest(message, TC_MESSAGE_BYTES, type | NLA_F_NESTED);
	u32 i;

	for (i = 0; i < said->count; i++) {
		const struct word *word = &said->words[i];
		u32 narrow = (u32)word->value;

		if (word->type != type)
			continue;
		if (word->row->type == AQM_U64)
			addattr_l(message, TC_MESSAGE_BYTES, word->row->attr, &word->value,
			          sizeof(word->value));
		else
			addattr_l(message, TC_MESSAGE_BYTES, word->row->attr, &narrow,
			          sizeof(narrow));
	}
	addattr_nest_end(message, nest);
}

static void put_options(struct nlmsghdr *message, const struct said *said)
{
	struct rtattr *options =
	        addattr_nest(message, TC_MESSAGE_BYTES, TCA_OPTIONS | NLA_F_NESTED);
	int type;

	if (said->algo)
		addattr_l(message, TC_MESSAGE_BYTES, TCA_SOJOURN_ALGO, said->algo->name,
		          (int)strlen(said->algo->name) + 1);
	for (type = TCA_SOJOURN_HOST; type <= TCA_SOJOURN_PARAMS; type++)
		put_table(message, said, type);
	if (said->says_responder6)
		addattr_l(message, TC_MESSAGE_BYTES, TCA_SOJOURN_RESPONDER6, &said->responder6,
		          sizeof(said->responder6));
	if (message->nlmsg_flags & NLM_F_REPLACE)
		addattr_l(message, TC_MESSAGE_BYTES, TCA_SOJOURN_ANEW, NULL, 0);
	addattr_nest_end(message, options);
}

static int parse(const struct qdisc_util *self, int argc, char **argv, struct nlmsghdr *message,
                 const char *dev)
{
	struct said said = {.count = 0};
	bool ok = read_command(&said, argc, argv);

	(void)self, (void)dev;
	if (ok)
		put_options(message, &said);
	free(said.words);
	return ok ? 0 : -1;
}

/* ---- out ---- */

/* The attribute of a type in `bytes` of them; NULL when there is none. */
static struct nlattr *find_nla(void *first, int bytes, int type)
{
	struct nlattr *nla = first;

	while (bytes >= NLA_HDRLEN && nla->nla_len >= NLA_HDRLEN && nla->nla_len <= bytes) {
		int step = NLA_ALIGN(nla->nla_len);

		if ((nla->nla_type & NLA_TYPE_MASK) == type)
			return nla;
		nla = (struct nlattr *)((char *)nla + step);
		bytes -= step;
	}
	return NULL;
}

static struct nlattr *find_in(struct nlattr *nest, int type)
{
	return nest ? find_nla(PAYLOAD(nest), nest->nla_len - NLA_HDRLEN, type) : NULL;
}

static bool get_number(struct nlattr *nest, int type, u64 *value)
{
	struct nlattr *nla = find_in(nest, type);
	u32 narrow;

	if (!nla)
		return false;
	if (nla->nla_len == NLA_HDRLEN + sizeof(u64)) {
		memcpy(value, PAYLOAD(nla), sizeof(*value));
		return true;
	}
	if (nla->nla_len != NLA_HDRLEN + sizeof(u32))
		return false;
	memcpy(&narrow, PAYLOAD(nla), sizeof(narrow));
	*value = narrow;
	return true;
}

static void print_rows(const struct aqm_field *rows, struct nlattr *nest)
{
	u64 value;

	for (; rows && rows->name; rows++)
		if (get_number(nest, rows->attr, &value))
			value_print(rows, value);
}

/* Text that a command accepts; in JSON under a name of its own. */
static void print_responder6(struct nlattr *nla)
{
	char text[INET6_ADDRSTRLEN];

	if (!nla || nla->nla_len != NLA_HDRLEN + sizeof(struct in6_addr))
		return;
	inet_ntop(AF_INET6, PAYLOAD(nla), text, sizeof(text));
	print_color_string(TC_JSON, TC_NO_COLOUR, "responder6", NULL, text);
	print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "responder %s ", text);
}

static const struct aqm_algo *algo_of(void *first, int bytes)
{
	struct nlattr *nla = find_nla(first, bytes, TCA_SOJOURN_ALGO);
	const char *name = nla ? PAYLOAD(nla) : "";

	if (!nla || nla->nla_len <= NLA_HDRLEN || name[nla->nla_len - NLA_HDRLEN - 1])
		return NULL;
	print_color_string(TC_ANY, TC_NO_COLOUR, "algorithm", "%s ", name);
	return aqm_find(name);
}

/* Statistics come without the algorithm's name, but right behind the options, also of a
 * class. */
static const struct aqm_algo *last_algo;

static int print_options(const struct qdisc_util *self, FILE *out, struct rtattr *options)
{
	struct table tables[TABLES];
	int bytes;
	u32 i;

	(void)self, (void)out;
	if (!options)
		return 0;
	bytes = options->rta_len - NLA_HDRLEN;
	last_algo = algo_of(PAYLOAD(options), bytes);
	tables_of(last_algo, tables);
	for (i = 0; i < TABLES; i++)
		print_rows(tables[i].rows, find_nla(PAYLOAD(options), bytes, tables[i].type));
	print_responder6(find_nla(PAYLOAD(options), bytes, TCA_SOJOURN_RESPONDER6));
	return 0;
}

/* The kernel has a sentence for it. */
static int parse_class(const struct qdisc_util *self, int argc, char **argv,
                       struct nlmsghdr *message, const char *dev)
{
	(void)self, (void)argc, (void)argv, (void)message, (void)dev;
	return 0;
}

/* A class is of its queue's algorithm; nobody sets rows of one. */
static int print_class(const struct qdisc_util *self, FILE *out, struct rtattr *options)
{
	(void)self, (void)out;
	if (options)
		last_algo = algo_of(PAYLOAD(options), options->rta_len - NLA_HDRLEN);
	return 0;
}

static const char *count_name(u32 which)
{
	static const char *const names[SOJOURN_COUNTS] = {
	        [SOJOURN_IN_PKTS] = "in_pkts",       [SOJOURN_IN_BYTES] = "in_bytes",
	        [SOJOURN_OUT_PKTS] = "out_pkts",     [SOJOURN_OUT_BYTES] = "out_bytes",
	        [SOJOURN_DROP_BYTES] = "drop_bytes", [SOJOURN_UNMARKABLE] = "unmarkable",
	};

	return names[which];
}

/* Numbers by name: all of them in JSON, in text those that are not zero. */
static const char *probe_name(u32 which)
{
	static const char *const names[SOJOURN_PROBES] = {
	        [SOJOURN_JOINED] = "joined",
	        [SOJOURN_REFUSED] = "refused",
	        [SOJOURN_LEFT] = "left",
	        [SOJOURN_FREED] = "freed",
	        [SOJOURN_ANSWERED] = "answered",
	        [SOJOURN_UNMADE] = "unmade",
	        [SOJOURN_FORGOTTEN] = "forgotten",
	        [SOJOURN_UNHEARD] = "unheard",
	        [SOJOURN_LEFT_BYTES] = "left_bytes",
	        [SOJOURN_ASKED] = "asked",
	        [SOJOURN_READY] = "ready",
	        [SOJOURN_STRAYED] = "strayed",
	        [SOJOURN_WAITED_NS] = "waited_ns",
	        [SOJOURN_WAITED_MAX_NS] = "waited_max_ns",
	};

	return names[which];
}

static const char *flows_name(u32 which)
{
	static const char *const names[SOJOURN_FLOWS] = {
	        [SOJOURN_NEW_FLOW_COUNT] = "new_flow_count",
	        [SOJOURN_NEW_FLOWS_LEN] = "new_flows_len",
	        [SOJOURN_OLD_FLOWS_LEN] = "old_flows_len",
	        [SOJOURN_COLLISIONS] = "collisions",
	        [SOJOURN_DELAY_MEAN_NS] = "delay_mean_ns",
	        [SOJOURN_DELAY_SPARSE_NS] = "delay_sparse_ns",
	        [SOJOURN_DELAY_PEAK_NS] = "delay_peak_ns",
	        [SOJOURN_MEMORY_USED_BYTES] = "memory_used_bytes",
	};

	return names[which];
}

static void print_counts(struct nlattr *nest, const char *title, u32 count,
                         const char *(*name)(u32 which))
{
	u64 value = 0, sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += get_number(nest, (int)i + 1, &value) ? value : 0;
	if (!nest || (!sum && !is_json_context()))
		return;
	print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "  %s ", title);
	open_json_object(title);
	for (i = 0; i < count; i++) {
		if (!get_number(nest, (int)i + 1, &value))
			continue;
		print_color_u64(TC_JSON, TC_NO_COLOUR, name(i), NULL, value);
		if (!value || is_json_context())
			continue;
		print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "%s ", name(i));
		print_color_u64(TC_TEXT, TC_NO_COLOUR, NULL, "%llu ", value);
	}
	close_json_object();
	print_nl();
}

static int print_stats(const struct qdisc_util *self, FILE *out, struct rtattr *stats)
{
	int bytes = stats ? stats->rta_len - NLA_HDRLEN : 0;
	void *first = PAYLOAD(stats);
	struct nlattr *own;
	u64 value;

	(void)self, (void)out;
	if (bytes <= 0)
		return 0;
	open_json_object("sojourn");
	print_counts(find_nla(first, bytes, TCA_SOJOURN_STATS_COUNTS), "counts", SOJOURN_COUNTS,
	             count_name);
	print_counts(find_nla(first, bytes, TCA_SOJOURN_STATS_DROPS), "drops", AQM_WHY_COUNT,
	             aqm_why_name);
	print_counts(find_nla(first, bytes, TCA_SOJOURN_STATS_MARKS), "marks", AQM_WHY_COUNT,
	             aqm_why_name);
	print_counts(find_nla(first, bytes, TCA_SOJOURN_STATS_BAD), "bad", AQM_BAD_COUNT,
	             aqm_bad_name);
	print_counts(find_nla(first, bytes, TCA_SOJOURN_STATS_PROBES), "probes", SOJOURN_PROBES,
	             probe_name);
	print_counts(find_nla(first, bytes, TCA_SOJOURN_STATS_FLOWS), "flows", SOJOURN_FLOWS,
	             flows_name);
	/* The whole payload is a nest without a head of its own. */
	if (get_number((struct nlattr *)stats, TCA_SOJOURN_STATS_DEFICIT, &value)) {
		print_color_s64(TC_ANY, TC_NO_COLOUR, "deficit_bytes", "  deficit_bytes %lld ",
		                (int64_t)value);
		print_nl();
	}
	own = find_nla(first, bytes, TCA_SOJOURN_STATS_ALGO);
	/* With flows there may be none: a gauge has no one value. */
	if (own && own->nla_len > NLA_HDRLEN && last_algo && last_algo->stats) {
		print_color_string(TC_TEXT, TC_NO_COLOUR, NULL, "  %s ", last_algo->name);
		open_json_object("algorithm");
		print_rows(last_algo->stats, own);
		close_json_object();
		print_nl();
	}
	if (get_number((struct nlattr *)stats, TCA_SOJOURN_STATS_MEMORY, &value)) {
		print_color_u64(TC_JSON, TC_NO_COLOUR, "memory_bytes", NULL, value);
		print_color_u64(TC_TEXT, TC_NO_COLOUR, NULL, "  memory %llub", value);
	}
	close_json_object();
	return 0;
}

/* Found by this name; tc links it into a list of its own, so it is not const. */
__attribute__((visibility("default"))) extern struct qdisc_util sojourn_qdisc_util;
struct qdisc_util sojourn_qdisc_util = {
        .id = SOJOURN_KIND,
        .parse_qopt = parse,
        .print_qopt = print_options,
        .print_xstats = print_stats,
        .parse_copt = parse_class,
        .print_copt = print_class,
};
