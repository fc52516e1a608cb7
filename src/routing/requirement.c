/*-------------------------------------------------------------------------
 *
 * requirement.c
 *	  What a task.request requires of the agent that takes it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "routing/requirement.h"

#include "base/crypto.h"
#include "base/document.h"
#include "lib/stringinfo.h"
#include "registry/roster.h"
#include "settings.h"
#include "trust/secret.h"

JsonbContainer *
requirement_rule_notes(const Envelope *envelope)
{
	if (!slice_is(envelope->from_agent, clutch_orchestrator))
		return NULL;
	return document_get_container(document_get_container(&envelope->doc->root, "meta"), "rule");
}

Slice
requirement_sender(const Envelope *envelope)
{
	Slice		asker = document_get_text(requirement_rule_notes(envelope), "sender");

	return slice_present(asker) ? asker : envelope->from_agent;
}

Slice
requirement_added_to(const Envelope *envelope)
{
	JsonbContainer *rule = requirement_rule_notes(envelope);

	return slice_present(document_get_text(rule, "sender")) ? SLICE_NONE : document_get_text(rule, "event");
}

/*
 * The orchestrator routes requests and does not work on them.  As one of
 * several recipients it adds no agent to choose from, and as the only one it
 * leaves the choice open.
 */
void
requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement)
{
	const SliceList *to = &envelope->to_agents;
	int			i;

	memset(requirement, 0, sizeof(*requirement));
	requirement->requires = envelope->requires;
	requirement->prefers = envelope->prefers;
	requirement->policy = envelope->policy;
	requirement->scope = scope;
	requirement->sender = requirement_sender(envelope);
	requirement->added_to = requirement_added_to(envelope);
	requirement->has_after = envelope->orders.after.n > 0;
	requirement->run_id = envelope->run_id;
	requirement->priority = -1;
	requirement->named.items = palloc(to->n * sizeof(Slice));
	requirement->groups.items = palloc(to->n * sizeof(Slice));
	for (i = 0; i < to->n; i++)
	{
		if (slice_is(to->items[i], clutch_orchestrator))
			continue;
		if (slice_starts(to->items[i], SLICE_OF("group:")))
			requirement->groups.items[requirement->groups.n++] = to->items[i];
		else
			requirement->named.items[requirement->named.n++] = to->items[i];
	}
}

/* there is one agent, though it may be named twice */
bool
requirement_is_direct(const Requirement *requirement)
{
	int			i;

	if (requirement->named.n == 0 || requirement->groups.n > 0)
		return false;
	for (i = 1; i < requirement->named.n; i++)
	{
		if (!slice_equal(requirement->named.items[i], requirement->named.items[0]))
			return false;
	}
	return true;
}

static void
requirement_hash_number(CryptoHash *hash, uint64 number)
{
	crypto_hash_add(hash, &number, sizeof(number));
}

/*
 * Adds a text to the hash.  The length goes in first, so that different lists
 * cannot give the same bytes.
 */
static void
requirement_hash_text(CryptoHash *hash, Slice text)
{
	requirement_hash_number(hash, slice_present(text) ? text.len : PG_UINT64_MAX);
	if (text.len > 0)
		crypto_hash_add(hash, text.s, text.len);
}

static void
requirement_hash_list(CryptoHash *hash, const SliceList *list)
{
	requirement_hash_number(hash, list->n);
	for (int i = 0; i < list->n; i++)
		requirement_hash_text(hash, list->items[i]);
}

static void
requirement_hash_policy(CryptoHash *hash, const MessagePolicy *policy)
{
	requirement_hash_number(hash, policy->sandbox);
	requirement_hash_number(hash, policy->network);
	requirement_hash_number(hash, policy->trust);
	requirement_hash_number(hash, policy->has_allowlist);
	if (policy->has_allowlist)
		requirement_hash_list(hash, &policy->tool_allowlist);
	requirement_hash_number(hash, policy->has_egress);
	if (policy->has_egress)
		requirement_hash_list(hash, &policy->egress_allowlist);
}

/*
 * Requests with the same digest wait behind one another, so nobody must be
 * able to make a request that no agent can do with the digest of another one.
 * That is easy with the hashes of hash tables, whatever their seed is.
 */
uint64
requirement_digest(const Requirement *requirement, Slice holder)
{
	CryptoHash	hash;
	uint8		bytes[CRYPTO_HASH_BYTES];
	uint64		digest;

	crypto_hash_begin(&hash);
	requirement_hash_text(&hash, secret_get());
	requirement_hash_list(&hash, &requirement->requires);
	requirement_hash_list(&hash, &requirement->prefers);
	requirement_hash_policy(&hash, &requirement->policy);
	requirement_hash_text(&hash, requirement->scope);
	requirement_hash_list(&hash, &requirement->named);
	requirement_hash_list(&hash, &requirement->groups);
	requirement_hash_number(&hash, requirement->nrules);
	for (int i = 0; i < requirement->nrules; i++)
	{
		requirement_hash_list(&hash, &requirement->rules[i].only);
		requirement_hash_text(&hash, requirement->rules[i].unlike);
	}
	/*
	 * add the sender only where it matters, so that otherwise the requests of
	 * all senders wait together
	 */
	requirement_hash_text(&hash, roster_limits_delegation(roster_get()) ? requirement->sender : SLICE_NONE);
	requirement_hash_text(&hash, holder);
	crypto_hash_end(&hash, bytes);
	memcpy(&digest, bytes, sizeof(digest));
	return digest;
}

/* ------------------------------------------------------------------- rules */

/* For copying into one piece of memory: first the items, then the texts. */
typedef struct RuleCopy
{
	Slice	   *items;
	char	   *texts;
} RuleCopy;

static Slice
requirement_copy_text(RuleCopy *to, Slice text)
{
	Slice		copy = {to->texts, text.len};

	if (!slice_present(text))
		return text;
	memcpy(to->texts, text.s, text.len);
	to->texts += text.len;
	return copy;
}

static SliceList
requirement_copy_list(RuleCopy *to, const SliceList *list)
{
	SliceList	copy = {list->n, to->items};

	for (int i = 0; i < list->n; i++)
		*to->items++ = requirement_copy_text(to, list->items[i]);
	return copy;
}

static Size
requirement_list_bytes(const SliceList *list, int *nitems)
{
	Size		bytes = 0;

	for (int i = 0; i < list->n; i++)
		bytes += list->items[i].len;
	*nitems += list->n;
	return bytes;
}

AppliedRule *
requirement_copy_rules(const Requirement *requirement)
{
	int			nitems = 0;
	Size		bytes = 0;
	AppliedRule *rules;
	RuleCopy	to;

	if (requirement->nrules == 0)
		return NULL;
	for (int i = 0; i < requirement->nrules; i++)
	{
		const AppliedRule *rule = &requirement->rules[i];

		bytes += rule->name.len + rule->unlike.len;
		bytes += requirement_list_bytes(&rule->requires, &nitems);
		bytes += requirement_list_bytes(&rule->only, &nitems);
	}
	rules = palloc(sizeof(AppliedRule) * requirement->nrules + sizeof(Slice) * nitems + bytes);
	to.items = (Slice *) (rules + requirement->nrules);
	to.texts = (char *) (to.items + nitems);
	for (int i = 0; i < requirement->nrules; i++)
	{
		const AppliedRule *rule = &requirement->rules[i];

		rules[i] = *rule;
		rules[i].name = requirement_copy_text(&to, rule->name);
		rules[i].unlike = requirement_copy_text(&to, rule->unlike);
		rules[i].requires = requirement_copy_list(&to, &rule->requires);
		rules[i].only = requirement_copy_list(&to, &rule->only);
	}
	return rules;
}

char *
requirement_rule_names(const Requirement *requirement)
{
	StringInfoData names;

	if (requirement->nrules == 0)
		return NULL;
	initStringInfo(&names);
	for (int i = 0; i < requirement->nrules; i++)
		appendStringInfo(&names, "%s%.*s", i > 0 ? ", " : "",
						 requirement->rules[i].name.len, requirement->rules[i].name.s);
	return names.data;
}
