/*-------------------------------------------------------------------------
 *
 * result.c
 *	  Arguments and result rows of the SQL-callable functions.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/htup_details.h"
#include "api/result.h"
#include "commands/trigger.h"
#include "compat.h"
#include "funcapi.h"
#include "protocol/limits.h"
#include "protocol/problem.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* the columns of clutch.receipt */
#define NATTS_RECEIPT	6

void
argument_require(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (argument_is_null(fcinfo, n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errproblem(name, "NULL_VALUE"),
				 errmsg("argument \"%s\" must not be null", name)));
}

Slice
argument_text(FunctionCallInfo fcinfo, int n, const char *name)
{
	argument_require(fcinfo, n, name);
	return slice_of_text(PG_GETARG_TEXT_PP(n));
}

Slice
argument_optional_text(FunctionCallInfo fcinfo, int n)
{
	return argument_is_null(fcinfo, n) ? SLICE_NONE : slice_of_text(PG_GETARG_TEXT_PP(n));
}

Jsonb *
argument_jsonb(FunctionCallInfo fcinfo, int n, const char *name)
{
	argument_require(fcinfo, n, name);
	return PG_GETARG_JSONB_P(n);
}

Jsonb *
argument_optional_jsonb(FunctionCallInfo fcinfo, int n)
{
	return argument_is_null(fcinfo, n) ? NULL : PG_GETARG_JSONB_P(n);
}

void
argument_check_limits(Jsonb *document, const char *name, const Limits *limits)
{
	const ProblemArgument places[] = {{"", name}, {NULL}};
	ProblemList *list = problem_list();
	ProblemArguments scope;

	list->limits = limits;
	limits_check(document, "", list);
	if (list->n > 0)
	{
		problem_arguments_begin(&scope, places);
		problem_raise(list, ERRCODE_CLUTCH_FOREIGN_INVALID, "document");
	}
}

Jsonb *
argument_foreign(FunctionCallInfo fcinfo, int n, const char *name)
{
	Jsonb	   *document = argument_jsonb(fcinfo, n, name);

	argument_check_limits(document, name, &clutch_limits);
	return document;
}

bytea *
argument_bytes(FunctionCallInfo fcinfo, int n, const char *name)
{
	argument_require(fcinfo, n, name);
	return PG_GETARG_BYTEA_PP(n);
}

int64
argument_int8(FunctionCallInfo fcinfo, int n, const char *name)
{
	argument_require(fcinfo, n, name);
	return PG_GETARG_INT64(n);
}

int
argument_count(FunctionCallInfo fcinfo, int n, const char *name, int otherwise, int most, const char *hint)
{
	int			number;

	if (argument_is_null(fcinfo, n))
		return otherwise;
	number = PG_GETARG_INT32(n);
	if (number < 1 || number > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, "NUMBER_OUT_OF_RANGE"),
				 most == PG_INT32_MAX ?
				 errmsg("argument \"%s\" must be at least 1, not %d", name, number) :
				 errmsg("argument \"%s\" must be between 1 and %d, not %d", name, most, number),
				 hint != NULL ? errhint("%s", hint) : 0));
	return number;
}

Slice
argument_name(FunctionCallInfo fcinfo, int n, const char *name, int most)
{
	Slice		text = argument_text(fcinfo, n, name);

	if (text.len == 0 || text.len > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, text.len == 0 ? "EMPTY" : "TOO_LONG"),
				 errmsg("argument \"%s\" must have between 1 and %d bytes, not %d", name, most, text.len)));
	return text;
}

Slice
argument_reason(FunctionCallInfo fcinfo, int n)
{
	Slice		reason = argument_optional_text(fcinfo, n);

	if (reason.len > clutch_limits.max_string_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("reason", "TOO_LONG"),
				 errmsg("argument \"reason\" has %d bytes; the limit is %d (setting clutch.max_string_bytes)",
						reason.len, clutch_limits.max_string_bytes)));
	return reason;
}

int64
argument_duration(FunctionCallInfo fcinfo, int n, const char *name)
{
	const Interval *interval;
	double		seconds;

	argument_require(fcinfo, n, name);
	interval = PG_GETARG_INTERVAL_P(n);
	seconds = interval->time / 1e6 + (double) interval->day * SECS_PER_DAY +
		(double) interval->month * DAYS_PER_MONTH * SECS_PER_DAY;
	/* a longer lease is certainly a mistake, and might overflow */
	if (seconds <= 0 || seconds > 366.0 * SECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem(name, "NUMBER_OUT_OF_RANGE"),
				 errmsg("argument \"%s\" must be more than zero and at most a year", name),
				 errhint("Pass an interval such as '60 s'.")));
	return (int64) (seconds * 1e6);
}

int
argument_attempt(FunctionCallInfo fcinfo, int n)
{
	return argument_count(fcinfo, n, "attempt", 0, PG_INT32_MAX, "Pass the attempt that clutch.claim returned, or NULL.");
}

void
argument_require_trigger(FunctionCallInfo fcinfo, const char *function)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", function)));
}

/* -------------------------------------------------------------------- rows */

static void
result_fill_receipt(Receipt receipt, Datum *values, bool *nulls)
{
	memset(nulls, 0, sizeof(bool) * NATTS_RECEIPT);
	values[0] = Int64GetDatum(receipt.seq);
	values[1] = PointerGetDatum(slice_to_text(receipt.id));
	values[2] = BoolGetDatum(receipt.duplicate);
	values[3] = PointerGetDatum(slice_to_text(receipt.run_id));
	values[4] = PointerGetDatum(slice_to_text(receipt.task_id));
	values[5] = BoolGetDatum(receipt.late);
}

TupleDesc
result_row_type(FunctionCallInfo fcinfo)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function returning a row called in a context that cannot accept one")));
	return BlessTupleDesc(desc);
}

Datum
result_receipt(FunctionCallInfo fcinfo, Receipt receipt)
{
	Datum		values[NATTS_RECEIPT];
	bool		nulls[NATTS_RECEIPT];

	result_fill_receipt(receipt, values, nulls);
	return HeapTupleGetDatum(heap_form_tuple(result_row_type(fcinfo), values, nulls));
}

void
result_begin_rows(FunctionCallInfo fcinfo)
{
	/*
	 * use the descriptor that the caller expects; looking it up again would
	 * cost 10,000 instructions
	 */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
}

void
result_put_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

void
result_put_receipt(FunctionCallInfo fcinfo, Receipt receipt)
{
	Datum		values[NATTS_RECEIPT];
	bool		nulls[NATTS_RECEIPT];

	result_fill_receipt(receipt, values, nulls);
	result_put_row(fcinfo, values, nulls);
}

void
result_text(Datum *values, bool *nulls, int column, Slice value)
{
	nulls[column] = !slice_present(value);
	if (slice_present(value))
		values[column] = PointerGetDatum(slice_to_text(value));
}

void
result_timestamp(Datum *values, bool *nulls, int column, TimestampTz value)
{
	nulls[column] = value == 0;
	values[column] = TimestampTzGetDatum(value);
}

void
result_int8(Datum *values, bool *nulls, int column, int64 value)
{
	nulls[column] = value == 0;
	values[column] = Int64GetDatum(value);
}

void
result_jsonb(Datum *values, bool *nulls, int column, Jsonb *value)
{
	nulls[column] = value == NULL;
	values[column] = JsonbPGetDatum(value);
}

void
result_put_problems(FunctionCallInfo fcinfo, const ProblemList *list)
{
	int			i;

	result_begin_rows(fcinfo);
	for (i = 0; i < list->n; i++)
	{
		const Problem *problem = &list->items[i];
		Datum		values[3];
		bool		nulls[3];

		result_text(values, nulls, 0, slice_of_cstring(problem->path));
		result_text(values, nulls, 1, slice_of_cstring(problem->code));
		result_text(values, nulls, 2, slice_of_cstring(problem->message));
		result_put_row(fcinfo, values, nulls);
	}
}
