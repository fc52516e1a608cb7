/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  Which attempts of a task an agent has had, and which of them it has ended
 *	  itself.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/attempt.h"
#include "miscadmin.h"
#include "store/event.h"

Bitmapset *
attempt_list_ended(Slice task_id, Slice agent_id, int last, Bitmapset **begun)
{
	Bitmapset  *ended = NULL;
	RowScan		scan;

	*begun = NULL;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int			attempt = rows_int4(&scan, Anum_event_attempt);
		MessageType type = message_type_parse(rows_text(&scan, Anum_event_type));

		CHECK_FOR_INTERRUPTS();
		if (!slice_equal(rows_text(&scan, Anum_event_from_agent), agent_id))
			continue;
		/* a hand-over, which begins the next attempt */
		if (type == MSG_TASK_REQUEST)
			attempt--;
		if (attempt < 0 || attempt > last)
			continue;
		if (type == MSG_TASK_ACCEPT)
			*begun = bms_add_member(*begun, attempt);
		else if (type == MSG_TASK_RESULT || type == MSG_TASK_ERROR || type == MSG_TASK_REQUEST)
			ended = bms_add_member(ended, attempt);
	}
	rows_end(&scan);
	return ended;
}

int
attempt_find_open(Slice task_id, Slice agent_id, int last)
{
	Bitmapset  *begun;
	Bitmapset  *ended = attempt_list_ended(task_id, agent_id, last, &begun);

	return bms_is_subset(begun, ended) ? -1 : bms_prev_member(begun, -1);
}
