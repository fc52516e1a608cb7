/*-------------------------------------------------------------------------
 *
 * query.h
 *	  The only SPI: statements whose plan is kept.
 *
 * These are for statements that must go through the executor (an INSERT into
 * the log if it has users' triggers), and for rare ones.  A statement may run
 * as the owner of the extension under any search_path.  Therefore it must name
 * the schema of each object, and must use operators only with their schema, or
 * set the search_path.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUERY_H
#define CLUTCH_QUERY_H

#include "clutch.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#define QUERY_MAX_ARGUMENTS	7

/*
 * A QueryPlan must be static, because the plan lives as long as the backend.
 */
typedef struct QueryPlan
{
	const char *sql;
	int			narguments;
	Oid			types[QUERY_MAX_ARGUMENTS];
	struct _SPI_plan *plan;		/* NULL until first used */
} QueryPlan;

/* Runs the statement and returns the number of rows.  No argument may be NULL. */
extern uint64 query_execute(QueryPlan *plan, Datum *arguments);

/*
 * Runs a query that only reads, and that sees what the calling statement sees.
 * Sets *value to the bigint in the first column of its first row.  Returns
 * false if there is no row, or if that column is NULL.
 */
extern bool query_find_int8(QueryPlan *plan, Datum *arguments, int64 *value);

/*
 * Runs a statement, without keeping its plan, as the current role and under
 * its search_path.  Returns copies of the jsonb in the first column of its
 * rows, omitting NULLs.  The arguments are jsonb; there are at most
 * QUERY_MAX_ARGUMENTS.
 */
extern List *query_list_jsonb(const char *sql, Jsonb **arguments, int narguments);

#endif							/* CLUTCH_QUERY_H */
