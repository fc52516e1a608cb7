/*-------------------------------------------------------------------------
 *
 * workflow.h
 *	  Definitions of workflows (spec 000 3.4): clutch.workflow.
 *
 * A workflow has steps, and each step says what the event that completes it
 * must look like: its type, its payload_type and the members of its payload.
 * A step may come after others, and may be optional.  Definitions have
 * versions, numbered from 1, which never change.  No more runs are bound to a
 * version that has been removed.  It is kept as long as finished runs need it,
 * because these are shown by its steps.
 *
 * What is read from a document points into it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CLUTCH_WORKFLOW_H
#define CLUTCH_WORKFLOW_H

#include "protocol/envelope.h"

typedef struct WorkflowStep
{
	Slice		id;
	MessageType type;			/* MSG_TASK_RESULT or MSG_TASK_PROGRESS */
	Slice		payload_type;	/* absent if any */
	SliceList	required;		/* members of the payload */
	SliceList	after;			/* IDs of other steps */
	bool		is_optional;
} WorkflowStep;

typedef struct Workflow
{
	Slice		name;
	int64		version;		/* 0 if the document names none */
	int			nsteps;
	WorkflowStep *steps;
	bool		next_actions;	/* agents may add tasks to a run; see
								 * flow/emission.h */
} Workflow;

/* --- workflow_read.c --- */

/* Reads a definition and adds its faults to the list. */
extern void workflow_read(Jsonb *document, Workflow *workflow, ProblemList *list);

/*
 * Adds the faults between its steps.  Only a definition that is registered
 * needs this; a stored one has none.
 */
extern void workflow_check(const Workflow *workflow, ProblemList *list);

/* --- workflow.c --- */

/*
 * Registers a definition and returns its version: the one that it names, or
 * the next one.  If the definition equals the newest version, or the version
 * that it names, it is registered already; one that names a removed version
 * restores it.  Raises 22023 with all faults, or 23505, code WORKFLOW_EXISTS,
 * if that version has another definition.
 */
extern int	workflow_register(Jsonb *document);

/* which versions to look for */
typedef enum WorkflowState
{
	WORKFLOW_REGISTERED,		/* those to which a run may be bound */
	WORKFLOW_ANY				/* removed ones, too */
} WorkflowState;

/*
 * Finds a version (0 means the newest), palloc'd.  Returns false if there is
 * none.
 */
extern bool workflow_find(Slice name, int version, WorkflowState state, Workflow *workflow);

/*
 * Returns the guard (base/guard) that must be taken before finding a version
 * to which a run is to be bound, and released when the binding can be seen.
 */
extern uint64 workflow_binding_guard(Slice name);

/*
 * To be called before the runs that are bound to a version are looked up.
 * Until the transaction ends, nobody else can bind a run to this workflow,
 * register a version or remove one.
 */
extern void workflow_begin_removal(Slice name);

/*
 * Removes a version.  If runs still need it, it is kept for them.  Returns
 * false if it was not registered, or has been removed before.
 */
extern bool workflow_remove(Slice name, int version, bool is_needed);

/*
 * Splits "name@2" into the name and the version.  The version is 0 if there is
 * none, and -1 if it is not a number.
 */
extern void workflow_split_name(Slice text, Slice *name, int *version);

/*
 * Returns some names of workflows for a hint, palloc'd, or NULL if there are
 * none.
 */
extern char *workflow_list_names(void);

/* Returns NULL if there is no such step. */
extern const WorkflowStep *workflow_step(const Workflow *workflow, Slice id);

/*
 * Returns the only step with that payload_type, or NULL.  type is that of the
 * event, or MSG_TASK_REQUEST for steps of any type.
 */
extern const WorkflowStep *workflow_step_of_payload(const Workflow *workflow, MessageType type,
													Slice payload_type);

/* Does an event of that type and payload_type claim to complete the step? */
extern bool workflow_step_concerns(const WorkflowStep *step, MessageType type, Slice payload_type);

/* Returns the IDs of the steps, separated by commas, palloc'd. */
extern char *workflow_list_steps(const Workflow *workflow);

#endif							/* CLUTCH_WORKFLOW_H */
