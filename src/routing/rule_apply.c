/*-------------------------------------------------------------------------
 *
 * rule_apply.c
 *	  Adding to a request what the rules that fit it say.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "miscadmin.h"
#include "protocol/problem.h"
#include "routing/rule_part.h"
#include "store/event.h"

/*
 * Appends elements that are not there yet.  This makes a new array, because
 * the old one may belong to the envelope.
 */
static void
rule_append(SliceList *list, const SliceList *more)
{
	SliceList	all = {list->n, palloc(sizeof(Slice) * (list->n + more->n))};

	if (list->n > 0)
		memcpy(all.items, list->items, sizeof(Slice) * list->n);
	for (int i = 0; i < more->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!slices_have(all, more->items[i]))
			all.items[all.n++] = more->items[i];
	}
	*list = all;
}

/* Notes which agents a rule excludes.  Returns false if it excludes none. */
static bool
rule_exclude(const Rule *rule, const Envelope *envelope, bool is_sent, AppliedRule *applied)
{
	Slice		send_to = rule->send_to;

	applied->unlike = path_first_text(&rule->other_model_than, envelope->doc);
	if (slice_present(send_to) && !is_sent)
	{
		applied->sends = true;
		applied->only = slices_copy((SliceList) {1, &send_to});
	}
	else if (rule->restrict_to.n > 0)
		applied->only = slices_copy(rule->restrict_to);
	return applied->only.n > 0 || slice_present(applied->unlike);
}

/*
 * Applies a rule.  Returns false if it has no effect, because earlier rules
 * have already decided everything that it would decide.
 */
static bool
rule_apply(const Rule *rule, const Envelope *envelope, bool is_sent, Requirement *requirement)
{
	AppliedRule *applied = &requirement->rules[requirement->nrules];
	/*
	 * this rule names another agent than the earlier rule that decides where
	 * the request goes, so what it says about the agent's capabilities is not
	 * meant for that one
	 */
	bool		is_other = is_sent && slice_present(rule->send_to);
	SliceList	requires = is_other ? (SliceList) {0, NULL} : slices_copy(rule->requires);
	bool		sets_priority = rule->priority >= 0 && requirement->priority < 0;
	bool		excludes;
	SliceList	prefers;

	memset(applied, 0, sizeof(*applied));
	excludes = rule_exclude(rule, envelope, is_sent, applied);
	if (!excludes && !sets_priority && requires.n == 0 && rule->prefers.n == 0 &&
		rule->emit == NULL)
		return false;
	applied->name = slice_copy(rule->name);
	applied->shares = rule->shares;
	applied->requires = requires;
	rule_append(&requirement->requires, &applied->requires);
	prefers = slices_copy(rule->prefers);
	rule_append(&requirement->prefers, &prefers);
	if (sets_priority)
		requirement->priority = rule->priority;
	requirement->nrules++;
	return true;
}

/* Has the rule been noted already, with the same effect? */
static bool
rule_is_applied(const Rule *rule, const AppliedRule *applied, const Requirement *requirement)
{
	for (int i = 0; i < requirement->nrules; i++)
		if (slice_equal(requirement->rules[i].name, rule->name) &&
			slice_equal(requirement->rules[i].unlike, applied->unlike))
			return true;
	return false;
}

/*
 * Applies a rule to a request that a rule has made for a group.  The request
 * stays with that group, whatever other rules make of its words.  They can
 * only exclude members.
 */
static void
rule_apply_to_addressed(const Rule *rule, const Envelope *envelope, Requirement *requirement)
{
	AppliedRule *applied = &requirement->rules[requirement->nrules];

	memset(applied, 0, sizeof(*applied));
	if (!rule_exclude(rule, envelope, true, applied) || rule_is_applied(rule, applied, requirement))
		return;
	applied->name = slice_copy(rule->name);
	requirement->nrules++;
}

/*
 * Reads the request that a rule has shared out, if this one is a child of it.
 */
static bool
rule_read_shared(const Envelope *child, Envelope *request)
{
	JsonbContainer *notes = requirement_rule_notes(child);
	bool		is_shared = false;
	Jsonb	   *document;

	if (!slice_present(child->run_id) || !document_get_bool(notes, "shared", &is_shared) || !is_shared)
		return false;
	document = event_read_of_run(document_get_text(notes, "event"), child->run_id, ROWS_LATEST);
	if (document == NULL)
		return false;
	envelope_read_admitted(document, request, problem_list());
	return true;
}

/*
 * Rules that exclude agents from a request that was shared out exclude them
 * from its children, too, whose payloads are made by a rule's template.
 */
static void
rule_requirement_of_addressed(const Envelope *envelope, Slice scope, Requirement *requirement)
{
	Envelope	request;
	bool		is_shared = rule_read_shared(envelope, &request);
	const RuleSet *set = rule_set_get();
	RuleMatch  *matches;
	RuleMatch  *of_request;
	int			n = set == NULL ? 0 : rule_list_matches(set, envelope, scope, &matches);
	int			nof_request = set == NULL || !is_shared ? 0 : rule_list_matches(set, &request, scope, &of_request);

	requirement->rules = palloc(sizeof(AppliedRule) * Max(n + nof_request, 1));
	for (int i = 0; i < nof_request; i++)
		rule_apply_to_addressed(of_request[i].rule, &request, requirement);
	for (int i = 0; i < n; i++)
		rule_apply_to_addressed(matches[i].rule, envelope, requirement);
}

void
rule_requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement)
{
	const RuleSet *set = rule_set_get();
	RuleMatch  *matches;
	bool		is_sent = false;
	int			n;

	requirement_of(envelope, scope, requirement);
	if (set == NULL || !set->routes || requirement_is_direct(requirement))
		return;
	if (requirement->groups.n > 0 && requirement_rule_notes(envelope) != NULL)
	{
		rule_requirement_of_addressed(envelope, scope, requirement);
		return;
	}
	n = rule_list_matches(set, envelope, scope, &matches);
	if (n == 0)
		return;
	requirement->rules = palloc(sizeof(AppliedRule) * n);
	for (int i = 0; i < n; i++)
		if (rule_apply(matches[i].rule, envelope, is_sent, requirement))
			is_sent = is_sent || requirement->rules[requirement->nrules - 1].sends;
}
