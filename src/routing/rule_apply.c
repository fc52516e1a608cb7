/*-------------------------------------------------------------------------
 *
 * rule_apply.c
 *	  What the rules that fit a request add to it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "routing/rule_part.h"

static SliceList
rule_copy_list(const SliceList *list)
{
	SliceList	copy = {list->n, palloc(sizeof(Slice) * Max(list->n, 1))};

	for (int i = 0; i < list->n; i++)
		copy.items[i] = slice_copy(list->items[i]);
	return copy;
}

/* Appends elements that are not there yet, to a new array, because the old one may belong to the envelope. */
static void
rule_append(SliceList *list, const SliceList *more)
{
	SliceList	all = {list->n, palloc(sizeof(Slice) * (list->n + more->n))};

	if (list->n > 0)
		memcpy(all.items, list->items, sizeof(Slice) * list->n);
	for (int i = 0; i < more->n; i++)
	{
		bool		is_there = false;

		for (int j = 0; j < all.n && !is_there; j++)
			is_there = slice_equal(all.items[j], more->items[i]);
		if (!is_there)
			all.items[all.n++] = more->items[i];
	}
	*list = all;
}

/* Notes which agents a rule excludes; false: it excludes none. */
static bool
rule_exclude(const Rule *rule, const Envelope *envelope, bool is_sent, AppliedRule *applied)
{
	Slice		send_to = rule->send_to;

	applied->unlike = path_first_text(&rule->other_model_than, envelope->doc);
	if (slice_present(send_to) && !is_sent)
	{
		applied->sends = true;
		applied->only = rule_copy_list(&(SliceList) {1, &send_to});
	}
	else if (rule->restrict_to.n > 0)
		applied->only = rule_copy_list(&rule->restrict_to);
	return applied->only.n > 0 || slice_present(applied->unlike);
}

/* Applies a rule; false: it has no effect, because earlier rules have decided everything that it would. */
static bool
rule_apply(const Rule *rule, const Envelope *envelope, bool is_sent, Requirement *requirement)
{
	AppliedRule *applied = &requirement->rules[requirement->nrules];
	/* what the agent must be capable of to which an earlier rule does not send it */
	bool		is_other = is_sent && slice_present(rule->send_to);
	SliceList	requires = is_other ? (SliceList) {0, NULL} : rule_copy_list(&rule->requires);
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
	prefers = rule_copy_list(&rule->prefers);
	rule_append(&requirement->prefers, &prefers);
	if (sets_priority)
		requirement->priority = rule->priority;
	requirement->nrules++;
	return true;
}

/*
 * Applies a rule to a request that a rule has made for a group.  It is for that group, whatever
 * other rules make of its words; they can only keep it from members.
 */
static void
rule_apply_to_addressed(const Rule *rule, const Envelope *envelope, Requirement *requirement)
{
	AppliedRule *applied = &requirement->rules[requirement->nrules];

	memset(applied, 0, sizeof(*applied));
	if (!rule_exclude(rule, envelope, true, applied))
		return;
	applied->name = slice_copy(rule->name);
	requirement->nrules++;
}

void
rule_requirement_of(const Envelope *envelope, Slice scope, Requirement *requirement)
{
	const RuleSet *set = rule_set_get();
	RuleMatch  *matches;
	bool		is_sent = false;
	bool		is_addressed;
	int			n;

	requirement_of(envelope, scope, requirement);
	if (set == NULL || !set->routes || requirement_is_direct(requirement))
		return;
	is_addressed = requirement->groups.n > 0 && requirement_rule_notes(envelope) != NULL;
	n = rule_list_matches(set, envelope, scope, &matches);
	if (n == 0)
		return;
	requirement->rules = palloc(sizeof(AppliedRule) * n);
	for (int i = 0; i < n; i++)
		if (is_addressed)
			rule_apply_to_addressed(matches[i].rule, envelope, requirement);
		else if (rule_apply(matches[i].rule, envelope, is_sent, requirement))
			is_sent = is_sent || requirement->rules[requirement->nrules - 1].sends;
}
