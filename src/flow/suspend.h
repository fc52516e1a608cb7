/*-------------------------------------------------------------------------
 *
 * suspend.h
 *	  Suspended tasks, which wait without a slot for their children, a time or
 *	  a message.
 *
 * An agent suspends its task by a task.progress with meta.clutch.wait
 * (protocol/suspension.h).  The task is woken once, by what it waits for or
 * when its time limit has passed, and is then handled like one whose question
 * was answered: its own agent is the first to get it back.
 *
 * Ending a child puts a CONSEQUENCE_WAKE on the agenda if the parent is
 * suspended.  So does suspending a task, because what it waits for may have
 * happened already; and so does a transaction, before it commits, that has
 * sent messages in a run in which a task waits for one.  flow/due.h wakes a
 * task when its time has come.
 *
 * A message that wakes a task is a chat.* or tool.* in the task's own run that
 * another agent has sent and that the filter matches, however early in the
 * life of the task it was sent.  Each message wakes a task only once, because
 * the event that says so has an idempotency key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUSPEND_H
#define CLUTCH_SUSPEND_H

#include "flow/agenda.h"
#include "store/event.h"

/*
 * Raises KL001 if the filter for the message that it waits for is not valid.
 */
extern void suspend_check(const Envelope *progress);

/*
 * To be called when an event is admitted.  If it is a message, its row is
 * looked at again when the transaction commits.  Before the row is written, a
 * task that is just being suspended might not see it, and we might not see
 * that task.
 */
extern void suspend_hear(const Event *event);

/*
 * Has this transaction sent anything that could wake a task?  This is cheap.
 */
extern bool suspend_has_heard(void);

/* Puts the tasks that the messages may wake on the agenda. */
extern void suspend_settle_heard(void);

/*
 * Handles CONSEQUENCE_WAKE.  Returns false if something is in doubt, so that
 * it must be tried again later.
 */
extern bool suspend_settle(const Consequence *consequence);

#endif							/* CLUTCH_SUSPEND_H */
