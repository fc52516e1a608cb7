/*-------------------------------------------------------------------------
 *
 * rule_emit.c
 *	  Requests that rules add to events.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "miscadmin.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/template.h"
#include "protocol/value.h"
#include "routing/delegation.h"
#include "routing/filter_agents.h"
#include "routing/rule_part.h"

/* ---------------------------------------------------------------- checking */

typedef enum EmitMember
{
	EMIT_PATH,
	EMIT_RECIPIENT,
	EMIT_FLAG,
	EMIT_TEXT,
	EMIT_TEXTS,
	EMIT_OBJECT
} EmitMember;

static const struct
{
	const char *name;
	EmitMember	kind;
}			emit_members[] = {
	{"each", EMIT_PATH},
	{"where", EMIT_PATH},
	{"to", EMIT_RECIPIENT},
	{"opt_in", EMIT_FLAG},
	{"domain", EMIT_TEXT},
	{"payload_type", EMIT_TEXT},
	{"schema_ref", EMIT_TEXT},
	{"requires", EMIT_TEXTS},
	{"prefers", EMIT_TEXTS},
	{"payload", EMIT_OBJECT},
	{"meta", EMIT_OBJECT},
};

static bool
rule_emit_is_texts(const JsonbValue *value)
{
	JsonbContainer *array = value->type == jbvBinary ? value->val.binary.data : NULL;

	if (array == NULL || !JsonContainerIsArray(array))
		return false;
	for (int i = 0; i < JsonContainerSize(array); i++)
		if (getIthJsonbValueFromContainer(array, i)->type != jbvString)
			return false;
	return true;
}

static bool
rule_emit_member_is(const JsonbValue *value, EmitMember kind)
{
	Slice		text = document_text(value);

	/*
	 * what a path finds is checked when the request that is made from it is
	 * admitted
	 */
	if (text.len > 0 && text.s[0] == '$' && kind != EMIT_FLAG)
		return true;
	switch (kind)
	{
		case EMIT_PATH:
		case EMIT_RECIPIENT:
			return slice_present(text);
		case EMIT_TEXT:
			return text.len > 0;
		case EMIT_FLAG:
			return value->type == jbvBool;
		case EMIT_TEXTS:
			return rule_emit_is_texts(value);
		case EMIT_OBJECT:
			return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);
	}
	pg_unreachable();
}

static const char *
rule_emit_type_name(EmitMember kind)
{
	switch (kind)
	{
		case EMIT_PATH:
			return "a string, which is an SQL/JSON path";
		case EMIT_RECIPIENT:
			return "a string, which names one agent or group";
		case EMIT_TEXT:
			return "a string that is not empty";
		case EMIT_FLAG:
			return "true or false";
		case EMIT_TEXTS:
			return "an array of strings, or the path to one";
		case EMIT_OBJECT:
			return "an object, or the path to one";
	}
	pg_unreachable();
}

static void
rule_check_emit_recipient(Slice to, const char *path, ProblemList *faults)
{
	bool		is_group = slice_starts(to, SLICE_OF("group:"));
	const char *requirement;
	const char *code = slice_is(to, "matched") || slice_starts(to, SLICE_OF("$")) ? NULL :
		identifier_fault(is_group ? ID_GROUP : ID_AGENT, to, &requirement);

	if (code != NULL)
		problem_add(faults, path, code, "%s is neither an agent nor a group, nor \"matched\".",
					place_quote(to));
	else if (slice_is(to, "group:*"))
		problem_add(faults, path, "WRONG_VALUE", "%s stands for everybody, and cannot get requests.",
					place_quote(to));
}

static void
rule_check_emit_member(Slice key, JsonbValue *value, ProblemList *faults)
{
	char	   *path = problem_path("/emit", key.s, key.len);
	Slice		text = document_text(value);
	DocumentPath each;

	for (int i = 0; i < lengthof(emit_members); i++)
	{
		if (!slice_is(key, emit_members[i].name))
			continue;
		if (!rule_emit_member_is(value, emit_members[i].kind))
			problem_add(faults, path, "WRONG_TYPE", "\"%s\" must be %s.", emit_members[i].name,
						rule_emit_type_name(emit_members[i].kind));
		else if (emit_members[i].kind == EMIT_RECIPIENT)
			rule_check_emit_recipient(text, path, faults);
		else if (emit_members[i].kind == EMIT_PATH)
			template_read_path(text, path, faults, &each);
		else
			template_check(value, path, faults);
		return;
	}
	problem_add(faults, path, "UNKNOWN_FIELD",
				"\"emit\" has no member %s; it has each, where, to, opt_in, domain, payload_type, schema_ref, requires, prefers, payload and meta.",
				place_quote(key));
}

void
rule_check_emit(Jsonb *emit, ProblemList *faults)
{
	if (!JB_ROOT_IS_OBJECT(emit))
	{
		problem_add(faults, "/emit", "WRONG_TYPE", "\"emit\" must be an object.");
		return;
	}
	for (int i = 0; i < JsonContainerSize(&emit->root); i++)
	{
		JsonbValue	value;

		value_at(&emit->root, i, &value);
		rule_check_emit_member(value_key_at(&emit->root, i), &value, faults);
	}
	if (document_get(&emit->root, "where", &(JsonbValue) {0}) && !document_get(&emit->root, "each", &(JsonbValue) {0}))
		problem_add(faults, "/emit/where", "NOT_ALLOWED", "\"where\" chooses among the items of \"each\", which is absent.");
	if (rule_emit_shares(emit) && document_get(&emit->root, "each", &(JsonbValue) {0}))
		problem_add(faults, "/emit/each", "NOT_ALLOWED",
					"Each agent that rules find gets one request, so \"each\" cannot be combined with \"to\": \"matched\".");
}

bool
rule_emit_shares(Jsonb *emit)
{
	return JB_ROOT_IS_OBJECT(emit) &&
		slice_is(document_get_text(&emit->root, "to"), "matched");
}

/* ----------------------------------------------------------------- reading */

bool
rule_may_emit(MessageType type)
{
	const RuleSet *set = rule_set_get();

	return set != NULL && (set->emitting & RULE_TYPE_BIT(type)) != 0;
}

List *
rule_list_emitting(const Envelope *envelope, Slice scope)
{
	const RuleSet *set = rule_set_get();
	List	   *names = NIL;
	RuleMatch  *matches;
	int			n = set == NULL ? 0 : rule_list_matches(set, envelope, scope, &matches);

	for (int i = 0; i < n; i++)
		if (matches[i].rule->emit != NULL && !matches[i].rule->shares)
			names = slice_list_add(names, matches[i].rule->name);
	return names;
}

Jsonb *
rule_emit_of(Slice name)
{
	const RuleSet *set = rule_set_get();

	for (int i = 0; set != NULL && i < set->n; i++)
	{
		const Rule *rule = &set->rules[i];

		if (rule->emit != NULL && slice_equal(rule->name, name))
			return DatumGetJsonbPCopy(JsonbPGetDatum(rule->emit));
	}
	return NULL;
}

/*
 * Returns the agents and groups to which rules would send a request, each of
 * them once.  If the request is not shared out, the first one gets it.
 * *found_by holds, for each of them, the name of the first rule that would
 * send it there.
 */
static SliceList
rule_list_recipients(const Envelope *envelope, Slice scope, SliceList *found_by)
{
	const RuleSet *set = rule_set_get();
	SliceList	list = {0, NULL};
	RuleMatch  *matches;
	int			n = set == NULL ? 0 : rule_list_matches(set, envelope, scope, &matches);

	list.items = palloc(sizeof(Slice) * n);
	found_by->items = palloc(sizeof(Slice) * n);
	for (int i = 0; i < n; i++)
	{
		const Rule *rule = matches[i].rule;

		if (!slice_present(rule->send_to) || (list.n > 0 && matches[i].nwords == 0) ||
			slices_have(list, rule->send_to))
			continue;
		found_by->items[list.n] = slice_copy(rule->name);
		list.items[list.n++] = slice_copy(rule->send_to);
	}
	found_by->n = list.n;
	return list;
}

/*
 * Is there nobody in "to" who may get a child?  Those who do not take requests
 * from this sender may not, and neither may those whom other rules exclude
 * from the request.  If an agent or group is not known, the child will wait
 * for it.
 */
static bool
rule_leaves_nobody(const Requirement *requirement, const Roster *roster, Slice to)
{
	AgentSet   *set = filter_agents_of(roster, &(SliceList) {1, &to});
	bool		is_known = agent_set_count(set) > 0;

	delegation_drop(requirement, roster, set);
	for (int i = 0; i < requirement->nrules; i++)
	{
		AppliedRule rule = requirement->rules[i];

		if (rule.sends)
			rule.only.n = 0;
		filter_drop_by_rule(roster, &rule, set);
	}
	return is_known && agent_set_count(set) == 0;
}

static void
rule_drop_refusing(const Requirement *requirement, SliceList *list, SliceList *found_by)
{
	const Roster *roster = roster_get();
	int			n = 0;

	for (int i = 0; i < list->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (rule_leaves_nobody(requirement, roster, list->items[i]))
			continue;
		found_by->items[n] = found_by->items[i];
		list->items[n++] = list->items[i];
	}
	list->n = n;
}

/*
 * Returns the rules that have been applied to the request, followed by those
 * that found the first n recipients.
 */
static SliceList
rule_list_touching(const Requirement *requirement, const SliceList *found_by, int n)
{
	SliceList	list = {0, palloc(sizeof(Slice) * (requirement->nrules + n))};

	for (int i = 0; i < requirement->nrules; i++)
		list.items[list.n++] = requirement->rules[i].name;
	for (int i = 0; i < n; i++)
		if (!slices_have(list, found_by->items[i]))
			list.items[list.n++] = found_by->items[i];
	return list;
}

bool
rule_sharing_of(const Envelope *request, const Requirement *requirement, Sharing *sharing)
{
	SliceList	found_by;
	Slice		first;

	sharing->rule = SLICE_NONE;
	sharing->left_out = 0;
	for (int i = 0; i < requirement->nrules && !slice_present(sharing->rule); i++)
		if (requirement->rules[i].shares)
			sharing->rule = requirement->rules[i].name;
	/* rules add nobody to the recipients that the request names */
	if (!slice_present(sharing->rule) || requirement->named.n > 0 || requirement->groups.n > 0)
		return false;
	sharing->among = rule_list_recipients(request, requirement->scope, &found_by);
	if (sharing->among.n < 2)
		return false;
	first = sharing->among.items[0];
	rule_drop_refusing(requirement, &sharing->among, &found_by);
	sharing->left_out = Max(sharing->among.n - RULE_MOST_REQUESTS, 0);
	sharing->among.n -= sharing->left_out;
	sharing->rules = rule_list_touching(requirement, &found_by, sharing->among.n);
	/*
	 * otherwise the only one is the first one, which gets the request itself
	 */
	return sharing->among.n > 1 || (sharing->among.n == 1 && !slice_equal(sharing->among.items[0], first));
}
