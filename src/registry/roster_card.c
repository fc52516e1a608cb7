/*-------------------------------------------------------------------------
 *
 * roster_card.c
 *	  Reading registered cards into the roster.
 *
 * agent_card_read judges a card when it comes in, and reports each fault with
 * its path.  Doing that again for ten thousand cards took most of the time of
 * a session's first call.  This only picks out what routing and delivery need.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "registry/roster_part.h"

#include "base/document.h"
#include "base/number.h"
#include "port/pg_bitutils.h"
#include "protocol/level.h"
#include "protocol/value.h"
#include "utils/builtins.h"

/* ------------------------------------------------------- walking containers */

/* Iterates over the children of a container in order, reading each once. */
typedef struct CardWalk
{
	const JEntry *keys;			/* NULL means an array */
	const JEntry *values;
	const char *data;
	uint32		key_start;
	uint32		value_start;
	int			left;
} CardWalk;

static inline uint32
roster_card_entry_end(JEntry entry, uint32 start)
{
	return JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : start + JBE_OFFLENFLD(entry);
}

/* What is not a container has no children. */
static CardWalk
roster_card_walk_begin(const JsonbValue *value)
{
	CardWalk	walk = {NULL};
	const JsonbContainer *container;
	bool		is_object;

	if (value->type != jbvBinary)
		return walk;
	container = value->val.binary.data;
	is_object = JsonContainerIsObject(container);
	walk.left = JsonContainerSize(container);
	walk.keys = is_object ? container->children : NULL;
	walk.values = container->children + (is_object ? walk.left : 0);
	walk.data = (const char *) (walk.values + walk.left);
	walk.value_start = is_object && walk.left > 0 ? getJsonbOffset(container, walk.left) : 0;
	return walk;
}

/* Returns false if there are no more.  The key is absent in an array. */
static bool
roster_card_walk_next(CardWalk *walk, Slice *key, JsonbValue *value)
{
	uint32		end;

	if (walk->left == 0)
		return false;
	walk->left--;
	*key = SLICE_NONE;
	if (walk->keys != NULL)
	{
		end = roster_card_entry_end(*walk->keys++, walk->key_start);
		*key = (Slice) {walk->data + walk->key_start, end - walk->key_start};
		walk->key_start = end;
	}
	end = roster_card_entry_end(*walk->values, walk->value_start);
	value_fill(*walk->values++, walk->data, walk->value_start, end, value);
	walk->value_start = end;
	return true;
}

#define KEY_IS(key, literal) \
	((key).len == sizeof(literal) - 1 && memcmp((key).s, literal, sizeof(literal) - 1) == 0)

/*
 * Returns the index of the word among the names, or "before", the previous
 * value.
 */
static int
roster_card_level_of(const JsonbValue *value, const char *const *names, int before)
{
	Slice		word = document_text(value);
	int			i;

	for (i = 0; names[i] != NULL; i++)
		if (slice_is(word, names[i]))
			return i;
	return before;
}

static int
roster_card_count_of(const JsonbValue *value, int before)
{
	int64		number;

	if (value->type != jbvNumeric || !number_to_int64(value->val.numeric, &number) ||
		number < 0 || number > PG_INT32_MAX)
		return before;
	return (int) number;
}

/* -------------------------------------------------------------- capabilities */

static int
roster_card_list_length_of(const JsonbValue *value)
{
	return value->type == jbvBinary ? JsonContainerSize(value->val.binary.data) : 0;
}

static void
roster_card_read_tools(RosterReading *reading, const JsonbValue *value, int agent, RosterCapability *to)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	element;
	Slice		key;

	while (roster_card_walk_next(&walk, &key, &element))
	{
		RosterWord *word;

		if (!slice_present(document_text(&element)))
			continue;
		word = roster_intern(reading->roster, BY_TOOL, NULL, document_text(&element));
		roster_note_word(reading, word, agent);
		to->tools[to->ntools++] = word;
	}
}

static void
roster_card_read_tags(RosterReading *reading, const JsonbValue *value, int agent)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	element;
	Slice		key;

	while (roster_card_walk_next(&walk, &key, &element))
		if (slice_present(document_text(&element)))
			roster_note_word(reading, roster_intern(reading->roster, BY_TAG, NULL,
													document_text(&element)), agent);
}

/* Returns false if it has no id. */
static bool
roster_card_read_capability(RosterReading *reading, const JsonbValue *value, int agent, RosterCapability *to)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	tools = {jbvNull};
	JsonbValue	servers = {jbvNull};
	Slice		id = SLICE_NONE;
	Slice		version = SLICE_NONE;
	int			ntools;
	JsonbValue	field;
	Slice		key;
	RosterWord *word;

	memset(to, 0, sizeof(*to));
	to->cost = COST_MEDIUM;
	while (roster_card_walk_next(&walk, &key, &field))
	{
		if (KEY_IS(key, "id"))
			id = document_text(&field);
		else if (KEY_IS(key, "version"))
			version = document_text(&field);
		else if (KEY_IS(key, "tags"))
			roster_card_read_tags(reading, &field, agent);
		else if (KEY_IS(key, "tools"))
			tools = field;
		else if (KEY_IS(key, "servers"))
			servers = field;
		else if (KEY_IS(key, "cost_hint"))
			to->cost = roster_card_level_of(&field, level_cost, to->cost);
		else if (KEY_IS(key, "trust_level"))
			to->trust = roster_card_level_of(&field, level_trust, to->trust);
	}
	if (!slice_present(id))
		return false;
	word = roster_intern(reading->roster, BY_CAPABILITY, NULL, id);
	roster_note_word(reading, word, agent);
	to->id = word;
	word = roster_intern(reading->roster, BY_VERSION, word, version);
	roster_note_word(reading, word, agent);
	to->version = word;
	ntools = roster_card_list_length_of(&tools) + roster_card_list_length_of(&servers);
	if (ntools > 0)
		to->tools = roster_alloc(reading->roster, ntools * sizeof(RosterWord *));
	roster_card_read_tools(reading, &tools, agent, to);
	roster_card_read_tools(reading, &servers, agent, to);
	return true;
}

static int
roster_card_read_capabilities(RosterReading *reading, const JsonbValue *value, int agent,
							  RosterCapability **capabilities)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	element;
	Slice		key;
	int			n = 0;

	*capabilities = NULL;
	if (walk.left > 0)
		*capabilities = roster_alloc(reading->roster, walk.left * sizeof(RosterCapability));
	while (roster_card_walk_next(&walk, &key, &element))
		if (roster_card_read_capability(reading, &element, agent, &(*capabilities)[n]))
			n++;
	if (n == 0)
		*capabilities = NULL;
	else
		(*capabilities)[n - 1].is_last = true;
	return n;
}

/* ----------------------------------------------------------- the other parts */

static void
roster_card_read_retry(const JsonbValue *value, RetryPolicy *retry)
{
	JsonbContainer *object = value->type == jbvBinary ? value->val.binary.data : NULL;
	JsonbValue	factor;

	(void) document_get_int(object, "max", &retry->max);
	(void) document_get_int(object, "initial_ms", &retry->initial_ms);
	(void) document_get_int(object, "max_ms", &retry->max_ms);
	if (document_get(object, "factor", &factor) && factor.type == jbvNumeric)
		retry->factor = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
														   NumericGetDatum(factor.val.numeric)));
}

static void
roster_card_read_limits(const JsonbValue *value, RosterCard *to)
{
	CardWalk	walk = roster_card_walk_begin(value);
	Amount		most = AMOUNT_NO_LIMIT;
	JsonbValue	field;
	Slice		key;

	while (roster_card_walk_next(&walk, &key, &field))
	{
		if (KEY_IS(key, "max_concurrency"))
			to->max_concurrency = roster_card_count_of(&field, to->max_concurrency);
		else if (KEY_IS(key, "max_runtime_sec"))
			to->max_runtime_sec = roster_card_count_of(&field, to->max_runtime_sec);
		else if (KEY_IS(key, "heartbeat_sec"))
			to->heartbeat_sec = roster_card_count_of(&field, to->heartbeat_sec);
		else if (KEY_IS(key, "max_tokens") && field.type == jbvNumeric)
			most.tokens = amount_count(field.val.numeric, -1);
		else if (KEY_IS(key, "max_cost") && field.type == jbvNumeric)
			most.cost = field.val.numeric;
		else if (KEY_IS(key, "retry"))
			roster_card_read_retry(&field, &to->retry);
	}
	if (amount_is_limit(&most))
		to->max_amount = amount_copy(most);
}

/* Returns the texts of an array, copied. */
static const SliceList *
roster_card_read_texts(RosterReading *reading, const JsonbValue *value)
{
	CardWalk	walk = roster_card_walk_begin(value);
	SliceList  *texts = roster_alloc(reading->roster, sizeof(SliceList));
	JsonbValue	element;
	Slice		key;

	texts->n = 0;
	texts->items = roster_alloc(reading->roster, Max(walk.left, 1) * sizeof(Slice));
	while (roster_card_walk_next(&walk, &key, &element))
	{
		Slice		text = document_text(&element);

		if (slice_present(text))
			texts->items[texts->n++] = roster_copy_text(reading->roster, text);
	}
	return texts;
}

static void
roster_card_read_security(RosterReading *reading, const JsonbValue *value, RosterCard *to)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	field;
	Slice		key;

	while (roster_card_walk_next(&walk, &key, &field))
	{
		if (KEY_IS(key, "sandbox") && field.type == jbvBool)
			to->sandbox = field.val.boolean;
		else if (KEY_IS(key, "network"))
			to->network = roster_card_level_of(&field, level_network, to->network);
		else if (KEY_IS(key, "egress_allowlist"))
			to->egress = roster_card_read_texts(reading, &field);
		else if (KEY_IS(key, "serves"))
			to->serves = roster_card_read_texts(reading, &field);
		else if (KEY_IS(key, "delegates_to"))
			to->delegates_to = roster_card_read_texts(reading, &field);
	}
}

/* The arrays have room for a power of two, on which roster_read.c relies. */
static void
roster_card_read_groups(RosterReading *reading, const JsonbValue *value, int agent, SliceList *groups)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	element;
	Slice		key;

	if (walk.left > 0)
		groups->items = roster_alloc(reading->roster,
									 pg_nextpower2_32(walk.left) * sizeof(Slice));
	while (roster_card_walk_next(&walk, &key, &element))
	{
		RosterWord *word;

		if (!slice_present(document_text(&element)))
			continue;
		word = roster_intern(reading->roster, BY_GROUP, NULL, document_text(&element));
		roster_note_word(reading, word, agent);
		groups->items[groups->n++] = word->text;
	}
}

static void
roster_card_read_scopes(RosterReading *reading, const JsonbValue *value, int agent)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	element;
	Slice		key;

	while (roster_card_walk_next(&walk, &key, &element))
		if (slice_present(document_text(&element)))
			roster_note_word(reading, roster_intern(reading->roster, BY_SCOPE, NULL,
													document_text(&element)), agent);
}

static void
roster_card_read_meta(const JsonbValue *value, RosterCard *to)
{
	CardWalk	walk = roster_card_walk_begin(value);
	JsonbValue	field;
	Slice		key;

	while (roster_card_walk_next(&walk, &key, &field))
		if (KEY_IS(key, "context") && field.type == jbvBool)
			to->wants_context = field.val.boolean;
}

void
roster_card_read(RosterReading *reading, JsonbContainer *card, int agent, RosterCard *to,
				 RosterCapability **capabilities)
{
	JsonbValue	whole = {.type = jbvBinary, .val.binary.data = card};
	CardWalk	walk = roster_card_walk_begin(&whole);
	JsonbValue	part;
	Slice		key;

	memset(to, 0, sizeof(*to));
	to->max_concurrency = 1;
	to->heartbeat_sec = -1;
	to->max_amount = AMOUNT_NO_LIMIT;
	to->retry = RETRY_POLICY_UNSAID;
	to->sandbox = true;
	*capabilities = NULL;
	while (roster_card_walk_next(&walk, &key, &part))
	{
		if (KEY_IS(key, "capabilities"))
			to->ncapabilities = roster_card_read_capabilities(reading, &part, agent, capabilities);
		else if (KEY_IS(key, "limits"))
			roster_card_read_limits(&part, to);
		else if (KEY_IS(key, "security"))
			roster_card_read_security(reading, &part, to);
		else if (KEY_IS(key, "groups"))
			roster_card_read_groups(reading, &part, agent, &to->groups);
		else if (KEY_IS(key, "scopes"))
			roster_card_read_scopes(reading, &part, agent);
		else if (KEY_IS(key, "model") && slice_present(document_text(&part)))
			roster_note_word(reading, roster_intern(reading->roster, BY_MODEL, NULL,
													document_text(&part)), agent);
		else if (KEY_IS(key, "meta"))
			roster_card_read_meta(&part, to);
	}
}
