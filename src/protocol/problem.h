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
 * Everything is palloc'd in the current context.  Nothing here raises, but
 * problem_raise and problem_refuse, which do nothing else.
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
 * One ERROR for a single fault that is no matter of form: the task's state,
 * a right, a key used twice.  DETAIL has the same shape as above.
 */
pg_noreturn extern void problem_refuse(int sqlstate, const char *path, const char *code,
									   const char *hint, const char *format,...)
			pg_attribute_printf(5, 6);

#endif							/* CLUTCH_PROBLEM_H */
