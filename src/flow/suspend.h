/*-------------------------------------------------------------------------
 *
 * suspend.h
 *	  Tasks that wait without a slot: for their children, a time or a message.
 *
 * An agent suspends its task by a task.progress with meta.clutch.wait
 * (protocol/suspension.h).  The task is woken once, by what it waits for or at
 * the time until which it waits, and then begins again like one whose question
 * was answered: its agent gets it back first.
 *
 * Whoever ends a child puts a CONSEQUENCE_WAKE on the agenda if the parent is
 * suspended.  So does whoever suspends a task, since what it waits for may be
 * there already; and so does a transaction that has sent messages of a run in
 * which a task waits for one, before it commits.  flow/due.h wakes a task when its
 * time has come.
 *
 * A message is one of chat.* and tool.* of the task's own run that another agent
 * has sent and the filter fits, however early in the life of the task it was sent.
 * It wakes a task once: the event that says so has an idempotency key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUSPEND_H
#define CLUTCH_SUSPEND_H

#include "flow/agenda.h"
#include "store/event.h"

/* raises KL001 if the filter of the message that it waits for is not valid */
extern void suspend_check(const Envelope *progress);

/*
 * An event is at the door.  If it is a message, its row is looked at again when
 * the transaction commits: before it is written, a task that is suspended just
 * now might not see it, and not be seen.
 */
extern void suspend_hear(const Event *event);

/* has anything been heard that could wake a task?  Cheap. */
extern bool suspend_has_heard(void);

/* puts the tasks that the messages may wake on the agenda */
extern void suspend_settle_heard(void);

/* CONSEQUENCE_WAKE; false: something is in doubt, so this is to be tried later */
extern bool suspend_settle(const Consequence *consequence);

#endif							/* CLUTCH_SUSPEND_H */
