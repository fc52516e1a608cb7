/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  Which attempts of a task an agent has had, and which of them it has ended
 *	  itself.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/document.h"
#include "flow/attempt.h"
#include "miscadmin.h"
#include "store/event.h"

/* ------------------------------------------------------ calls given up */

#define META_KEY		"outbox"
#define META_GIVEN_UP	"given_up"

Jsonb *
attempt_given_up_meta(void)
{
	DocumentBuilder b;

	document_begin(&b);
	document_open_object(&b, META_KEY);
	document_put_bool(&b, META_GIVEN_UP, true);
	document_close_object(&b);
	return document_end(&b);
}

static bool
attempt_was_given_up(Jsonb *report)
{
	JsonbContainer *notes = document_get_container(document_get_container(&report->root, "meta"), META_KEY);
	JsonbValue	given_up;

	return document_get(notes, META_GIVEN_UP, &given_up) &&
		given_up.type == jbvBool && given_up.val.boolean;
}

/* ------------------------------------------------------- the attempts */

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
		else if (type == MSG_TASK_RESULT || type == MSG_TASK_REQUEST ||
				 (type == MSG_TASK_ERROR && !attempt_was_given_up(rows_jsonb(&scan, Anum_event_envelope))))
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

/* Does the set have a member between the two numbers, both excluded? */
static bool
attempt_is_any_between(const Bitmapset *set, int after, int before)
{
	int			next = bms_next_member(set, after);

	return next >= 0 && next < before;
}

bool
attempt_lacks_answer(const Task *task)
{
	Bitmapset  *reported = NULL;
	Bitmapset  *given_up = NULL;
	int			asked_in = -1;
	RowScan		scan;

	if (task->answer_seq == 0 || task->question_seq == 0)
		return false;
	rows_begin(&scan, TABLE_EVENTS, INDEX_EVENTS_TASK_ID, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->task_id);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int			attempt = rows_int4(&scan, Anum_event_attempt);
		MessageType type = message_type_parse(rows_text(&scan, Anum_event_type));

		CHECK_FOR_INTERRUPTS();
		if (attempt < 0 || attempt > task->attempt || type == MSG_TASK_ACCEPT || !slice_equal(rows_text(&scan, Anum_event_from_agent), task->agent_id))
			continue;
		if (rows_int8(&scan, Anum_event_seq) == task->question_seq)
			asked_in = attempt;
		if (type == MSG_TASK_ERROR && attempt_was_given_up(rows_jsonb(&scan, Anum_event_envelope)))
			given_up = bms_add_member(given_up, attempt);
		else
			reported = bms_add_member(reported, attempt);
	}
	rows_end(&scan);
	return asked_in >= 0 && attempt_is_any_between(given_up, asked_in, task->attempt) &&
		!attempt_is_any_between(reported, asked_in, task->attempt);
}
