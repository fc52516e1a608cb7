/*-------------------------------------------------------------------------
 *
 * output.c
 *	  Outputs of the named steps of a task: rows of clutch.step.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/array.h"
#include "base/column.h"
#include "base/document.h"
#include "base/order.h"
#include "task/output.h"

/* columns of clutch.step */
enum
{
	Anum_step_task_id = 1,
	Anum_step_name,
	Anum_step_seq,
	Natts_step = Anum_step_seq
};

ROWS_CHECK_COLUMNS(Natts_step, STEP);

static void
output_scan(RowScan *scan, Slice task_id, RowSnapshot which)
{
	rows_begin(scan, TABLE_STEP, INDEX_STEP, which, AccessShareLock);
	rows_key_text(scan, 1, BTEqualStrategyNumber, task_id);
}

int64
output_find(Slice task_id, Slice name)
{
	int64		seq = 0;
	RowScan		scan;

	output_scan(&scan, task_id, ROWS_LATEST);
	rows_key_text(&scan, 2, BTEqualStrategyNumber, name);
	rows_start(&scan);
	if (rows_next(&scan))
		seq = rows_int8(&scan, Anum_step_seq);
	rows_end(&scan);
	return seq;
}

void
output_insert(Slice task_id, Slice name, int64 seq)
{
	Datum		values[Natts_step] = {0};
	bool		nulls[Natts_step] = {0};

	column_put_text(values, nulls, Anum_step_task_id, task_id);
	column_put_text(values, nulls, Anum_step_name, name);
	values[Anum_step_seq - 1] = Int64GetDatum(seq);
	(void) rows_insert(TABLE_STEP, values, nulls);
}

int64 *
output_list(Slice task_id, int *n)
{
	int			room = 0;
	int64	   *seqs = NULL;
	RowScan		scan;

	*n = 0;
	output_scan(&scan, task_id, ROWS_ACTIVE);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		array_make_room(seqs, *n, room);
		seqs[(*n)++] = rows_int8(&scan, Anum_step_seq);
	}
	rows_end(&scan);
	qsort(seqs, *n, sizeof(int64), order_int64);
	return seqs;
}

bool
output_equal(Jsonb *a, Jsonb *b)
{
	return compareJsonbContainers(&a->root, &b->root) == 0;
}

Jsonb *
output_read(Jsonb *event)
{
	JsonbContainer *meta = event != NULL ? document_get_container(&event->root, "meta") : NULL;
	JsonbContainer *step = document_get_container(document_get_container(meta, "clutch"), "step");
	JsonbValue	output = {.type = jbvNull};

	(void) document_get(step, "output", &output);
	return document_of_value(&output);
}

void
output_forget(Slice task_id)
{
	RowScan		scan;

	do
		output_scan(&scan, task_id, ROWS_LATEST);
	while (rows_delete_first(&scan));
}
