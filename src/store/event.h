/*-------------------------------------------------------------------------
 *
 * event.h
 *	  One row of the log, clutch.events (spec 8.1).
 *
 * An Event is an envelope together with what the database says of it.  It is
 * filled by the admit trigger, step by step, and becomes the row.
 *
 * Every write, the users' and our own, goes through the same door: INSERT
 * INTO clutch.events (envelope).  event_send does it in the caller's name,
 * event_append as the extension, for what the database itself has to say.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_EVENT_H
#define CLUTCH_EVENT_H

#include "access/htup.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "base/rows.h"
#include "protocol/envelope.h"

/* columns of clutch.events */
enum
{
	Anum_event_seq = 1, Anum_event_xid, Anum_event_epoch,
	Anum_event_received_at, Anum_event_id, Anum_event_ts, Anum_event_run_id,
	Anum_event_thread_id, Anum_event_task_id, Anum_event_parent_task_id,
	Anum_event_type, Anum_event_from_agent, Anum_event_to_agents,
	Anum_event_scope, Anum_event_domain, Anum_event_payload_type,
	Anum_event_idempotency_key, Anum_event_attempt, Anum_event_late,
	Anum_event_envelope,
	Natts_event = Anum_event_envelope
};

ROWS_CHECK_COLUMNS(Natts_event, EVENTS);

typedef struct Event
{
	Envelope	envelope;
	int64		seq;			/* drawn after the task's lock */
	int			epoch;
	TimestampTz received_at;
	Slice		scope;			/* of the run; absent means nobody's */
	int			attempt;		/* of a task event: the one it was judged by */
	Slice		assigned_to;	/* of a request: the agent that has the task now, or absent */
	bool		late;
	bool		internal;		/* said by the database itself */
} Event;

/* what a sender is told; palloc'd in the context it sent from */
typedef struct Receipt
{
	int64		seq;
	Slice		id;
	bool		duplicate;
	Slice		run_id;
	Slice		task_id;
	bool		late;
	TimestampTz received_at;
} Receipt;

/*
 * Puts a row into the log.  Higher rooms call it only for an event that another
 * database has admitted: it is neither judged nor announced, and triggers of
 * users do not fire.
 */
extern void event_put(const Event *event);

extern HeapTuple event_form_tuple(const Event *event, TupleDesc desc);

/* the envelope of an event of the log, by seq; NULL: not there.  Palloc'd. */
extern Jsonb *event_read(int64 seq, RowSnapshot which);

/* the same, by its identifiers */
extern Jsonb *event_read_of_run(Slice id, Slice run_id, RowSnapshot which);

/* by seq, and when it was received, if received_at is not NULL */
extern Jsonb *event_read_received(int64 seq, RowSnapshot which, TimestampTz *received_at);

/*
 * The trigger leaves the receipt of a row here, and the function that inserted
 * the row picks it up.
 */
extern void event_leave_receipt(int64 seq, TimestampTz received_at, Slice id,
								bool duplicate, Slice run_id, Slice task_id,
								bool late);

/* Sends an envelope in the name of the current role. */
extern Receipt event_send(Jsonb *envelope);

/* The same for a role that may not insert into the log itself. */
extern Receipt event_send_as_owner(Jsonb *envelope);

/*
 * Appends what the database itself has to say.  It is not judged, and the
 * caller applies its effect.  Goes through the executor only if the log has
 * triggers of users, which must fire; they may call back into clutch.
 */
extern Receipt event_append(Jsonb *envelope);

/*
 * What higher rooms do with an event.  It is set when the library is loaded,
 * so that event_send and event_append need not go through the executor to
 * reach the trigger, if that is all that an INSERT would do.
 */
typedef struct EventDoor
{
	/*
	 * Judges an envelope and applies its effect.  Fills the event, or returns
	 * false if it is a resend.  In both cases it leaves the receipt.
	 */
	bool		(*admit) (Jsonb *envelope, Event *event);

	/* Tells listeners of what event_append has appended. */
	void		(*announce) (const Event *event);
} EventDoor;

extern void event_set_door(EventDoor door);

/*
 * Is the row that the trigger is called for one of event_append?  The trigger
 * asks once, which clears it.
 */
extern bool event_take_internal(void);

#endif							/* CLUTCH_EVENT_H */
