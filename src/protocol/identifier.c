/*-------------------------------------------------------------------------
 *
 * identifier.c
 *	  Identifiers: which prefix belongs to which kind, and how new ones are
 *	  made.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/identifier.h"

#include "port/pg_bswap.h"
#include "protocol/place.h"
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
#define FREE		(1 << 10)	/* no reserved prefix */

/* in the order of IdentifierKind */
static const struct
{
	int			allowed;
	const char *rule;
}			identifier_kinds[] =
{
	{FREE, "a message ID must not have a reserved prefix; use one like msg_1"},
	{THREAD | FREE, "a thread ID must begin with \"thread:\" or have no reserved prefix"},
	{RUN | FREE, "a run ID must begin with \"run:\" or have no reserved prefix"},
	{TASK | FREE, "a task ID must begin with \"task:\" or have no reserved prefix"},
	{AGENT, "an agent ID must begin with \"agent:\""},
	{AGENT | GROUP, "a recipient must begin with \"agent:\", \"group:\" or \"topic:\""},
	{GROUP, "a group ID must begin with \"group:\""},
	{ARTIFACT, "a reference to an artifact must begin with \"artifact:\""},
	{SCHEMA, "a schema reference must begin with \"schema://\""},
	{MCP, "the name of an MCP server must begin with \"mcp:\""},
	{MCP | TOOL, "the name of a tool must begin with \"mcp:\" or \"tool:\""},
	{SKILL | TOOL | FREE,
	"a capability must begin with \"skill:\" or \"tool:\" or have no reserved prefix"},
	{FREE, "a plain word without a reserved prefix is expected"},
};

/*
 * Does the text begin with this prefix?  If so, *len is set to the length of
 * the prefix.
 */
static inline bool
identifier_begins(Slice text, Slice prefix, int *len)
{
	if (!slice_starts(text, prefix))
		return false;
	*len = prefix.len;
	return true;
}

/*
 * Returns the reserved prefix of a text that is not empty, and sets *len to
 * its length, or to 0 if it has none.  Every identifier passes through this;
 * the first letter leaves at most three prefixes to compare.
 */
static int
identifier_prefix_of(Slice text, int *len)
{
	*len = 0;
	switch (text.s[0])
	{
		case 'a':
			return identifier_begins(text, SLICE_OF("agent:"), len) ? AGENT :
				identifier_begins(text, SLICE_OF("artifact:"), len) ? ARTIFACT : FREE;
		case 'g':
			return identifier_begins(text, SLICE_OF("group:"), len) ? GROUP : FREE;
		case 'm':
			return identifier_begins(text, SLICE_OF("mcp:"), len) ? MCP : FREE;
		case 'r':
			return identifier_begins(text, SLICE_OF("run:"), len) ? RUN : FREE;
		case 's':
			return identifier_begins(text, SLICE_OF("skill:"), len) ? SKILL :
				identifier_begins(text, SLICE_OF("schema://"), len) ? SCHEMA : FREE;
		case 't':
			return identifier_begins(text, SLICE_OF("task:"), len) ? TASK :
				identifier_begins(text, SLICE_OF("tool:"), len) ? TOOL :
				identifier_begins(text, SLICE_OF("thread:"), len) ? THREAD : FREE;
		default:
			return FREE;
	}
}

const char *
identifier_fault(IdentifierKind kind, Slice text, const char **rule)
{
	int			len;
	int			prefix;

	*rule = identifier_kinds[kind].rule;
	if (text.len == 0)
		return "EMPTY";
	prefix = identifier_prefix_of(text, &len);
	/*
	 * "topic:" is not in spec Appendix B, so elsewhere it begins an ordinary
	 * word
	 */
	if (kind == ID_RECIPIENT && text.len > 6 && slice_starts(text, SLICE_OF("topic:")))
		return NULL;
	if ((prefix & identifier_kinds[kind].allowed) == 0)
		return "WRONG_PREFIX";
	if (text.len == len)
	{
		*rule = "something must follow the prefix";
		return "EMPTY";
	}
	return NULL;
}

bool
identifier_is_valid(IdentifierKind kind, Slice text)
{
	const char *rule;

	return slice_present(text) && text.len <= clutch_limits.max_id_bytes && identifier_find_control(text) < 0 &&
		identifier_fault(kind, text, &rule) == NULL;
}

void
identifier_check(IdentifierKind kind, Slice text, const char *path, ProblemList *list)
{
	const char *rule;
	const char *code = identifier_fault(kind, text, &rule);

	if (code != NULL)
		problem_add(list, path, code, "%s is not valid: %s.", place_quote(text), rule);
	else if (identifier_find_control(text) >= 0)
		problem_add(list, path, "CONTROL_CHARACTER", "%s has a control character.", place_quote(text));
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
	*range = slice_after(entry, at + 1);
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

/* ------------------------------------------------------ control characters */

#define EACH_BYTE(byte)		(UINT64CONST(0x0101010101010101) * (byte))
#define HIGH_BITS			EACH_BYTE(0x80)

/* Is one of the eight bytes outside of printable ASCII, 0x20 to 0x7E? */
static inline bool
identifier_word_unusual(uint64 word)
{
	uint64		below_space = word - EACH_BYTE(0x20);
	uint64		above_tilde = word + EACH_BYTE(0x01);

	return ((below_space | above_tilde | word) & HIGH_BITS) != 0;
}

/*
 * Returns the length in bytes of the control character at this position, or 0
 * if there is none.
 */
static int
identifier_control_length(const unsigned char *at, int left)
{
	if (at[0] < 0x20 || at[0] == 0x7F)
		return 1;
	/* U+0080 to U+009F, which include the line break U+0085 */
	if (at[0] == 0xC2 && left >= 2 && at[1] < 0xA0)
		return 2;
	/* U+2028 and U+2029 separate lines and paragraphs */
	if (at[0] == 0xE2 && left >= 3 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9))
		return 3;
	return 0;
}

int
identifier_find_control(Slice text)
{
	const int	step = sizeof(uint64);
	int			i = 0;

	/*
	 * nearly all identifiers are printable ASCII, so check eight bytes at a
	 * time, and finally the last eight
	 */
	while (text.len >= step)
	{
		int			at = Min(i, text.len - step);
		uint64		word;

		memcpy(&word, text.s + at, sizeof(word));
		if (identifier_word_unusual(word))
			break;
		i = at + step;
		if (i == text.len)
			return -1;
	}
	for (; i < text.len; i++)
		if (identifier_control_length((const unsigned char *) text.s + i, text.len - i) > 0)
			return i;
	return -1;
}

/* --------------------------------------------------------- new identifiers */

#define ULID_BYTES		16
#define ULID_TIME_BYTES	6

#define ULID_LETTERS	26
#define LETTER_BITS		5
#define LETTER_MASK		((1 << LETTER_BITS) - 1)

static uint64
identifier_read_word(const uint8 *bytes)
{
	uint64		word;

	memcpy(&word, bytes, sizeof(word));
	return pg_ntoh64(word);
}

/*
 * Returns the prefix, an underscore, and 128 bits as 26 characters of
 * Crockford's base 32.  They are computed from the last one to the first; the
 * first one stands for only 3 bits.
 */
static char *
identifier_spell(const char *prefix, const uint8 *bits)
{
	static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	Size		len = strlen(prefix);
	char	   *spelled = palloc(len + 1 + ULID_LETTERS + 1);
	char	   *at = spelled + len + 1;
	uint64		high = identifier_read_word(bits);
	uint64		low = identifier_read_word(bits + sizeof(uint64));
	int			i;

	memcpy(spelled, prefix, len);
	spelled[len] = '_';
	for (i = ULID_LETTERS - 1; i >= 0; i--)
	{
		at[i] = letters[low & LETTER_MASK];
		low = low >> LETTER_BITS | high << (64 - LETTER_BITS);
		high >>= LETTER_BITS;
	}
	at[ULID_LETTERS] = '\0';
	return spelled;
}

static uint64
identifier_unix_milliseconds(TimestampTz now)
{
	int64		epoch = (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

	return Max(now + epoch, 0) / 1000;
}

/*
 * Getting random bytes costs thousands of instructions, however few they are,
 * so they are fetched for many identifiers at once.
 */
static bool
identifier_random(uint8 *bytes, int n)
{
	static uint8 pool[512];
	static int	left = 0;

	if (left < n)
	{
		if (!pg_strong_random(pool, sizeof(pool)))
			return false;
		left = sizeof(pool);
	}
	left -= n;
	memcpy(bytes, pool + left, n);
	return true;
}

/*
 * Adds a random number of 32 bits, but at least 1, to the random bytes.  This
 * preserves the order within a millisecond, and nobody can guess the result.
 */
static bool
identifier_step(uint8 *ulid)
{
	uint8		random[sizeof(uint32)];
	int			carry = 1;
	int			i;

	if (!identifier_random(random, sizeof(random)))
		return false;
	for (i = 0; i < ULID_BYTES - ULID_TIME_BYTES && (carry > 0 || i < (int) sizeof(random)); i++)
	{
		uint8	   *byte = &ulid[ULID_BYTES - 1 - i];

		carry += *byte + (i < (int) sizeof(random) ? random[i] : 0);
		*byte = (uint8) carry;
		carry >>= 8;
	}
	return true;
}

char *
identifier_make(const char *prefix, TimestampTz now)
{
	static uint8 last[ULID_BYTES];
	uint64		milliseconds = identifier_unix_milliseconds(now);
	uint8		ulid[ULID_BYTES];
	bool		is_random;
	int			i;

	for (i = 0; i < ULID_TIME_BYTES; i++)
		ulid[i] = milliseconds >> 8 * (ULID_TIME_BYTES - 1 - i);

	if (memcmp(ulid, last, ULID_TIME_BYTES) == 0)
	{
		memcpy(ulid, last, ULID_BYTES);
		is_random = identifier_step(ulid);
	}
	else
		is_random = identifier_random(ulid + ULID_TIME_BYTES, ULID_BYTES - ULID_TIME_BYTES);
	if (!is_random)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not generate random values")));

	memcpy(last, ulid, ULID_BYTES);
	return identifier_spell(prefix, ulid);
}

void
identifier_hash(CryptoHash *hash, const Slice *parts, int nparts)
{
	for (int i = 0; i < nparts; i++)
	{
		uint32		len = pg_hton32(parts[i].len);

		/* add the lengths, too, so that "a","bc" differs from "ab","c" */
		crypto_hash_add(hash, &len, sizeof(len));
		crypto_hash_add(hash, parts[i].s, parts[i].len);
	}
}

char *
identifier_of_hash(const char *prefix, CryptoHash *hash)
{
	uint8		digest[CRYPTO_HASH_BYTES];

	crypto_hash_end(hash, digest);
	return identifier_spell(prefix, digest);
}

char *
identifier_derive(const char *prefix, const Slice *parts, int nparts)
{
	CryptoHash	hash;

	crypto_hash_begin(&hash);
	identifier_hash(&hash, parts, nparts);
	return identifier_of_hash(prefix, &hash);
}
