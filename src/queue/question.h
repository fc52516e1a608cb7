/*-------------------------------------------------------------------------
 *
 * question.h
 *	  Open questions of tasks: rows of clutch.question.
 *
 * An agent asks a question by a task.progress whose payload has a "state" of
 * "input_required" (or "auth_required"), with a "deadline" if the question
 * expires.  The task then holds neither a slot nor a lease, so the agent may
 * stop. clutch.question has one row for each open question; flow/answer.h says
 * what answers it.
 *
 * The caller must have locked the task.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_QUESTION_H
#define CLUTCH_QUESTION_H

#include "task/task.h"

/* Insert and remove the row of the task's open question. */
extern void question_put(const Task *task);
extern void question_remove(const Task *task);

#endif							/* CLUTCH_QUESTION_H */
