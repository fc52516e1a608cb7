/*-------------------------------------------------------------------------
 *
 * event.h
 *	  Rows of the log, clutch.events (spec 8.1).
 *
 * An Event is an envelope together with what the database adds to it.  The
 * admit trigger fills it in step by step, and it becomes the row.
 *
 * Every write, by users or by ourselves, takes the same path: INSERT INTO
 * clutch.events (envelope).  event_send does this in the name of the caller,
 * and event_append as the extension, for events of the database itself.
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
	int64		seq;			/* drawn after the task is locked */
	int			epoch;
	TimestampTz received_at;
	Slice		scope;			/* of the run; absent if it belongs to nobody */
	int			attempt;		/* for a task event: the attempt by which it
								 * was judged */
	Slice		assigned_to;	/* for a request: the agent that now has the
								 * task, or absent */
	bool		late;
	bool		internal;		/* comes from the database itself */
	bool		is_awaited;		/* a function waits for its receipt */
	bool		has_new_id;		/* its ID was made for it just now, so nobody
								 * else can have known it */
} Event;

/*
 * What a sender is told about its event.  Palloc'd in the context from which
 * it was sent; that of event_append may point into its envelope.
 */
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
 * Puts a row into the log.  Higher rooms call this only for an event that
 * another database has admitted.  The event is neither judged nor announced,
 * and users' triggers do not fire.
 */
extern void event_put(const Event *event);

extern HeapTuple event_form_tuple(const Event *event, TupleDesc desc);

/*
 * Returns the envelope of an event of the log by its seq, palloc'd, or NULL if
 * it is not there.
 */
extern Jsonb *event_read(int64 seq, RowSnapshot which);

/* The same, by its identifiers. */
extern Jsonb *event_read_of_run(Slice id, Slice run_id, RowSnapshot which);

/*
 * The same by its seq, and also when it was received and whether it came too
 * late to have an effect, if these are not NULL.
 */
extern Jsonb *event_read_received(int64 seq, RowSnapshot which, TimestampTz *received_at, bool *late);

/*
 * Leaves the receipt of a row, for the function that has inserted the row to
 * pick up, if there is one.  Called by the trigger.
 */
extern void event_leave_receipt(const Event *event, int64 seq, TimestampTz received_at, Slice id,
								bool duplicate, Slice run_id, Slice task_id,
								bool late);

/* Sends an envelope in the name of the current role. */
extern Receipt event_send(Jsonb *envelope);

/*
 * The same for an envelope with an ID that was made for it just now.  The log
 * is not searched for that ID.
 */
extern Receipt event_send_new(Jsonb *envelope);

/* The same as event_send for a role that may not insert into the log itself. */
extern Receipt event_send_as_owner(Jsonb *envelope);

/*
 * Appends an event of the database itself.  It is not judged, and the caller
 * applies its effect.  This goes through the executor only if the log has
 * users' triggers, which must fire, and which may call back into clutch.
 */
extern Receipt event_append(Jsonb *envelope);

/*
 * What higher rooms do with an event.  This is set when the library is loaded.
 * It allows event_send and event_append to avoid the executor if an INSERT
 * would do nothing but call the trigger.
 */
typedef struct EventDoor
{
	/*
	 * Judges an envelope and applies its effect.  Fills in the event, or
	 * returns false if it is a resend.  Leaves the receipt in both cases.
	 */
	bool		(*admit) (Jsonb *envelope, Event *event);

	/* Notifies listeners of an event that event_append has appended. */
	void		(*announce) (const Event *event);
} EventDoor;

extern void event_set_door(EventDoor door);

/*
 * Sets the flags of the event that tell whether the row with the envelope comes
 * from one of our functions.  To be called first when the row is admitted.
 */
extern void event_take_awaited(Jsonb *envelope, Event *event);

#endif							/* CLUTCH_EVENT_H */
