/*-------------------------------------------------------------------------
 *
 * problem.h
 *	  A list of faults, so that a sender hears of all of them at once.
 *
 * Each fault has an RFC 6901 path into the document ("/from/agent_id", ""
 * for the whole), a stable code in capitals ("REQUIRED") and a sentence.
 * The codes are listed in docs/errors.md.  At most PROBLEM_MAX are kept; the
 * rest are counted.
 *
 * Everything is palloc'd in the current context.  Only problem_raise raises.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PROBLEM_H
#define CLUTCH_PROBLEM_H

#include "clutch.h"
#include "compat.h"

#define PROBLEM_MAX		100

typedef struct Problem
{
	char	   *path;
	const char *code;
	char	   *message;
} Problem;

struct ProblemList
{
	int			n;
	int			dropped;
	Problem		items[PROBLEM_MAX];
};

extern ProblemList *problem_list(void);
extern void problem_add(ProblemList *list, const char *path, const char *code,
						const char *format,...) pg_attribute_printf(4, 5);

/* appends "/key" to a path, escaping ~ and / ; palloc'd */
extern char *problem_path(const char *parent, const char *key, int keylen);
extern char *problem_path_index(const char *parent, int index);

/*
 * One ERROR for the whole list: the message names the kind of document
 * ("envelope") and the first fault, DETAIL is the list as JSON,
 * [{"path":..,"code":..,"message":..}, ...], HINT says what to do.
 */
pg_noreturn extern void problem_raise(const ProblemList *list, int sqlstate,
									  const char *document);

/*
 * Inside ereport: where a single fault lies and which one it is, as the DETAIL
 * [{"path":..,"code":..}].  A place that is not a path names an argument of the
 * function that was called, and the DETAIL is [{"argument":..,"code":..}].
 *
 *		ereport(ERROR,
 *				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT),
 *				 errproblem("/task_id", "TASK_EXISTS"),
 *				 errmsg(...), errhint(...)));
 */
extern int	errproblem(const char *place, const char *code);

#endif							/* CLUTCH_PROBLEM_H */
