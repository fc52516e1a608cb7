/*-------------------------------------------------------------------------
 *
 * waiting_empty.c
 *	  Finding out whether any task waits for an agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/clock.h"
#include "base/rows.h"
#include "queue/queue.h"
#include "queue/waiting.h"
#include "utils/timestamp.h"

/* microseconds for which a table in which a row was found counts as not empty */
#define FOUND_HOLDS		10000

/* how expensive the last look at the whole table was, and when it happened */
static struct
{
	int64		passed;
	TimestampTz looked_at;
	bool		found;
}			first_look;

/*
 * A row that was found lets the next looks assume that something waits.  If
 * nothing does any more, they only try in vain.
 */
static bool
waiting_was_just_found(void)
{
	return first_look.found &&
		!clock_is_over(first_look.looked_at, FOUND_HOLDS, GetCurrentTimestamp());
}

bool
waiting_is_empty(void)
{
	RowScan		scan;

	if (waiting_was_just_found())
		return false;
	if (!queue_worth_looking(first_look.passed, first_look.looked_at, QUEUE_LOOK_IDLE))
		return !first_look.found;
	/* start at the end, because claims leave dead entries at the start */
	rows_begin(&scan, TABLE_WAITING, INDEX_WAITING, ROWS_DIRTY, AccessShareLock);
	rows_start(&scan);
	first_look.found = rows_previous(&scan);
	first_look.passed = scan.dead;
	rows_end(&scan);
	first_look.looked_at = GetCurrentTimestamp();
	return !first_look.found;
}
