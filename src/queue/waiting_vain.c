/*-------------------------------------------------------------------------
 *
 * waiting_vain.c
 *	  A cache of how many tasks of a kind have been tried in vain.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/memo.h"
#include "common/hashfn.h"
#include "queue/waiting_vain.h"
#include "registry/roster.h"
#include "routing/rule.h"
#include "utils/timestamp.h"

#define MAX_VAIN_PLACES	10000

/* what trying a task costs, in rows passed over */
#define TRYING_COSTS	50

typedef struct VainPlace
{
	uint64		key;			/* hash of the purpose and the kind */
	int64		beyond[NUM_LEVELS]; /* by urgency; tasks before these numbers
									 * have been tried */
	int64		tried;			/* number of tries, and */
	TimestampTz began_at;		/* when the first one happened */
	bool		unfinished;		/* the last look gave up */
} VainPlace;

static Memo vain_places;

/*
 * Everything that the cache says is forgotten if an agent's card or a rule
 * changes, or if this session returns tasks to their old places.
 */
static HTAB *
waiting_vain_table(void)
{
	return memo_current(&vain_places, "clutch places in waiting", sizeof(VainPlace), MAX_VAIN_PLACES,
						roster_changes() + rule_changes() + queue_returns());
}

/* The table is part of the key, because the extension may be created again. */
static uint64
waiting_vain_key(uint64 purpose, const Queue *queue)
{
	return hash_combine64(hash_combine64(purpose, rows_table_oid(TABLE_WAITING)), queue->kind);
}

void
waiting_vain_skip(uint64 purpose, Queue *queue)
{
	uint64		key;
	VainPlace  *place;

	if (vain_places.table == NULL || hash_get_num_entries(vain_places.table) == 0)
		return;
	key = waiting_vain_key(purpose, queue);
	place = hash_search(waiting_vain_table(), &key, HASH_FIND, NULL);
	if (place == NULL)
		return;
	if (place->unfinished ||
		!queue_worth_looking(place->tried * TRYING_COSTS, place->began_at, QUEUE_LOOK_BUSY))
		queue_skip(queue, place->beyond);
	else
		(void) hash_search(waiting_vain_table(), &key, HASH_REMOVE, NULL);
}

static bool
waiting_vain_has_more(const Queue *queue)
{
	int			urgency;

	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
		if (slice_present(queue->heads[urgency].task_id))
			return true;
	return queue->unseen < NUM_LEVELS;
}

void
waiting_vain_note(uint64 purpose, const Queue *queue, bool gave_up)
{
	uint64		key = waiting_vain_key(purpose, queue);
	bool		known = false;
	VainPlace  *place = NULL;
	int			urgency;

	if (queue->vain > 0)
		place = hash_search(waiting_vain_table(), &key, HASH_ENTER, &known);
	else if (vain_places.table != NULL)
		place = hash_search(waiting_vain_table(), &key, HASH_FIND, &known);
	if (place == NULL)
		return;
	if (!known)
	{
		memset(place->beyond, 0, sizeof(place->beyond));
		place->tried = 0;
		place->began_at = GetCurrentTimestamp();
	}
	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
		place->beyond[urgency] = Max(place->beyond[urgency], queue->beyond[urgency]);
	place->tried += queue->vain;
	place->unfinished = gave_up && waiting_vain_has_more(queue);
}
