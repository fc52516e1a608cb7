/*-------------------------------------------------------------------------
 *
 * children.h
 *	  How the children of a task stand, for a parent that waits for them.
 *
 * There are two kinds of groups: the children that are joined (flow/join.h), and
 * all children of a suspended task (flow/suspend.h).  They are judged alike.
 *
 * Children are read with a dirty snapshot.  One that another transaction is
 * inserting or changing is in doubt; if the verdict depends on it, whoever asked
 * has to ask again later.  One that is certainly open will ask itself when it
 * ends.
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
	bool		joined_only;	/* meta.clutch.join: only those whose requests, or root, ask for it */
	int64		after_seq;		/* only those that were requested later */
} ChildGroup;

typedef struct ChildCount
{
	int			open;
	int			completed;
	int			ended;			/* in another way */
	int			in_doubt;		/* another transaction is changing these */
	List	   *listed;			/* the first hundred: see children_put */
} ChildCount;

typedef enum ChildVerdict
{
	CHILDREN_UNDECIDED,
	CHILDREN_IN_DOUBT,			/* it depends on open transactions */
	CHILDREN_MET,
	CHILDREN_MISSED				/* it cannot be met any more */
} ChildVerdict;

/*
 * Is there a child that is certainly open?  Every child that ends asks this, so
 * not all of them are read each time: those that were requested last are usually
 * the last to end.
 */
extern bool children_any_is_certainly_open(const ChildGroup *group);

/* ids of those that are not over and less urgent than that; a List of Slice * */
extern List *children_list_less_urgent(const ChildGroup *group, int priority);

extern ChildCount children_count(const ChildGroup *group);

/*
 * wanted is JOIN_ALL: all of them are over, or a number of children that are
 * completed.
 */
extern ChildVerdict children_judge(const ChildCount *count, int wanted);

/* into the open object: what is wanted, under that key, and how they stand */
extern void children_put(DocumentBuilder *b, const char *key, const ChildCount *count,
						 int wanted, bool met);

#endif							/* CLUTCH_CHILDREN_H */
