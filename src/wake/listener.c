/*-------------------------------------------------------------------------
 *
 * listener.c
 *	  Which channels may have listeners, in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "wake/listener.h"
#include "wake/mailbox_part.h"

/* the counters that include this session, a bit for each */
static uint8 counted[MAILBOX_LISTENERS / BITS_PER_BYTE];
static bool is_counted = false;

static pg_atomic_uint32 *
listener_counter(int place)
{
	return &mailbox_shared->listeners[place];
}

static int
listener_place(uint64 key)
{
	return (int) (hash_uint32_extended(MyDatabaseId, key) % MAILBOX_LISTENERS);
}

/* Takes this session out of all counters when it ends. */
static void
listener_end(int code, Datum arg)
{
	int			i;

	for (i = 0; i < MAILBOX_LISTENERS; i++)
		if (counted[i / BITS_PER_BYTE] & (1 << i % BITS_PER_BYTE))
			pg_atomic_fetch_sub_u32(listener_counter(i), 1);
}

void
listener_add(uint64 key)
{
	int			place = listener_place(key);
	uint8		bit = 1 << place % BITS_PER_BYTE;

	if (mailbox_shared == NULL || (counted[place / BITS_PER_BYTE] & bit) != 0)
		return;
	if (!is_counted)
		on_shmem_exit(listener_end, (Datum) 0);
	is_counted = true;
	counted[place / BITS_PER_BYTE] |= bit;
	pg_atomic_fetch_add_u32(listener_counter(place), 1);
}

bool
listener_may_be_there(uint64 key)
{
	if (mailbox_shared == NULL)
		return true;
	/* the commit of this session must be visible before the counter is read */
	pg_memory_barrier();
	return pg_atomic_read_u32(listener_counter(listener_place(key))) > 0;
}
