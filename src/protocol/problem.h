/*-------------------------------------------------------------------------
 *
 * problem.h
 *	  Lists of faults, which show a sender all of them at once.
 *
 * Each fault has a path into the document (RFC 6901: "/from/agent_id", or ""
 * for the whole document), a stable code in capitals ("REQUIRED") and a
 * sentence.  docs/errors.md lists the codes.  At most PROBLEM_MAX faults are
 * kept; the rest are only counted.
 *
 * Everything is palloc'd in the current memory context.  Of the functions
 * here, only problem_raise raises an error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_PROBLEM_H
#define CLUTCH_PROBLEM_H

#include "clutch.h"
#include "compat.h"
#include "settings.h"

#define PROBLEM_MAX		100

typedef struct Problem
{
	char	   *path;
	const char *code;
	char	   *message;
	char	   *schema_path;	/* for a fault of CONTRACT_BROKEN; otherwise
								 * NULL */
	const char *keyword;
} Problem;

/*
 * A reader of a document gets the list together with the limits that it must
 * check.
 */
struct ProblemList
{
	const Limits *limits;
	int			n;
	int			dropped;
	bool		is_cut;			/* there may be more faults, which nobody has
								 * looked for */
	Problem		items[PROBLEM_MAX];
};

/*
 * Returns an empty list, with the limits that the settings impose on senders.
 */
extern ProblemList *problem_list(void);

/*
 * The same for documents that were admitted before.  The settings may have
 * been lowered since, and a field that is not read, such as a list of
 * requirements, would not be obeyed.
 */
extern ProblemList *problem_list_admitted(void);

/*
 * Adds a fault, unless there is one with the same path, code and schema path.
 */
extern void problem_add(ProblemList *list, const char *path, const char *code,
						const char *format,...) pg_attribute_printf(4, 5);

/*
 * Counts a fault for which the list has no room and returns true, or returns
 * false if there is room.  Callers that ask this first do not write out the
 * paths of thousands of faults that nobody will see.
 */
static inline bool
problem_is_beyond(ProblemList *list)
{
	if (list->n < PROBLEM_MAX)
		return false;
	list->dropped++;
	return true;
}

/*
 * Adds a fault of a payload against a schema: the keyword that is violated,
 * and where it is in the schema.
 */
extern void problem_add_broken(ProblemList *list, const char *path, const char *schema_path,
							   const char *keyword, const char *message);

/*
 * Returns the parent's path with "/key" appended, with ~ and / escaped,
 * palloc'd.
 */
extern char *problem_path(const char *parent, const char *key, int keylen);
extern char *problem_path_index(const char *parent, int index);

/*
 * Makes the sentence of a fault fit for the end of a primary message, that is,
 * without capital letter and period.
 */
extern char *problem_clause(const char *sentence);

/*
 * Raises one ERROR for the whole list.  The message names the kind of document
 * ("envelope") and the first fault.  DETAIL is the list as JSON,
 * [{"path":..,"code":..,"message":..}, ...].
 */
pg_noreturn extern void problem_raise(const ProblemList *list, int sqlstate,
									  const char *document);

/*
 * The same, with sentences that are added to the hint, each with a blank
 * before it.
 */
pg_noreturn extern void problem_raise_advised(const ProblemList *list, int sqlstate, const char *document,
											  const char *advice);

/*
 * For use inside ereport: sets the DETAIL to the place and the code of a
 * single fault, [{"path":..,"code":..}].  A place that begins with a slash, or
 * is empty, is a path into the document.  Any other is the name of an argument
 * of the function that was called, and the DETAIL is
 * [{"argument":..,"code":..}].
 *
 *		ereport(ERROR,
 *				(errcode(ERRCODE_CLUTCH_TASK_CONFLICT), errproblem("/task_id",
 *				 "TASK_EXISTS"),
 *				 errmsg(...), errhint(...)));
 */
extern int	errproblem(const char *place, const char *code);

/*
 * The same with additional members of the object as JSON, each preceded by a
 * comma: ", \"limit\": 3".
 */
extern int	errproblem_with(const char *place, const char *code, const char *members);

/*
 * Functions such as clutch.finish build an envelope from their arguments and
 * send it.  Between problem_arguments_begin and problem_arguments_end, a fault
 * in that envelope is reported as a fault of the argument that the value came
 * from; a longer path shows what remains of it, {"argument":.., "path":..}.
 *
 *		static const ProblemArgument arguments[] = {
 *			{"/task_id", "task_id"}, {"/payload", "result"}, {NULL}
 *		};
 *
 * The first entry that the path is equal to, or lies below, decides.  Being an
 * error context, the scope also ends when an error is raised.
 */
typedef struct ProblemArgument
{
	const char *path;
	const char *argument;
} ProblemArgument;

typedef struct ProblemArguments
{
	ErrorContextCallback context;
} ProblemArguments;

extern void problem_arguments_begin(ProblemArguments *scope,
									const ProblemArgument *arguments);
extern void problem_arguments_end(ProblemArguments *scope);

#endif							/* CLUTCH_PROBLEM_H */
