/*-------------------------------------------------------------------------
 *
 * question.c
 *	  Tasks that are parked with a question to a human or another agent.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "queue/question.h"

/* columns of clutch.question */
enum
{
	Anum_task_id = 1,
	Anum_seq,
	Natts_question = Anum_seq
};

void
question_step(const Envelope *report, TaskEvent *event)
{
	if (event->step != STEP_PROGRESS || !report->asks)
		return;
	event->step = STEP_PARK;
	event->wake_at = report->question_deadline;
}

void
question_remove(const Task *task)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_QUESTION, INDEX_QUESTION, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->task_id);
	(void) rows_delete_first(&scan);
}

void
question_put(const Task *task)
{
	Datum		values[Natts_question];
	bool		nulls[Natts_question] = {0};

	values[Anum_task_id - 1] = PointerGetDatum(slice_to_text(task->task_id));
	values[Anum_seq - 1] = Int64GetDatum(task->question_seq);
	(void) rows_insert(TABLE_QUESTION, values, nulls);
}
