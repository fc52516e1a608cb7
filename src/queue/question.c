/*-------------------------------------------------------------------------
 *
 * question.c
 *	  Open questions of tasks: rows of clutch.question.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/column.h"
#include "queue/question.h"

/* columns of clutch.question */
enum
{
	Anum_question_task_id = 1,
	Anum_question_seq,
	Natts_question = Anum_question_seq
};

ROWS_CHECK_COLUMNS(Natts_question, QUESTION);

void
question_put(const Task *task)
{
	Datum		values[Natts_question] = {0};
	bool		nulls[Natts_question] = {0};

	column_put_text(values, nulls, Anum_question_task_id, task->task_id);
	values[Anum_question_seq - 1] = Int64GetDatum(task->question_seq);
	(void) rows_insert(TABLE_QUESTION, values, nulls);
}

void
question_remove(const Task *task)
{
	RowScan		scan;

	rows_begin(&scan, TABLE_QUESTION, INDEX_QUESTION, ROWS_LATEST, RowExclusiveLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, task->task_id);
	(void) rows_delete_first(&scan);
}
