/*-------------------------------------------------------------------------
 *
 * rule_read.c
 *	  Reading and checking a row of clutch.routing_rule.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "protocol/identifier.h"
#include "protocol/limits.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "protocol/template.h"
#include "routing/phrase.h"
#include "routing/rule_part.h"
#include "semver/version_range.h"
#include "settings.h"
#include "utils/array.h"

/* limits for a name, in bytes, and for the length of a list */
#define MOST_NAME_BYTES		128
#define MOST_ELEMENTS		LIMITS_PHRASES

/* as in meta.clutch.priority, where 0 is the least urgent */
#define MOST_PRIORITY		4

/* ------------------------------------------------------------------- texts */

static Slice
rule_read_text(const Datum *values, const bool *nulls, int attno)
{
	Slice		text = column_text(values, nulls, attno);

	return slice_present(text) ? slice_copy(text) : text;
}

static SliceList
rule_read_texts(const Datum *values, const bool *nulls, int attno, const char *path,
				ProblemList *faults)
{
	SliceList	list = column_texts(values, nulls, attno);

	for (int i = 0; i < list.n; i++)
		list.items[i] = slice_copy(list.items[i]);
	if (nulls[attno - 1])
		return list;
	if (array_contains_nulls(DatumGetArrayTypeP(values[attno - 1])))
		problem_add(faults, path, "NULL_VALUE", "An element of the list is null.");
	else if (list.n == 0)
		problem_add(faults, path, "EMPTY", "The list is empty; leave it null.");
	else if (list.n > MOST_ELEMENTS)
		problem_add(faults, path, "TOO_LONG", "The list has %d elements; at most %d are allowed.",
					list.n, MOST_ELEMENTS);
	return list;
}

/* Checks that the text is the ID of an agent or a group, which can get requests. */
static void
rule_check_recipient(Slice text, const char *path, ProblemList *faults)
{
	bool		is_group = slice_starts(text, SLICE_OF("group:"));

	if (slice_is(text, "group:*"))
		problem_add(faults, path, "WRONG_VALUE",
					"%s stands for everybody, and cannot get requests; a rule that names nobody leaves the choice open.",
					place_quote(text));
	else
		identifier_check(is_group ? ID_GROUP : ID_AGENT, text, path, faults);
}

/*
 * Checks an entry of "requires" or "prefers" in the same way as that of a
 * request.
 */
static void
rule_check_capability(Slice entry, const char *path, ProblemList *faults)
{
	Slice		id;
	Slice		range;

	identifier_split_version(entry, &id, &range);
	if (slice_starts(entry, SLICE_OF("tag:")) || slice_starts(entry, SLICE_OF("domain:")))
	{
		id = entry;
		range = SLICE_NONE;
	}
	identifier_check(ID_CAPABILITY, id, path, faults);
	if (slice_present(range) && (range.len == 0 || !version_range_valid(range)))
		problem_add(faults, path, "WRONG_FORMAT",
					"%s is not valid: a version or a range, like \"^1.0\", must follow the @.",
					place_quote(entry));
}

/* A model, which only "prefers" may name, has no version. */
static void
rule_check_preference(Slice entry, const char *path, ProblemList *faults)
{
	if (slice_starts(entry, SLICE_OF("model:")))
		identifier_check(ID_CAPABILITY, entry, path, faults);
	else
		rule_check_capability(entry, path, faults);
}

static void
rule_check_phrase(Slice text, const char *path, ProblemList *faults)
{
	if (text.len > LIMITS_PHRASE_BYTES)
		problem_add(faults, path, "TOO_LONG", "The phrase has %d bytes; at most %d are allowed.",
					text.len, LIMITS_PHRASE_BYTES);
	else if (phrase_count_words(text) == 0)
		problem_add(faults, path, "EMPTY", "%s has no word, which consists of letters or digits.",
					place_quote(text));
}

typedef void (*RuleCheckText) (Slice text, const char *path, ProblemList *faults);

static SliceList
rule_read_checked(const Datum *values, const bool *nulls, int attno, const char *path,
				  RuleCheckText check, ProblemList *faults)
{
	SliceList	list = rule_read_texts(values, nulls, attno, path, faults);

	for (int i = 0; i < Min(list.n, MOST_ELEMENTS); i++)
		check(list.items[i], problem_path_index(path, i), faults);
	return list;
}

/* -------------------------------------------------------------- conditions */

static void
rule_read_name(Rule *rule, ProblemList *faults)
{
	if (rule->name.len == 0)
		problem_add(faults, "/name", "EMPTY", "A rule needs a name.");
	else if (rule->name.len > MOST_NAME_BYTES)
		problem_add(faults, "/name", "TOO_LONG", "The name has %d bytes; at most %d are allowed.",
					rule->name.len, MOST_NAME_BYTES);
	else if (identifier_find_control(rule->name) >= 0)
		problem_add(faults, "/name", "CONTROL_CHARACTER", "The name has a control character.");
}

static void
rule_read_type(Slice type, Rule *rule, ProblemList *faults)
{
	MessageType nearest;

	rule->type = MSG_UNKNOWN;
	if (!slice_present(type))
	{
		problem_add(faults, "/type", "REQUIRED", "A rule concerns envelopes of one type.");
		return;
	}
	rule->type = message_type_parse(type);
	nearest = message_type_nearest(type);
	if (rule->type != MSG_UNKNOWN && message_type_is_internal(rule->type))
		problem_add(faults, "/type", "NOT_ALLOWED",
					"%s is written by the database only; rules concern what agents send.", place_quote(type));
	if (rule->type != MSG_UNKNOWN)
		return;
	if (nearest != MSG_UNKNOWN)
		problem_add(faults, "/type", "UNKNOWN_TYPE",
					"There is no message type %s; perhaps you meant \"%s\".",
					place_quote(type), message_type_name(nearest));
	else
		problem_add(faults, "/type", "UNKNOWN_TYPE", "There is no message type %s: the types are %s.",
					place_quote(type), message_type_list());
}

static DocumentPath
rule_read_path(Slice text, const char *place, ProblemList *faults)
{
	DocumentPath path = {0};

	if (slice_present(text))
		template_read_path(text, place, faults, &path);
	return path;
}

static void
rule_read_conditions(const Datum *values, const bool *nulls, Rule *rule, ProblemList *faults)
{
	rule_read_type(column_text(values, nulls, Anum_routing_rule_type), rule, faults);
	rule->scope = rule_read_text(values, nulls, Anum_routing_rule_scope);
	if (slice_present(rule->scope))
		identifier_check(ID_GROUP, rule->scope, "/scope", faults);
	rule->phrases = rule_read_checked(values, nulls, Anum_routing_rule_words, "/words",
									  rule_check_phrase, faults);
	rule->path = rule_read_path(column_text(values, nulls, Anum_routing_rule_path), "/path", faults);
}

/* ----------------------------------------------------------------- effects */

static void
rule_check_effects(const Rule *rule, ProblemList *faults)
{
	bool		routes = rule->requires.n > 0 || rule->prefers.n > 0 || rule->restrict_to.n > 0 ||
		slice_present(rule->send_to) || rule->other_model_than.jsonpath != NULL ||
		rule->priority >= 0;

	if (!routes && rule->emit == NULL)
		problem_add(faults, "", "REQUIRED",
					"The rule has no effect; set requires, prefers, restrict_to, send_to, other_model_than, priority or emit.");
	if (routes && rule->type != MSG_TASK_REQUEST && rule->type != MSG_UNKNOWN)
		problem_add(faults, "/type", "NOT_ALLOWED",
					"Only a task.request is routed; a rule for another type can only emit.");
	if (rule->shares && rule->type != MSG_TASK_REQUEST && rule->type != MSG_UNKNOWN)
		problem_add(faults, "/emit/to", "NOT_ALLOWED",
					"Only a rule for task.request can emit to \"matched\".");
	if (slice_present(rule->send_to) && rule->restrict_to.n > 0)
		problem_add(faults, "/restrict_to", "NOT_ALLOWED",
					"A rule that sets send_to cannot restrict the request as well.");
}

static void
rule_read_effects(const Datum *values, const bool *nulls, Rule *rule, ProblemList *faults)
{
	rule->requires = rule_read_checked(values, nulls, Anum_routing_rule_requires, "/requires",
									   rule_check_capability, faults);
	rule->prefers = rule_read_checked(values, nulls, Anum_routing_rule_prefers, "/prefers",
									  rule_check_preference, faults);
	rule->restrict_to = rule_read_checked(values, nulls, Anum_routing_rule_restrict_to, "/restrict_to",
										  rule_check_recipient, faults);
	rule->send_to = rule_read_text(values, nulls, Anum_routing_rule_send_to);
	if (slice_present(rule->send_to))
		rule_check_recipient(rule->send_to, "/send_to", faults);
	rule->other_model_than = rule_read_path(column_text(values, nulls, Anum_routing_rule_other_model_than),
											"/other_model_than", faults);
	rule->priority = nulls[Anum_routing_rule_priority - 1] ? -1 :
		DatumGetInt32(values[Anum_routing_rule_priority - 1]);
	if (rule->priority > MOST_PRIORITY || (rule->priority < 0 && !nulls[Anum_routing_rule_priority - 1]))
		problem_add(faults, "/priority", "NUMBER_OUT_OF_RANGE",
					"The priority is %d; it must be between 0 and %d.", rule->priority, MOST_PRIORITY);
	if (!nulls[Anum_routing_rule_emit - 1])
	{
		rule->emit = DatumGetJsonbPCopy(values[Anum_routing_rule_emit - 1]);
		rule_check_emit(rule->emit, faults);
		rule->shares = rule_emit_shares(rule->emit);
	}
	rule_check_effects(rule, faults);
}

void
rule_read(const Datum *values, const bool *nulls, Rule *rule, ProblemList *faults)
{
	memset(rule, 0, sizeof(*rule));
	rule->name = rule_read_text(values, nulls, Anum_routing_rule_name);
	if (nulls[Anum_routing_rule_place - 1])
		problem_add(faults, "/place", "REQUIRED", "A rule needs a place; rules apply in the order of this number.");
	else
		rule->place = DatumGetInt32(values[Anum_routing_rule_place - 1]);
	rule_read_name(rule, faults);
	rule_read_conditions(values, nulls, rule, faults);
	rule_read_effects(values, nulls, rule, faults);
}

/*
 * Checks that the agent is not the orchestrator, which does no work, so the
 * request would wait for ever.  This depends on a setting, so it is no reason
 * to skip a rule that exists.
 */
static void
rule_check_does_work(Slice agent_id, const char *path, ProblemList *faults)
{
	if (slice_present(agent_id) && slice_is(agent_id, clutch_orchestrator))
		problem_add(faults, path, "NOT_ALLOWED",
					"%s is the orchestrator (setting clutch.orchestrator), which does no work; a rule that names nobody leaves the choice open.",
					place_quote(agent_id));
}

void
rule_check(const Datum *values, const bool *nulls)
{
	ProblemList *faults = problem_list();
	Rule		rule;

	rule_read(values, nulls, &rule, faults);
	rule_check_does_work(rule.send_to, "/send_to", faults);
	for (int i = 0; i < rule.restrict_to.n; i++)
		rule_check_does_work(rule.restrict_to.items[i], problem_path_index("/restrict_to", i), faults);
	if (faults->n > 0)
		problem_raise(faults, ERRCODE_INVALID_PARAMETER_VALUE,
					  psprintf("routing rule %s", place_quote(rule.name)));
}
