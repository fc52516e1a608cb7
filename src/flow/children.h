/*-------------------------------------------------------------------------
 *
 * children.h
 *	  Counting and judging the children of a task that waits for them.
 *
 * There are two kinds of groups: children that are joined (flow/join.h), and
 * all children of a suspended task (flow/suspend.h).  They are judged in the
 * same way.
 *
 * Children are read with a dirty snapshot.  A child that another transaction
 * is inserting or changing is in doubt; if the verdict depends on it, the
 * caller must ask again later.  A child that is certainly open causes the
 * question to be asked again when it ends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CHILDREN_H
#define CLUTCH_CHILDREN_H

#include "base/document.h"
#include "task/task.h"

typedef struct ChildGroup
{
	Slice		parent_task_id;
	bool		joined_only;	/* meta.clutch.join: count only children whose
								 * requests, or whose root's request, ask for
								 * it */
	int64		after_seq;		/* count only children that were requested
								 * or revived later */
} ChildGroup;

typedef struct ChildCount
{
	int			open;
	int			completed;
	int			ended;			/* ended in another way */
	int			in_doubt;		/* being changed by another transaction */
	List	   *listed;			/* the first hundred; see children_put */
} ChildCount;

typedef enum ChildVerdict
{
	CHILDREN_UNDECIDED,
	CHILDREN_IN_DOUBT,			/* it depends on open transactions */
	CHILDREN_MET,
	CHILDREN_MISSED				/* it cannot be met any more */
} ChildVerdict;

/*
 * Is there a child that is certainly open?  Every child that ends asks this,
 * so we avoid reading all of them: those that were requested last are usually
 * the last to end.
 */
extern bool children_any_is_certainly_open(const ChildGroup *group);

/*
 * Returns the IDs of the children that are not over and are less urgent than
 * that, as a List of Slice *.
 */
extern List *children_list_less_urgent(const ChildGroup *group, int priority);

extern ChildCount children_count(const ChildGroup *group);

/*
 * Judges.  wanted is JOIN_ALL, which means that all must be over, or a number
 * of children that must be completed.
 */
extern ChildVerdict children_judge(const ChildCount *count, int wanted);

/*
 * Adds to the open object what is wanted, under that key, and the state of the
 * children.
 */
extern void children_put(DocumentBuilder *b, const char *key, const ChildCount *count,
						 int wanted, bool met);

#endif							/* CLUTCH_CHILDREN_H */
