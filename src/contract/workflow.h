/*-------------------------------------------------------------------------
 *
 * workflow.h
 *	  The definition of a workflow (spec 000 3.4): clutch.workflow.
 *
 * A workflow has steps, and each step says what the event that completes it has
 * to look like: its type, its payload_type and the members of its payload.  A
 * step may come after others, and may be optional.  Definitions have versions,
 * numbered from 1, which never change.  A version that is removed is bound to no
 * more runs.  It stays as long as runs that are over need it, for they are shown by
 * its steps.
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
	Slice		payload_type;	/* absent means any */
	SliceList	required;		/* members of the payload */
	SliceList	after;			/* ids of other steps */
	bool		is_optional;
} WorkflowStep;

typedef struct Workflow
{
	Slice		name;
	int64		version;		/* 0 if the document names none */
	int			nsteps;
	WorkflowStep *steps;
	bool		next_actions;	/* agents may add tasks to a run, see flow/emission.h */
} Workflow;

/* workflow_read.c: reads a definition and adds its faults to the list */
extern void workflow_read(Jsonb *document, Workflow *workflow, ProblemList *list);

/*
 * Registers a definition and returns its version: the one that it names, or the next.
 * A definition that is equal to the newest version, or to the version that it
 * names, is registered already; one that names a removed version brings it back.
 * Raises 22023 with all faults, or 23505, code
 * WORKFLOW_EXISTS, if that version is another definition.
 */
extern int	workflow_register(Jsonb *document);

/* which versions are looked for */
typedef enum WorkflowState
{
	WORKFLOW_REGISTERED,		/* to which a run may be bound */
	WORKFLOW_ANY				/* also removed ones */
} WorkflowState;

/*
 * Finds a version (0: the newest), palloc'd.  Returns false if there is none.
 */
extern bool workflow_find(Slice name, int version, WorkflowState state, Workflow *workflow);

/*
 * Whoever binds a run takes this guard (base/guard) before it finds the version, and
 * releases it when the binding can be seen.
 */
extern uint64 workflow_binding_guard(Slice name);

/*
 * Before the runs are looked up that are bound to a version: until the transaction
 * ends, nobody else binds a run to this workflow, registers or removes it.
 */
extern void workflow_begin_removal(Slice name);

/*
 * Removes a version; if runs need it, it stays for them.  Returns false if it was
 * not registered, or removed before.
 */
extern bool workflow_remove(Slice name, int version, bool is_needed);

/* The name and the version of "name@2".  The version is 0 if there is none, -1 if it is not a number. */
extern void workflow_split_name(Slice text, Slice *name, int *version);

/* some names of workflows for a hint, palloc'd, or NULL if there are none */
extern char *workflow_list_names(void);

/* Returns NULL if there is no such step. */
extern const WorkflowStep *workflow_step(const Workflow *workflow, Slice id);

/*
 * The only step with that payload_type, or NULL.  type is that of the event, or
 * MSG_TASK_REQUEST for steps of any type.
 */
extern const WorkflowStep *workflow_step_of_payload(const Workflow *workflow, MessageType type,
													Slice payload_type);

/* Does an event of that type and payload_type claim to complete the step? */
extern bool workflow_step_concerns(const WorkflowStep *step, MessageType type, Slice payload_type);

/* Returns the ids of the steps, separated by commas; palloc'd. */
extern char *workflow_list_steps(const Workflow *workflow);

#endif							/* CLUTCH_WORKFLOW_H */
