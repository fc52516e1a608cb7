/*-------------------------------------------------------------------------
 *
 * question.h
 *	  Tasks that are parked with a question to a human or another agent.
 *
 * An agent asks by a task.progress whose payload says "state":
 * "input_required" (or "auth_required"), with a "deadline" if the question
 * does not wait for ever.  The task then holds neither slot nor lease, and
 * its process may forget it.  clutch.question has a row for each that is
 * open, kept by who holds the task's lock; what answers it: answer.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUESTION_H
#define CLUTCH_QUESTION_H

#include "task/task.h"

/* a task.progress that asks is a step of its own */
extern void question_step(const Envelope *report, TaskEvent *event);

extern void question_put(const Task *task);
extern void question_remove(const Task *task);

#endif							/* CLUTCH_QUESTION_H */
