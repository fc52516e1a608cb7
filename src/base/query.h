/*-------------------------------------------------------------------------
 *
 * query.h
 *	  The only SPI: statements whose plan is kept.
 *
 * For what must go through the executor (the log's own door) or is too rare
 * to deserve better.  Statements here name every object with its schema and
 * use no operator, or pin the search_path: they may run as the extension's
 * owner under anybody's search_path.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUERY_H
#define CLUTCH_QUERY_H

#include "clutch.h"

#define QUERY_MAX_ARGUMENTS	4

/* make it static: the plan lives as long as the backend */
typedef struct QueryPlan
{
	const char *sql;
	int			narguments;
	Oid			types[QUERY_MAX_ARGUMENTS];
	struct _SPI_plan *plan;		/* NULL until first used */
} QueryPlan;

/* runs it for its effect; nulls as in SPI, or NULL.  The number of rows. */
extern uint64 query_execute(QueryPlan *plan, Datum *arguments, const char *nulls);

#endif							/* CLUTCH_QUERY_H */
