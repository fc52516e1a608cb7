/*-------------------------------------------------------------------------
 *
 * load.c
 *	  How busy an agent is and how it has done, read from its slot rows.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/rows.h"
#include "registry/load.h"
#include "registry/slot.h"

/*
 * A slot has one live row and perhaps many dead ones before it.  Going to
 * the next slot by its key, not to the next entry, passes over the dead.
 */
void
load_read(Slice agent_id, AgentLoad *load)
{
	RowScan		scan;

	memset(load, 0, sizeof(*load));
	rows_begin(&scan, TABLE_AGENT_SLOT, INDEX_AGENT_SLOT, ROWS_LATEST, AccessShareLock);
	rows_key_text(&scan, 1, BTEqualStrategyNumber, agent_id);
	rows_key_int4(&scan, 2, BTGreaterStrategyNumber, -1);
	rows_start(&scan);
	while (rows_next(&scan))
	{
		int64		chosen_seq = rows_int8(&scan, Anum_slot_chosen_seq);
		int			slot_no = rows_int4(&scan, Anum_slot_slot_no);

		if (!rows_is_null(&scan, Anum_slot_task_id))
			load->running++;
		load->done += rows_int4(&scan, Anum_slot_done);
		load->failed += rows_int4(&scan, Anum_slot_failed);
		load->last_chosen = Max(load->last_chosen, chosen_seq);

		scan.nkeys = 1;
		rows_key_int4(&scan, 2, BTGreaterStrategyNumber, slot_no);
		rows_restart(&scan);
	}
	rows_end(&scan);
}

double
load_success_rate(const AgentLoad *load)
{
	int			ended = load->done + load->failed;

	return ended > 0 ? (double) load->done / ended : 1.0;
}
