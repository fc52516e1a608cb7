/*-------------------------------------------------------------------------
 *
 * left_out.c
 *	  Runs whose waiting tasks a look leaves out.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "queue/left_out.h"
#include "routing/router.h"

/* to ask what was spent on a run takes as long as leaving out so many rows */
#define ASKING_COSTS	15

/* what the map says of a run */
static char is_left_out;
static char is_not_left_out;

void
left_out_begin(LeftOut *left_out)
{
	if (left_out->runs == NULL)
		left_out->runs = text_map_make();
}

void
left_out_add(LeftOut *left_out, Slice run_id)
{
	left_out_begin(left_out);
	*text_map_place(left_out->runs, slice_copy(run_id)) = &is_left_out;
}

/* Returns what is to be noted of a run that the map does not have. */
static char *
left_out_ask(LeftOut *left_out, Slice run_id)
{
	if (!slice_present(left_out->agent_id))
		return &is_not_left_out;
	*left_out->rows -= ASKING_COSTS;
	return router_has_spent(left_out->agent_id, run_id) ? &is_left_out : &is_not_left_out;
}

bool
left_out_has(LeftOut *left_out, Slice run_id)
{
	char	   *known;

	if (left_out->runs == NULL || !slice_present(run_id))
		return false;
	known = text_map_get(left_out->runs, run_id);
	if (known == NULL)
	{
		known = left_out_ask(left_out, run_id);
		*text_map_place(left_out->runs, slice_copy(run_id)) = known;
	}
	if (known == &is_left_out)
		(*left_out->rows)--;
	return known == &is_left_out;
}
