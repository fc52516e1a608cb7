/*-------------------------------------------------------------------------
 *
 * result.h
 *	  What the SQL-callable functions have in common: arguments and rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_RESULT_H
#define CLUTCH_RESULT_H

#include "fmgr.h"
#include "store/event.h"

/* a text argument; 22004 with its name when NULL */
extern Slice argument_text(FunctionCallInfo fcinfo, int n, const char *name);
/* the same, absent when NULL */
extern Slice argument_optional_text(FunctionCallInfo fcinfo, int n);
extern Jsonb *argument_jsonb(FunctionCallInfo fcinfo, int n, const char *name);
/* a length of time in microseconds; 22023 unless it is longer than none */
extern int64 argument_duration(FunctionCallInfo fcinfo, int n, const char *name);
/* 0 when NULL; 22023 below 1 */
extern int	argument_attempt(FunctionCallInfo fcinfo, int n);

/* a clutch.receipt, as a row */
extern Datum result_receipt(FunctionCallInfo fcinfo, Receipt receipt);

/* rows of a set-returning function */
extern void result_begin_rows(FunctionCallInfo fcinfo);
extern void result_put_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls);
extern void result_put_receipt(FunctionCallInfo fcinfo, Receipt receipt);

/* one column of a row, counted from 0: NULL when absent, or 0 */
extern void result_text(Datum *values, bool *nulls, int column, Slice value);
extern void result_timestamp(Datum *values, bool *nulls, int column, TimestampTz value);
extern void result_int8(Datum *values, bool *nulls, int column, int64 value);
extern void result_jsonb(Datum *values, bool *nulls, int column, Jsonb *value);

#endif							/* CLUTCH_RESULT_H */
