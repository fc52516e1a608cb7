/*-------------------------------------------------------------------------
 *
 * suspension.h
 *	  Suspensions: what a suspended task waits for, from meta.clutch.wait of a
 *	  task.progress.
 *
 *		{"children": "all" | "any" | n}		its children
 *		{"message": {...}}					a message that fits a filter
 *		{"until": time} or {"for_ms": n}	a time
 *
 * A time together with one of the first two limits the wait.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUSPENSION_H
#define CLUTCH_SUSPENSION_H

#include "clutch.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"

/* a number of children, or one of these */
#define JOIN_NONE	(-1)
#define JOIN_ALL	0

typedef struct Suspension
{
	bool		is_set;
	int			children;
	bool		has_message;
	JsonbValue	message;		/* the filter, an object; see feed/filter.h */
	TimestampTz until;			/* 0 if none, or if it is counted from the
								 * event: */
	int64		for_ms;			/* 0 if none */
} Suspension;

#define SUSPENSION_NONE		((Suspension) {.children = JOIN_NONE})

/* Reads an optional field of an object, and adds its faults to its list. */
struct Fields;
extern void suspension_read(struct Fields *parent, int field, Suspension *suspension);

/*
 * Reads "all", "any" or a number of children.  Returns JOIN_NONE if the field
 * is missing.
 */
extern int	suspension_read_children(struct Fields *f, int field);

/*
 * Returns the end of a wait that begins at that time, or 0 if there is none.
 */
extern TimestampTz suspension_end(const Suspension *suspension, TimestampTz from);

/*
 * Does the payload of the task.progress say more than its state?  A redacted
 * payload (store/redaction.h) has kept its state if it did not.
 */
extern bool suspension_has_note(JsonbContainer *payload);

#endif							/* CLUTCH_SUSPENSION_H */
