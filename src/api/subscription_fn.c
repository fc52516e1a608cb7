/*-------------------------------------------------------------------------
 *
 * subscription_fn.c
 *	  Reading the log in order: DESIGN 2, subscribe ... commit.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/xlog.h"
#include "api/result.h"
#include "base/document.h"
#include "feed/subscription.h"
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

/* what reading answers, column by column */
enum
{
	READ_POS, READ_SEQ, READ_ID, READ_TYPE, READ_RUN_ID, READ_THREAD_ID,
	READ_TASK_ID, READ_LATE, READ_ENVELOPE,
	NUM_READ_COLUMNS
};

#define MOST_EVENTS		100000

static int
argument_max_events(FunctionCallInfo fcinfo, int n)
{
	int			max_events = PG_ARGISNULL(n) ? 100 : PG_GETARG_INT32(n);

	if (max_events < 1 || max_events > MOST_EVENTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"max_events\" must be between 1 and %d, not %d",
						MOST_EVENTS, max_events)));
	return max_events;
}

static Jsonb *
argument_filter(FunctionCallInfo fcinfo, int n)
{
	DocumentBuilder b;

	if (!PG_ARGISNULL(n))
		return PG_GETARG_JSONB_P(n);
	document_begin(&b);
	return document_end(&b);
}

/* each row in memory of its own: a hundred thousand envelopes do not fit */
static MemoryContext
begin_events(FunctionCallInfo fcinfo)
{
	result_begin_rows(fcinfo);
	return AllocSetContextCreate(CurrentMemoryContext, "clutch event", ALLOCSET_DEFAULT_SIZES);
}

static void
put_event(FunctionCallInfo fcinfo, MemoryContext each, int64 seq, Slice pos)
{
	MemoryContext old = MemoryContextSwitchTo(each);
	Datum		values[NUM_READ_COLUMNS] = {0};
	bool		nulls[NUM_READ_COLUMNS] = {0};
	RowScan		scan;

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
	MemoryContextReset(each);
}

Datum
clutch_subscribe(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "name");
	Slice		start = argument_optional_text(fcinfo, 2);

	if (name.len == 0 || name.len > 256)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"name\" must have between 1 and 256 bytes, not %d", name.len)));
	subscription_create(name, argument_filter(fcinfo, 1),
						slice_present(start) ? start : SLICE_OF("now"),
						PG_ARGISNULL(3) ? 1 : PG_GETARG_INT32(3));
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

	PG_RETURN_TEXT_P(cstring_to_text(position_text(&position)));
}

/* ------------------------------------------------ of a subscription */

Datum
clutch_read(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "name");
	int			max_events = argument_max_events(fcinfo, 1);
	MemoryContext each = begin_events(fcinfo);
	Delivery	delivery;
	int			i;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a standby cannot keep the position of a subscription"),
				 errhint("Read with clutch.read_from(pos), which keeps none.")));
	delivery = subscription_read(name, max_events, PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2));
	for (i = 0; i < delivery.n; i++)
		put_event(fcinfo, each, delivery.seqs[i],
				  slice_of_cstring(psprintf("%016llx%016llx", (unsigned long long) delivery.batch,
											(unsigned long long) delivery.seqs[i])));
	return (Datum) 0;
}

/* 16 hexadecimal digits */
static bool
parse_hex(const char *digits, int64 *number)
{
	int			i;

	*number = 0;
	for (i = 0; i < 16; i++)
	{
		const char *digit = digits[i] == '\0' ? NULL : strchr("0123456789abcdef", digits[i]);

		if (digit == NULL)
			return false;
		*number = *number * 16 + (digit - "0123456789abcdef");
	}
	return true;
}

Datum
clutch_commit(PG_FUNCTION_ARGS)
{
	Slice		name = argument_text(fcinfo, 0, "name");
	Slice		pos;
	const char *digits;
	int64		batch;
	int64		seq;

	/* SELECT clutch.commit(name, max(pos)) FROM clutch.read(name), of nothing */
	if (PG_ARGISNULL(1))
		PG_RETURN_VOID();
	pos = argument_text(fcinfo, 1, "pos");
	digits = slice_cstring(pos);
	if (pos.len != 32 || digits[0] > '7' || digits[16] > '7' ||
		!parse_hex(digits, &batch) || !parse_hex(digits + 16, &seq))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("", "WRONG_FORMAT"),
				 errmsg("%s is not a pos of clutch.read", place_quote(pos)),
				 errhint("Commit the pos of the last row of clutch.read that you have handled.")));
	subscription_commit(name, batch, seq, PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2));
	PG_RETURN_VOID();
}

/* ----------------------------------------------------- without a state */

/* a position, or in the middle of what one transaction wrote: from/until/seq */
typedef struct Start
{
	Position	from;
	bool		is_open;
	Position	until;
	int64		place;
} Start;

static Start
parse_start(Slice pos)
{
	Start		start = {0};
	char	   *text = slice_cstring(pos);
	char	   *slash = strchr(text, '/');
	char	   *second = slash != NULL ? strchr(slash + 1, '/') : NULL;
	char	   *end;

	if (second != NULL)
	{
		*slash = *second = '\0';
		start.is_open = true;
		start.until = subscription_start(slice_of_cstring(slash + 1));
		errno = 0;
		start.place = strtoll(second + 1, &end, 10);
		if (*end != '\0' || errno != 0)
			slash = second = NULL;
	}
	if (slash != NULL && second == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errproblem("", "WRONG_FORMAT"),
				 errmsg("%s is no position", place_quote(pos)),
				 errhint("Give what clutch.read_from answered, unchanged.")));
	start.from = subscription_start(slice_of_cstring(text));
	return start;
}

static char *
next_start(const Start *start, const Feed *feed, int read)
{
	if (read == feed->n)
		return position_text(&feed->until);
	return psprintf("%s/%s/" INT64_FORMAT, position_text(&start->from),
					position_text(&feed->until), feed->seqs[read - 1]);
}

Datum
clutch_read_from(PG_FUNCTION_ARGS)
{
	Start		start = parse_start(argument_text(fcinfo, 0, "pos"));
	Filter		filter;
	FeedQuery	query = {&filter, 1, 0, argument_max_events(fcinfo, 2)};
	MemoryContext each = begin_events(fcinfo);
	Feed	   *feed;
	int			first = 0;
	int			last;
	int			i;

	filter_read(argument_filter(fcinfo, 1), &filter);
	subscription_require_reader(&filter);
	feed = feed_read(&start.from, start.is_open ? &start.until : NULL, &query);
	while (first < feed->n && feed->seqs[first] <= start.place)
		first++;
	if (start.is_open && first == feed->n)
	{
		/* that transaction is done; go on behind it */
		start = (Start) {start.until};
		feed = feed_read(&start.from, NULL, &query);
		first = 0;
	}
	last = Min(feed->n, first + query.max_events);
	for (i = first; i < last; i++)
		put_event(fcinfo, each, feed->seqs[i], i < last - 1 ? SLICE_NONE :
				  slice_of_cstring(next_start(&start, feed, last)));
	return (Datum) 0;
}
