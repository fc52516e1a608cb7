/*-------------------------------------------------------------------------
 *
 * rule_part.h
 *	  Private declarations of rule: a rule in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RULE_PART_H
#define CLUTCH_RULE_PART_H

#include "base/path.h"
#include "base/rows.h"
#include "protocol/message_type.h"
#include "routing/phrase.h"
#include "routing/rule.h"

/* columns of clutch.routing_rule */
enum
{
	Anum_routing_rule_name = 1,
	Anum_routing_rule_place,
	Anum_routing_rule_type,
	Anum_routing_rule_scope,
	Anum_routing_rule_words,
	Anum_routing_rule_path,
	Anum_routing_rule_requires,
	Anum_routing_rule_prefers,
	Anum_routing_rule_restrict_to,
	Anum_routing_rule_send_to,
	Anum_routing_rule_other_model_than,
	Anum_routing_rule_priority,
	Anum_routing_rule_emit,
	Anum_routing_rule_ruleset,
	Natts_routing_rule = Anum_routing_rule_ruleset
};

ROWS_CHECK_COLUMNS(Natts_routing_rule, ROUTING_RULE);

typedef struct Rule
{
	Slice		name;
	int			place;
	MessageType type;
	Slice		scope;			/* absent means any */
	SliceList	phrases;		/* at least one must occur; if empty, there is
								 * no such condition */
	DocumentPath path;			/* must match; or none */
	SliceList	requires;
	SliceList	prefers;
	SliceList	restrict_to;	/* agents and groups */
	Slice		send_to;		/* an agent or a group; or absent */
	DocumentPath other_model_than;	/* a path to the name of a model whose
									 * agents are excluded; or none */
	int			priority;		/* -1 means that of the request */
	Jsonb	   *emit;			/* the template of the requests to add; or NULL */
	bool		shares;			/* these requests take the place of the
								 * request: one for each agent that is found */
} Rule;

/* all rules, in a memory context of their own */
typedef struct RuleSet
{
	MemoryContext context;
	int			n;
	Rule	   *rules;			/* sorted by place and name */
	struct RuleIndex *index;
	bool		routes;			/* some of them apply to requests */
	uint32		emitting;		/* RULE_TYPE_BIT of each type for which a rule
								 * emits without sharing out */
} RuleSet;

#define RULE_TYPE_BIT(type)		(UINT32_C(1) << (type))

/*
 * Returns all rules, valid until the next call, or NULL if there are none,
 * which is the usual case.
 */
extern const RuleSet *rule_set_get(void);

typedef struct RuleIndex RuleIndex;

extern RuleIndex *rule_index_make(const RuleSet *set);

/*
 * The rules that an index has found: their indexes in the set, with the length
 * of the phrase in words (0 if none).
 */
typedef struct RuleFinds
{
	int			n;
	int			room;
	PhraseFound *items;			/* palloc'd, or NULL */
} RuleFinds;

/*
 * Finds all rules that fit an envelope, each once, and possibly others that do
 * not.  The result is palloc'd.
 */
extern void rule_index_find(const RuleSet *set, const Envelope *envelope, RuleFinds *finds);

/* a rule that fits an envelope */
typedef struct RuleMatch
{
	const Rule *rule;
	int			nwords;			/* number of words in the phrase by which it
								 * was found; 0 if it has no phrase */
} RuleMatch;

/*
 * Returns the number of rules that fit.  *matches is a palloc'd array in the
 * order in which they apply.
 */
extern int	rule_list_matches(const RuleSet *set, const Envelope *envelope, Slice scope,
							  RuleMatch **matches);

/* Adds the faults of the column "emit" to the list. */
extern void rule_check_emit(Jsonb *emit, ProblemList *faults);

/* Is the member "to" of the column "emit" the word "matched"? */
extern bool rule_emit_shares(Jsonb *emit);

/*
 * Reads a row into the current memory context, and adds its faults to the
 * list.
 */
extern void rule_read(const Datum *values, const bool *nulls, Rule *rule, ProblemList *faults);

#endif							/* CLUTCH_RULE_PART_H */
