/*-------------------------------------------------------------------------
 *
 * rule_part.h
 *	  A rule as it is remembered, for the files of this noun.
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
	Slice		scope;			/* absent: any */
	SliceList	phrases;		/* phrases, one of which must occur; none: there is no such condition */
	DocumentPath path;			/* which must fit; or none */
	SliceList	requires;
	SliceList	prefers;
	SliceList	restrict_to;	/* agents and groups */
	Slice		send_to;		/* an agent or a group; or absent */
	DocumentPath other_model_than;	/* a path to the name of a model whose agents are excluded; or none */
	int			priority;		/* -1: as the request says */
	Jsonb	   *emit;			/* what is requested beside; or NULL */
} Rule;

/* all rules, in a context of their own */
typedef struct RuleSet
{
	MemoryContext context;
	int			n;
	Rule	   *rules;			/* in the order in which they apply if all words are alike */
	struct RuleIndex *index;
	bool		routes;			/* there are rules for requests */
	uint32		emitting;		/* RULE_TYPE_BIT of the types for which there are rules that emit */
} RuleSet;

#define RULE_TYPE_BIT(type)		(UINT32_C(1) << (type))

/* The rules; NULL, as usual: there are none.  Valid until the next call. */
extern const RuleSet *rule_set_get(void);

typedef struct RuleIndex RuleIndex;

extern RuleIndex *rule_index_make(const RuleSet *set);

/* the rules that an index finds, as places in the set, with the length of the phrase (0: none) */
typedef struct RuleFinds
{
	int			n;
	int			room;
	PhraseFound *items;			/* palloc'd, or NULL */
} RuleFinds;

/* Finds the rules that may fit an envelope, each once, and perhaps others; palloc'd. */
extern void rule_index_find(const RuleSet *set, const Envelope *envelope, RuleFinds *finds);

/* a rule that may fit an envelope, or does */
typedef struct RuleMatch
{
	const Rule *rule;
	int			nwords;			/* words in the phrase by which it was found; 0 if it has no phrase */
} RuleMatch;

/* The rules that fit, in the order in which they apply; palloc'd. */
extern int	rule_list_matches(const RuleSet *set, const Envelope *envelope, Slice scope,
							  RuleMatch **matches);

/* Adds the faults of what a rule emits. */
extern void rule_check_emit(Jsonb *emit, ProblemList *faults);

/*
 * Reads a row and adds its faults to the list.  Everything is copied into the
 * current memory context.
 */
extern void rule_read(const Datum *values, const bool *nulls, Rule *rule, ProblemList *faults);

#endif							/* CLUTCH_RULE_PART_H */
