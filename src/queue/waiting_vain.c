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
	int64		kind;
	int64		beyond[NUM_LEVELS]; /* by urgency; tasks before these numbers
									 * have been tried */
	int64		cost;			/* what that has cost, in rows passed over, and */
	TimestampTz began_at;		/* when it began */
} VainPlace;

static Memo vain_places;

/* Returns the cache, which is empty again after a rollback and when a card or a rule has changed. */
static HTAB *
waiting_vain_table(void)
{
	return memo_current(&vain_places, "clutch places in waiting", sizeof(VainPlace), MAX_VAIN_PLACES,
						roster_changes() + rule_changes() + queue_rollbacks());
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
	if (queue_worth_looking(place->cost, place->began_at, QUEUE_LOOK_BUSY))
		(void) hash_search(waiting_vain_table(), &key, HASH_REMOVE, NULL);
	else
		queue_skip(queue, place->beyond);
}

void
waiting_vain_note(uint64 purpose, const Queue *queue)
{
	uint64		key;
	VainPlace  *place;
	bool		known;
	int			urgency;

	if (queue->vain == 0 && queue->vain_passed == 0)
		return;
	key = waiting_vain_key(purpose, queue);
	place = hash_search(waiting_vain_table(), &key, HASH_ENTER, &known);
	if (!known)
	{
		place->kind = queue->kind;
		memset(place->beyond, 0, sizeof(place->beyond));
		place->cost = 0;
		place->began_at = GetCurrentTimestamp();
	}
	for (urgency = 0; urgency < NUM_LEVELS; urgency++)
		place->beyond[urgency] = Max(place->beyond[urgency], queue->beyond[urgency]);
	place->cost += queue->vain * TRYING_COSTS + queue->vain_passed;
}

void
waiting_vain_note_return(int64 kind, int urgency, int64 queue_no)
{
	HASH_SEQ_STATUS all;
	VainPlace  *place;

	if (vain_places.table == NULL || hash_get_num_entries(vain_places.table) == 0)
		return;
	hash_seq_init(&all, waiting_vain_table());
	while ((place = hash_seq_search(&all)) != NULL)
		if (place->kind == kind)
			place->beyond[urgency] = Min(place->beyond[urgency], queue_no);
}
