/*-------------------------------------------------------------------------
 *
 * call_part.h
 *	  Private declarations of call.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_CALL_PART_H
#define CLUTCH_CALL_PART_H

#include "outbox/call.h"

/* columns of clutch.outbox */
enum
{
	Anum_call_no = 1,
	Anum_call_id,
	Anum_call_endpoint,
	Anum_call_state,
	Anum_call_kind,
	Anum_call_seq,
	Anum_call_body,
	Anum_call_agent_id,
	Anum_call_run_id,
	Anum_call_task_id,
	Anum_call_task_attempt,
	Anum_call_attempt,
	Anum_call_due_at,
	Anum_call_lease_until,
	Anum_call_created_at,
	Anum_call_finished_at,
	Anum_call_remove_at,
	Anum_call_status,
	Anum_call_failure,
	Anum_call_attempts_before,
	Anum_call_part,
	Natts_call = Anum_call_part
};

/* Returns the call at the current row of a scan, palloc'd. */
extern Call *call_row_read(const RowScan *scan);

extern void call_save(Call *call);

#endif							/* CLUTCH_CALL_PART_H */
