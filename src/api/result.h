/*-------------------------------------------------------------------------
 *
 * result.h
 *	  Arguments and result rows of the SQL-callable functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RESULT_H
#define CLUTCH_RESULT_H

#include "fmgr.h"
#include "store/event.h"

/*
 * Arguments.  Errors name the argument: 22004 if it is NULL and must not be,
 * 22023 if it is out of range.
 */

/*
 * Is the n-th argument NULL?  Unlike PG_ARGISNULL, this may be asked for an
 * argument that the function has got in a later version: until ALTER EXTENSION
 * UPDATE, the declaration of the older version calls it without that argument.
 */
static inline bool
argument_is_null(FunctionCallInfo fcinfo, int n)
{
	return n >= PG_NARGS() || PG_ARGISNULL(n);
}

/* Raises an error if the n-th argument is NULL. */
extern void argument_require(FunctionCallInfo fcinfo, int n, const char *name);

/* The same, and return it. */
extern Slice argument_text(FunctionCallInfo fcinfo, int n, const char *name);
extern Jsonb *argument_jsonb(FunctionCallInfo fcinfo, int n, const char *name);
extern bytea *argument_bytes(FunctionCallInfo fcinfo, int n, const char *name);
extern int64 argument_int8(FunctionCallInfo fcinfo, int n, const char *name);

/* Return it, or an absent Slice or NULL if the argument is NULL. */
extern Slice argument_optional_text(FunctionCallInfo fcinfo, int n);
extern Jsonb *argument_optional_jsonb(FunctionCallInfo fcinfo, int n);

/*
 * Returns a document from outside, which must not be NULL.  It must obey the limits on envelopes,
 * because most of it will be in one; otherwise KL014 is raised.
 */
extern Jsonb *argument_foreign(FunctionCallInfo fcinfo, int n, const char *name);
/* Checks that it obeys these limits. */
extern void argument_check_limits(Jsonb *document, const char *name, const Limits *limits);

/*
 * Returns a number that must be between 1 and "most", or "otherwise" if the
 * argument is NULL.  The hint may be NULL.
 */
extern int	argument_count(FunctionCallInfo fcinfo, int n, const char *name, int otherwise, int most, const char *hint);

/* Returns a name, which must have between 1 and "most" bytes. */
extern Slice argument_name(FunctionCallInfo fcinfo, int n, const char *name, int most);

/*
 * Returns the argument "reason", which has at most clutch.max_string_bytes, or
 * an absent Slice if it is NULL.
 */
extern Slice argument_reason(FunctionCallInfo fcinfo, int n);

/*
 * Returns an interval, which must be more than zero and at most a year, in
 * microseconds.
 */
extern int64 argument_duration(FunctionCallInfo fcinfo, int n, const char *name);

/* Returns 0 if the argument is NULL; otherwise it must be at least 1. */
extern int	argument_attempt(FunctionCallInfo fcinfo, int n);

/* Raises an error unless the function is called as a trigger. */
extern void argument_require_trigger(FunctionCallInfo fcinfo, const char *function);

/*
 * Returns the type of the rows that the function returns, as heap_form_tuple
 * needs it.  Raises an error if the caller cannot take a row.
 */
extern TupleDesc result_row_type(FunctionCallInfo fcinfo);

/* Returns a clutch.receipt as a row. */
extern Datum result_receipt(FunctionCallInfo fcinfo, Receipt receipt);

/*
 * Begins the result of a set-returning function; the functions below add rows
 * to it.
 */
extern void result_begin_rows(FunctionCallInfo fcinfo);
extern void result_put_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls);
extern void result_put_receipt(FunctionCallInfo fcinfo, Receipt receipt);

/*
 * Adds all rows of the result of a function that returns faults: path, code,
 * message.
 */
extern void result_put_problems(FunctionCallInfo fcinfo, const ProblemList *list);

/*
 * Set a column of a row, counted from 0.  The column is NULL if the value is
 * absent, NULL or 0.
 */
extern void result_text(Datum *values, bool *nulls, int column, Slice value);
extern void result_timestamp(Datum *values, bool *nulls, int column, TimestampTz value);
extern void result_int8(Datum *values, bool *nulls, int column, int64 value);
extern void result_jsonb(Datum *values, bool *nulls, int column, Jsonb *value);

#endif							/* CLUTCH_RESULT_H */
