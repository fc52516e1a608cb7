/*-------------------------------------------------------------------------
 *
 * subscription_fn.c
 *	  SQL functions that read the log in order.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xlog.h"
#include "api/result.h"
#include "base/document.h"
#include "feed/start.h"
#include "feed/subscription.h"
#include "flow/sight.h"
#include "miscadmin.h"
#include "protocol/place.h"
#include "protocol/problem.h"
#include "store/event.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(clutch_subscribe);
PG_FUNCTION_INFO_V1(clutch_unsubscribe);
PG_FUNCTION_INFO_V1(clutch_read);
PG_FUNCTION_INFO_V1(clutch_commit);
PG_FUNCTION_INFO_V1(clutch_read_from);
PG_FUNCTION_INFO_V1(clutch_position);

/* the columns that clutch.read and clutch.read_from return */
enum
{
	READ_POS,
	READ_SEQ,
	READ_ID,
	READ_TYPE,
	READ_RUN_ID,
	READ_THREAD_ID,
	READ_TASK_ID,
	READ_LATE,
	READ_ENVELOPE,
	NUM_READ_COLUMNS
};

#define READ_MAX_EVENTS		100000
#define NAME_MAX_BYTES		256

/*
 * The pos of a row of clutch.read consists of batch and seq, each in 16
 * hexadecimal digits.
 */
#define POS_DIGITS			16

static int
argument_max_events(FunctionCallInfo fcinfo, int n)
{
	return argument_count(fcinfo, n, "max_events", 100, READ_MAX_EVENTS, NULL);
}

static Jsonb *
argument_filter(FunctionCallInfo fcinfo, int n)
{
	DocumentBuilder b;

	if (!argument_is_null(fcinfo, n))
		return PG_GETARG_JSONB_P(n);
	document_begin(&b);
	return document_end(&b);
}

/*
 * Begins a result of events.  Each event is formed in the returned context,
 * which is then reset, because a hundred thousand envelopes may not fit into
 * memory.
 */
static MemoryContext
result_begin_events(FunctionCallInfo fcinfo)
{
	result_begin_rows(fcinfo);
	return AllocSetContextCreate(CurrentMemoryContext, "clutch event", ALLOCSET_DEFAULT_SIZES);
}

static void
result_put_event(FunctionCallInfo fcinfo, MemoryContext event_context, int64 seq, Slice pos)
{
	MemoryContext old = MemoryContextSwitchTo(event_context);
	Datum		values[NUM_READ_COLUMNS] = {0};
	bool		nulls[NUM_READ_COLUMNS] = {0};
	RowScan		scan;

	CHECK_FOR_INTERRUPTS();
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_SEQ, ROWS_ACTIVE, AccessShareLock);
	rows_key_int8(&scan, 1, BTEqualStrategyNumber, seq);
	rows_start(&scan);
	if (rows_next(&scan))
	{
		result_text(values, nulls, READ_POS, pos);
		result_int8(values, nulls, READ_SEQ, seq);
		result_text(values, nulls, READ_ID, rows_text(&scan, Anum_event_id));
		result_text(values, nulls, READ_TYPE, rows_text(&scan, Anum_event_type));
		result_text(values, nulls, READ_RUN_ID, rows_text(&scan, Anum_event_run_id));
		result_text(values, nulls, READ_THREAD_ID, rows_text(&scan, Anum_event_thread_id));
		result_text(values, nulls, READ_TASK_ID, rows_text(&scan, Anum_event_task_id));
		values[READ_LATE] = BoolGetDatum(rows_bool(&scan, Anum_event_late));
		result_jsonb(values, nulls, READ_ENVELOPE, rows_jsonb(&scan, Anum_event_envelope));
		result_put_row(fcinfo, values, nulls);
	}
	rows_end(&scan);
	MemoryContextSwitchTo(old);
	MemoryContextReset(event_context);
}

Datum
clutch_subscribe(PG_FUNCTION_ARGS)
{
	Slice		name = argument_name(fcinfo, 0, "name", NAME_MAX_BYTES);
	Slice		start = argument_optional_text(fcinfo, 2);

	subscription_create(name, argument_filter(fcinfo, 1),
						slice_present(start) ? start : SLICE_OF("now"),
						argument_is_null(fcinfo, 3) ? 1 : PG_GETARG_INT32(3));
	PG_RETURN_TEXT_P(slice_to_text(name));
}

Datum
clutch_unsubscribe(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(subscription_drop(argument_text(fcinfo, 0, "name")));
}

Datum
clutch_position(PG_FUNCTION_ARGS)
{
	Position	position = position_now();

	position_make_durable();
	PG_RETURN_TEXT_P(cstring_to_text(position_text(&position)));
}

/* --------------------------------------------------- with a subscription */

static Slice
pos_text(int64 batch, int64 seq)
{
	return slice_of_cstring(psprintf("%016llx%016llx", (unsigned long long) batch,
									 (unsigned long long) seq));
}

static bool
read_right(void *sight, const RowScan *event)
{
	return sight_has_event(sight, event);
}

Datum
clutch_read(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "name");
	int			max_events = argument_max_events(fcinfo, 1);
	MemoryContext event_context = result_begin_events(fcinfo);
	Delivery	delivery;
	Sight		sight;
	int			i;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot read a subscription on a standby, which cannot store its position"),
				 errhint("Read with clutch.read_from(pos), which stores none.")));
	sight_begin(&sight);
	delivery = subscription_read(name, max_events, argument_is_null(fcinfo, 2) ? 0 : PG_GETARG_INT32(2),
								 sight.everything ? NULL : read_right, &sight);
	for (i = 0; i < delivery.n; i++)
		result_put_event(fcinfo, event_context, delivery.seqs[i],
						 pos_text(delivery.batch, delivery.seqs[i]));
	return (Datum) 0;
}

static bool
parse_hex(const char *digits, int64 *number)
{
	int			i;

	*number = 0;
	for (i = 0; i < POS_DIGITS; i++)
	{
		const char *digit = digits[i] == '\0' ? NULL : strchr("0123456789abcdef", digits[i]);

		if (digit == NULL)
			return false;
		*number = *number * 16 + (digit - "0123456789abcdef");
	}
	return true;
}

/*
 * Parses a pos.  Batch and seq are not negative, so neither number begins with
 * a digit above 7.
 */
static bool
parse_pos(Slice pos, int64 *batch, int64 *seq)
{
	const char *digits = slice_cstring(pos);

	return pos.len == 2 * POS_DIGITS && digits[0] <= '7' && digits[POS_DIGITS] <= '7' &&
		parse_hex(digits, batch) && parse_hex(digits + POS_DIGITS, seq);
}

Datum
clutch_commit(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "name");
	Slice		pos;
	int64		batch;
	int64		seq;

	/*
	 * SELECT clutch.commit(name, max(pos)) FROM clutch.read(name) passes NULL
	 * if there are no rows
	 */
	if (argument_is_null(fcinfo, 1))
		PG_RETURN_VOID();
	pos = argument_text(fcinfo, 1, "pos");
	if (!parse_pos(pos, &batch, &seq))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("pos", "WRONG_FORMAT"),
				 errmsg("argument \"pos\" is not a pos of clutch.read: %s", place_quote(pos)),
				 errhint("Pass the pos of the last row of clutch.read that you have handled, unchanged.")));
	subscription_commit(name, batch, seq, argument_is_null(fcinfo, 2) ? 0 : PG_GETARG_INT32(2));
	PG_RETURN_VOID();
}

/* ------------------------------------------------ without a subscription */

/* Returns where to continue after the first nread events of the feed. */
static char *
read_from_end(const Start *start, const Feed *feed, int nread)
{
	Start		end = {feed->until};

	if (nread < feed->n)
		end = (Start) {start->from, true, feed->until, feed->seqs[nread - 1]};
	return start_text(&end);
}

Datum
clutch_read_from(PG_FUNCTION_ARGS)
{
	Start		start = start_parse(argument_text(fcinfo, 0, "pos"), "pos");
	Filter		filter;
	Sight		sight;
	FeedQuery	query = {&filter, read_right, &sight, 1, 0, argument_max_events(fcinfo, 2)};
	MemoryContext event_context = result_begin_events(fcinfo);
	Feed	   *feed;
	int			first = 0;
	int			last;
	int			i;

	filter_read(argument_filter(fcinfo, 1), &filter);
	sight_begin(&sight);
	if (sight.everything || subscription_is_inbox(&filter))
		query.right = NULL;
	feed = feed_read(&start.from, start.is_between ? &start.until : NULL, &query);
	while (first < feed->n && feed->seqs[first] <= start.place)
		first++;
	if (start.is_between && first == feed->n)
	{
		/* all of that transaction has been read, so continue after it */
		start = (Start) {start.until};
		feed = feed_read(&start.from, NULL, &query);
		first = 0;
	}
	last = Min(feed->n, first + query.max_events);
	if (first < last)
		position_make_durable();
	for (i = first; i < last; i++)
		result_put_event(fcinfo, event_context, feed->seqs[i], i < last - 1 ? SLICE_NONE :
						 slice_of_cstring(read_from_end(&start, feed, last)));
	return (Datum) 0;
}
