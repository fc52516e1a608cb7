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
 * suspended, and so does whoever suspends a task, since what it waits for may be
 * there already.  flow/due.h wakes it when its time has come.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_SUSPEND_H
#define CLUTCH_SUSPEND_H

#include "flow/agenda.h"

/* CONSEQUENCE_WAKE; false: something is in doubt, so this is to be tried later */
extern bool suspend_settle(const Consequence *consequence);

#endif							/* CLUTCH_SUSPEND_H */
