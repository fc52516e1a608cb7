/*-------------------------------------------------------------------------
 *
 * rule_emit.c
 *	  The requests that rules add to events.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "protocol/identifier.h"
#include "protocol/place.h"
#include "protocol/template.h"
#include "protocol/value.h"
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
rule_emit_member_is(const JsonbValue *value, EmitMember kind)
{
	/* what a path finds is checked when the request that is made of it is admitted */
	if (value->type == jbvString && value->val.string.len > 0 && value->val.string.val[0] == '$' &&
		kind != EMIT_FLAG)
		return true;
	switch (kind)
	{
		case EMIT_PATH:
		case EMIT_RECIPIENT:
		case EMIT_TEXT:
			return value->type == jbvString;
		case EMIT_FLAG:
			return value->type == jbvBool;
		case EMIT_TEXTS:
			return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
		case EMIT_OBJECT:
			return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);
	}
	pg_unreachable();
}

static void
rule_check_emit_recipient(Slice to, const char *path, ProblemList *faults)
{
	bool		is_group = slice_starts(to, SLICE_OF("group:"));
	const char *requirement;
	const char *code = slice_equal(to, SLICE_OF("matched")) || slice_starts(to, SLICE_OF("$")) ? NULL :
		identifier_fault(is_group ? ID_GROUP : ID_AGENT, to, &requirement);

	if (code != NULL)
		problem_add(faults, path, code, "%s is neither an agent nor a group, nor \"matched\".",
					place_quote(to));
}

static void
rule_check_emit_member(Slice key, JsonbValue *value, ProblemList *faults)
{
	char	   *path = problem_path("/emit", key.s, key.len);
	Slice		text = {value->val.string.val, value->val.string.len};

	for (int i = 0; i < lengthof(emit_members); i++)
	{
		if (!slice_equal(key, slice_of_cstring(emit_members[i].name)))
			continue;
		if (!rule_emit_member_is(value, emit_members[i].kind))
			problem_add(faults, path, "WRONG_TYPE", "\"%s\" is of the wrong type.", emit_members[i].name);
		else if (emit_members[i].kind == EMIT_RECIPIENT)
			rule_check_emit_recipient(text, path, faults);
		else if (emit_members[i].kind == EMIT_PATH && path_parse(text).has_variable)
			problem_add(faults, path, "WRONG_VALUE", "A path must not name a variable: write the value itself.");
		else
			template_check(value, path, faults);
		return;
	}
	problem_add(faults, path, "UNKNOWN_FIELD",
				"\"emit\" has no member %s; it has each, to, opt_in, domain, payload_type, schema_ref, requires, prefers, payload and meta.",
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
		if (matches[i].rule->emit != NULL)
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

static bool
rule_list_has(const SliceList *list, Slice text)
{
	for (int i = 0; i < list->n; i++)
		if (slice_equal(list->items[i], text))
			return true;
	return false;
}

SliceList
rule_list_recipients(const Envelope *envelope, Slice scope)
{
	const RuleSet *set = rule_set_get();
	SliceList	list = {0, NULL};
	RuleMatch  *matches;
	int			n = set == NULL ? 0 : rule_list_matches(set, envelope, scope, &matches);

	list.items = palloc(sizeof(Slice) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		Slice		send_to = matches[i].rule->send_to;

		if (slice_present(send_to) && (list.n == 0 || matches[i].nwords > 0) &&
			!rule_list_has(&list, send_to))
			list.items[list.n++] = slice_copy(send_to);
	}
	return list;
}
