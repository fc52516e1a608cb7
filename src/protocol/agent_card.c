/*-------------------------------------------------------------------------
 *
 * agent_card.c
 *	  AgentCards (spec 1.4, 1.5): what agents can do, and their limits.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "protocol/agent_card.h"

#include "base/uri.h"
#include "protocol/fields.h"
#include "protocol/host.h"
#include "protocol/level.h"
#include "semver/version_range.h"

#define ADVICE		"put a framework's own data into the \"meta\" of the card"
#define MOST_TASKS	1000000000

enum
{
	CARD_V,
	CARD_META,
	CARD_MODEL,
	CARD_GROUPS,
	CARD_LIMITS,
	CARD_SCOPES,
	CARD_DISPLAY,
	CARD_AGENT_ID,
	CARD_SECURITY,
	CARD_ENDPOINTS,
	CARD_CAPABILITIES
};

static const Slice card_names[] = {
	FIELD("v"),
	FIELD("meta"),
	FIELD("model"),
	FIELD("groups"),
	FIELD("limits"),
	FIELD("scopes"),
	FIELD("display"),
	FIELD("agent_id"),
	FIELD("security"),
	FIELD("endpoints"),
	FIELD("capabilities"),
};
static const FieldTable card_fields = FIELD_TABLE(card_names, ADVICE);

enum
{
	DISPLAY_DESC,
	DISPLAY_NAME
};

static const Slice display_names[] = {
	FIELD("desc"),
	FIELD("name"),
};
static const FieldTable display_fields = FIELD_TABLE(display_names, ADVICE);

static const Slice endpoint_names[] = {
	FIELD("url"),
};
static const FieldTable endpoint_fields = FIELD_TABLE(endpoint_names, ADVICE);

enum
{
	CAPABILITY_ID,
	CAPABILITY_TAGS,
	CAPABILITY_TOOLS,
	CAPABILITY_ACTIONS,
	CAPABILITY_SERVERS,
	CAPABILITY_VERSION,
	CAPABILITY_COST_HINT,
	CAPABILITY_TRUST_LEVEL
};

static const Slice capability_names[] = {
	FIELD("id"),
	FIELD("tags"),
	FIELD("tools"),
	FIELD("actions"),
	FIELD("servers"),
	FIELD("version"),
	FIELD("cost_hint"),
	FIELD("trust_level"),
};
static const FieldTable capability_fields = FIELD_TABLE(capability_names, ADVICE);

enum
{
	LIMIT_RETRY,
	LIMIT_MAX_COST,
	LIMIT_MAX_TOKENS,
	LIMIT_HEARTBEAT_SEC,
	LIMIT_MAX_CONCURRENCY,
	LIMIT_MAX_RUNTIME_SEC
};

static const Slice limit_names[] = {
	FIELD("retry"),
	FIELD("max_cost"),
	FIELD("max_tokens"),
	FIELD("heartbeat_sec"),
	FIELD("max_concurrency"),
	FIELD("max_runtime_sec"),
};
static const FieldTable limit_fields = FIELD_TABLE(limit_names, ADVICE);

enum
{
	SECURITY_SERVES,
	SECURITY_NETWORK,
	SECURITY_SANDBOX,
	SECURITY_DELEGATES_TO,
	SECURITY_EGRESS_ALLOWLIST
};

static const Slice security_names[] = {
	FIELD("serves"),
	FIELD("network"),
	FIELD("sandbox"),
	FIELD("delegates_to"),
	FIELD("egress_allowlist"),
};
static const FieldTable security_fields = FIELD_TABLE(security_names, ADVICE);

static const char *const card_versions[] = {CLUTCH_PROTOCOL, NULL};

/* Opens an object of the card.  Returns false if it is absent or faulty. */
static bool
agent_card_open_part(Fields *part, const FieldTable *table, Fields *card, int field,
					 DocumentPlace *place)
{
	*place = fields_place(card, field);
	return fields_present(card, field) &&
		fields_open(part, table, &card->values[field], place, card->list);
}

/* ------------------------------------------------------------ capabilities */

/* Requests do not distinguish tools from servers, so both go into one list. */
static void
agent_card_read_tools(Fields *f, SliceList *tools)
{
	SliceList	own;
	SliceList	servers;

	fields_identifiers(f, CAPABILITY_TOOLS, OPTIONAL, ID_SERVER, &own);
	fields_identifiers(f, CAPABILITY_SERVERS, OPTIONAL, ID_SERVER, &servers);
	*tools = own.n > 0 ? own : servers;
	if (own.n == 0 || servers.n == 0)
		return;
	tools->n = own.n + servers.n;
	tools->items = repalloc(own.items, tools->n * sizeof(Slice));
	memcpy(tools->items + own.n, servers.items, servers.n * sizeof(Slice));
}

static void
agent_card_read_capability(const JsonbValue *value, const DocumentPlace *place,
						   Capability *capability, ProblemList *list)
{
	Fields		f;
	DocumentPlace at;
	SliceList	actions;
	int			level;

	memset(capability, 0, sizeof(*capability));
	capability->cost = COST_MEDIUM;
	if (!fields_open(&f, &capability_fields, value, place, list))
		return;

	at = fields_place(&f, CAPABILITY_ID);
	capability->id = fields_identifier(&f, CAPABILITY_ID, REQUIRED, ID_CAPABILITY);
	if (slice_present(capability->id) && memchr(capability->id.s, '@', capability->id.len))
		place_fault(&at, list, "WRONG_FORMAT",
					"is %s; write the version into \"version\", not after an @.",
					place_quote(capability->id));

	at = fields_place(&f, CAPABILITY_VERSION);
	capability->version = fields_text(&f, CAPABILITY_VERSION, OPTIONAL, TEXT_ID);
	if (slice_present(capability->version) && !version_range_valid(capability->version))
		place_fault(&at, list, "WRONG_FORMAT",
					"is %s; it must be a semantic version or a range, "
					"like \"1.2.0\" or \"^1.0\".", place_quote(capability->version));

	fields_identifiers(&f, CAPABILITY_TAGS, OPTIONAL, ID_WORD, &capability->tags);
	/*
	 * kept in the card for its readers (spec 003 3.2); routing does not use
	 * them
	 */
	fields_identifiers(&f, CAPABILITY_ACTIONS, OPTIONAL, ID_WORD, &actions);
	agent_card_read_tools(&f, &capability->tools);
	if ((level = fields_word(&f, CAPABILITY_TRUST_LEVEL, OPTIONAL, level_trust)) >= 0)
		capability->trust = level;
	if ((level = fields_word(&f, CAPABILITY_COST_HINT, OPTIONAL, level_cost)) >= 0)
		capability->cost = level;
}

static void
agent_card_read_capabilities(Fields *f, Presence presence, AgentCard *card)
{
	const JsonbContainer *array = fields_array(f, CARD_CAPABILITIES, presence,
											   f->list->limits->max_list, "clutch.max_list");
	DocumentPlace place = fields_place(f, CARD_CAPABILITIES);
	DocumentPlace element = {&place, SLICE_NONE};
	int			n = array ? JsonContainerSize(array) : 0;

	card->ncapabilities = n;
	card->capabilities = n > 0 ? palloc(n * sizeof(Capability)) : NULL;
	for (; element.index < n; element.index++)
	{
		JsonbValue	value;

		value_at(array, element.index, &value);
		agent_card_read_capability(&value, &element, &card->capabilities[element.index], f->list);
	}
}

/* --------------------------------------------------------- the other parts */

static void
agent_card_check_display(Fields *whole)
{
	Fields		f;
	DocumentPlace place;

	if (!agent_card_open_part(&f, &display_fields, whole, CARD_DISPLAY, &place))
		return;
	(void) fields_text(&f, DISPLAY_NAME, OPTIONAL, TEXT_STRING);
	(void) fields_text(&f, DISPLAY_DESC, OPTIONAL, TEXT_STRING);
}

static void
agent_card_read_limits(Fields *whole, AgentCard *card)
{
	Fields		f;
	DocumentPlace place;
	int64		number;

	if (!agent_card_open_part(&f, &limit_fields, whole, CARD_LIMITS, &place))
		return;
	if (fields_integer(&f, LIMIT_MAX_CONCURRENCY, OPTIONAL, 0, MOST_TASKS, &number))
		card->max_concurrency = number;
	if (fields_integer(&f, LIMIT_MAX_RUNTIME_SEC, OPTIONAL, 0, MOST_TASKS, &number))
		card->max_runtime_sec = number;
	if (fields_integer(&f, LIMIT_HEARTBEAT_SEC, OPTIONAL, 0, MOST_TASKS, &number))
		card->heartbeat_sec = number;
	retry_policy_read(&f, LIMIT_RETRY, &card->retry);
	card->max_amount.tokens = amount_count(fields_amount(&f, LIMIT_MAX_TOKENS), -1);
	card->max_amount.cost = fields_amount(&f, LIMIT_MAX_COST);
}

static void
agent_card_read_security(Fields *whole, AgentCard *card)
{
	Fields		f;
	DocumentPlace place;
	int			level;

	if (!agent_card_open_part(&f, &security_fields, whole, CARD_SECURITY, &place))
		return;
	(void) fields_bool(&f, SECURITY_SANDBOX, OPTIONAL, &card->sandbox);
	if ((level = fields_word(&f, SECURITY_NETWORK, OPTIONAL, level_network)) >= 0)
		card->network = level;
	card->has_serves = fields_present(&f, SECURITY_SERVES);
	fields_identifiers(&f, SECURITY_SERVES, OPTIONAL, ID_RECIPIENT, &card->serves);
	card->has_delegates = fields_present(&f, SECURITY_DELEGATES_TO);
	fields_identifiers(&f, SECURITY_DELEGATES_TO, OPTIONAL, ID_RECIPIENT, &card->delegates_to);
	card->has_egress = fields_present(&f, SECURITY_EGRESS_ALLOWLIST);
	host_read_patterns(&f, SECURITY_EGRESS_ALLOWLIST, &card->egress_allowlist);
}

/* The endpoints may have any keys.  The values must be objects with a URL. */
static void
agent_card_check_endpoints(Fields *whole)
{
	const JsonbValue *value = fields_object(whole, CARD_ENDPOINTS, OPTIONAL);
	DocumentPlace place = fields_place(whole, CARD_ENDPOINTS);
	ProblemList *list = whole->list;
	int			n = value ? JsonContainerSize(value->val.binary.data) : 0;
	int			i;

	if (n > list->limits->max_list)
		place_fault(&place, list, "TOO_MANY",
					"has %d fields; the limit is %d (setting clutch.max_list).",
					n, list->limits->max_list);
	for (i = 0; i < n && n <= list->limits->max_list; i++)
	{
		DocumentPlace one = {&place, value_key_at(value->val.binary.data, i)};
		DocumentPlace at;
		JsonbValue	endpoint;
		Fields		f;
		Slice		url;

		value_at(value->val.binary.data, i, &endpoint);
		if (!fields_open(&f, &endpoint_fields, &endpoint, &one, list))
			continue;
		at = fields_place(&f, 0);
		url = fields_text(&f, 0, REQUIRED, TEXT_STRING);
		if (slice_present(url) && !uri_is_plausible(url))
			place_fault(&at, list, "WRONG_FORMAT",
						"is %s; it must be a URL, like \"http://ken:8080/a2a\".",
						place_quote(url));
	}
}

/* ---------------------------------------------------------------- the card */

void
agent_card_read(const JsonbValue *doc, const char *base, bool partial,
				AgentCard *card, ProblemList *list)
{
	DocumentPlace place = {.base = base};
	Presence	presence = partial ? OPTIONAL : REQUIRED;
	Fields		f;

	memset(card, 0, sizeof(*card));
	card->max_concurrency = 1;
	card->max_amount = AMOUNT_NO_LIMIT;
	card->retry = RETRY_POLICY_UNSAID;
	card->heartbeat_sec = -1;
	card->sandbox = true;
	card->network = NETWORK_NONE;
	if (!fields_open(&f, &card_fields, doc, &place, list))
		return;

	(void) fields_word(&f, CARD_V, presence, card_versions);
	card->agent_id = fields_identifier(&f, CARD_AGENT_ID, REQUIRED, ID_AGENT);
	agent_card_check_display(&f);
	agent_card_check_endpoints(&f);
	agent_card_read_capabilities(&f, presence, card);
	card->says_limits = !partial || fields_present(&f, CARD_LIMITS);
	agent_card_read_limits(&f, card);
	card->says_security = !partial || fields_present(&f, CARD_SECURITY);
	agent_card_read_security(&f, card);
	fields_identifiers(&f, CARD_GROUPS, OPTIONAL, ID_GROUP, &card->groups);
	fields_identifiers(&f, CARD_SCOPES, OPTIONAL, ID_GROUP, &card->scopes);
	(void) fields_text(&f, CARD_MODEL, OPTIONAL, TEXT_ID);
	(void) fields_object(&f, CARD_META, OPTIONAL);
}
