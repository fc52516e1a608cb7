/*-------------------------------------------------------------------------
 *
 * identifier.c
 *	  Identifiers: whose prefix is whose (spec Appendix B), and new ones.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/identifier.h"

#include "base/clock.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "port/pg_bswap.h"
#include "utils/timestamp.h"

/* --------------------------------------------------------------- prefixes */

#define AGENT		(1 << 0)
#define GROUP		(1 << 1)
#define TASK		(1 << 2)
#define RUN			(1 << 3)
#define THREAD		(1 << 4)
#define ARTIFACT	(1 << 5)
#define SCHEMA		(1 << 6)
#define MCP			(1 << 7)
#define SKILL		(1 << 8)
#define TOOL		(1 << 9)
#define FREE		(1 << 10)	/* none of them */

#define PREFIX(literal, bit)	{{literal, sizeof(literal) - 1}, bit}

static const struct
{
	Slice		text;
	int			bit;
}			prefixes[] =
{
	PREFIX("agent:", AGENT),
	PREFIX("group:", GROUP),
	PREFIX("task:", TASK),
	PREFIX("run:", RUN),
	PREFIX("thread:", THREAD),
	PREFIX("artifact:", ARTIFACT),
	PREFIX("schema://", SCHEMA),
	PREFIX("mcp:", MCP),
	PREFIX("skill:", SKILL),
	PREFIX("tool:", TOOL),
};

/* artifact: */
#define LONGEST_BEFORE_COLON	8

/* in the order of the enum */
static const struct
{
	int			allowed;
	const char *rule;
}			kinds[] =
{
	{FREE, "a message id has no reserved prefix (write msg_...)"},
	{THREAD | FREE, "a thread id begins with \"thread:\" or has no reserved prefix"},
	{RUN | FREE, "a run id begins with \"run:\" or has no reserved prefix"},
	{TASK | FREE, "a task id begins with \"task:\" or has no reserved prefix"},
	{AGENT, "an agent id begins with \"agent:\""},
	{AGENT | GROUP, "a recipient begins with \"agent:\", \"group:\" or \"topic:\""},
	{GROUP, "a group id begins with \"group:\""},
	{ARTIFACT, "a reference to an artifact begins with \"artifact:\""},
	{SCHEMA, "a schema reference begins with \"schema://\""},
	{MCP, "an MCP server begins with \"mcp:\""},
	{MCP | TOOL, "a tool begins with \"mcp:\" or \"tool:\""},
	{SKILL | TOOL | FREE,
	"a capability begins with \"skill:\" or \"tool:\" or has no reserved prefix"},
	{FREE, "a plain word is expected, without a reserved prefix"},
};

/* the reserved prefix of a text; its length in *len, 0 if it has none */
static int
prefix_of(Slice text, int *len)
{
	const char *colon = memchr(text.s, ':', Min(text.len, LONGEST_BEFORE_COLON + 1));
	int			i;

	*len = 0;
	for (i = 0; colon != NULL && i < lengthof(prefixes); i++)
	{
		const Slice *prefix = &prefixes[i].text;

		/* the colon's place leaves one or two to compare with */
		if (colon - text.s < prefix->len && prefix->s[colon - text.s] == ':' &&
			slice_starts(text, *prefix))
		{
			*len = prefix->len;
			return prefixes[i].bit;
		}
	}
	return FREE;
}

const char *
identifier_fault(IdentifierKind kind, Slice text, const char **rule)
{
	int			len = 0;
	int			prefix = text.len > 0 ? prefix_of(text, &len) : FREE;

	*rule = kinds[kind].rule;
	if (text.len == 0)
		return "EMPTY";
	/* no prefix of spec Appendix B, so elsewhere it is a word like any other */
	if (kind == ID_RECIPIENT && text.len > 6 && slice_starts(text, SLICE_OF("topic:")))
		return NULL;
	if ((prefix & kinds[kind].allowed) == 0)
		return "WRONG_PREFIX";
	if (text.len == len)
	{
		*rule = "something must stand behind the prefix";
		return "EMPTY";
	}
	return NULL;
}

void
identifier_split_version(Slice entry, Slice *id, Slice *range)
{
	int			at = entry.len - 1;

	while (at > 0 && entry.s[at] != '@')
		at--;
	*id = entry;
	*range = SLICE_NONE;
	if (at <= 0)
		return;
	id->len = at;
	*range = (Slice) {entry.s + at + 1, entry.len - at - 1};
}

bool
identifier_prefix_valid(Slice prefix)
{
	int			i;

	if (prefix.len < 1 || prefix.len > 32 || prefix.s[0] < 'a' || prefix.s[0] > 'z')
		return false;
	for (i = 1; i < prefix.len; i++)
	{
		char		c = prefix.s[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return true;
}

/* --------------------------------------------------------- new identifiers */

#define ULID_BYTES		16
#define ULID_TIME_BYTES	6

/* 128 bits as 26 letters of Crockford's base 32, the first holding only 3 bits */
static char *
spell(const char *prefix, const uint8 *bits)
{
	static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	char		spelled[27];
	int			i;

	for (i = 0; i < 26; i++)
	{
		int			low = 128 - 5 * (26 - i);	/* place of its highest bit */
		int			value = 0;
		int			b;

		for (b = low; b < low + 5; b++)
			value = value << 1 | (b < 0 ? 0 : (bits[b / 8] >> (7 - b % 8)) & 1);
		spelled[i] = letters[value];
	}
	spelled[26] = '\0';
	return psprintf("%s_%s", prefix, spelled);
}

static uint64
unix_milliseconds(void)
{
	TimestampTz now = clock_now();
	int64		epoch = (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

	return Max(now + epoch, 0) / 1000;
}

char *
identifier_make(const char *prefix)
{
	static uint8 last[ULID_BYTES];
	uint64		milliseconds = unix_milliseconds();
	uint8		ulid[ULID_BYTES];
	int			i;

	for (i = 0; i < ULID_TIME_BYTES; i++)
		ulid[i] = milliseconds >> 8 * (ULID_TIME_BYTES - 1 - i);

	if (memcmp(ulid, last, ULID_TIME_BYTES) == 0)
	{
		/* the same millisecond again: the next number keeps the order */
		memcpy(ulid, last, ULID_BYTES);
		for (i = ULID_BYTES - 1; i >= ULID_TIME_BYTES && ++ulid[i] == 0; i--)
			;
	}
	else if (!pg_strong_random(ulid + ULID_TIME_BYTES, ULID_BYTES - ULID_TIME_BYTES))
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not generate random values")));

	memcpy(last, ulid, ULID_BYTES);
	return spell(prefix, ulid);
}

char *
identifier_derive(const char *prefix, const Slice *parts, int nparts)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(PG_SHA256);
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	bool		ok = ctx != NULL && pg_cryptohash_init(ctx) == 0;
	int			i;

	for (i = 0; ok && i < nparts; i++)
	{
		uint32		len = pg_hton32(parts[i].len);

		/* each length too, so that "a","bc" is not "ab","c" */
		ok = pg_cryptohash_update(ctx, (const uint8 *) &len, sizeof(len)) == 0 &&
			pg_cryptohash_update(ctx, (const uint8 *) parts[i].s, parts[i].len) == 0;
	}
	ok = ok && pg_cryptohash_final(ctx, hash, sizeof(hash)) == 0;
	if (ctx)
		pg_cryptohash_free(ctx);
	if (!ok)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not compute SHA-256 hash")));
	return spell(prefix, hash);
}
