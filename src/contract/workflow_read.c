/*-------------------------------------------------------------------------
 *
 * workflow_read.c
 *	  Reading the definition of a workflow from its document.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "contract/workflow.h"

#include "base/document.h"
#include "base/text_map.h"
#include "miscadmin.h"
#include "protocol/fields.h"

#define ADVICE	"a definition contains only what the database checks"

enum
{
	WORKFLOW_STEPS,
	WORKFLOW_VERSION,
	WORKFLOW_NAME,
	WORKFLOW_DESCRIPTION,
	WORKFLOW_NEXT_ACTIONS
};

static const Slice workflow_names[] = {
	FIELD("steps"),
	FIELD("version"),
	FIELD("workflow"),
	FIELD("description"),
	FIELD("next_actions"),
};
static const FieldTable workflow_fields = FIELD_TABLE(workflow_names, ADVICE);

enum
{
	STEP_ID,
	STEP_AFTER,
	STEP_EXPECTS,
	STEP_OPTIONAL,
	STEP_DESCRIPTION
};

static const Slice step_names[] = {
	FIELD("id"),
	FIELD("after"),
	FIELD("expects"),
	FIELD("optional"),
	FIELD("description"),
};
static const FieldTable step_fields = FIELD_TABLE(step_names, ADVICE);

enum
{
	EXPECTS_TYPE,
	EXPECTS_REQUIRED,
	EXPECTS_PAYLOAD_TYPE
};

static const Slice expects_names[] = {
	FIELD("type"),
	FIELD("required"),
	FIELD("payload_type"),
};
static const FieldTable expects_fields = FIELD_TABLE(expects_names, ADVICE);

/* the types with which an agent reports that a step is done */
static const char *const expected_types[] = {"task.result", "task.progress", NULL};
static const MessageType expected_message_types[] = {MSG_TASK_RESULT, MSG_TASK_PROGRESS};

/* ------------------------------------------------------------------- a step */

/* Reads a list of keys: any strings, each once. */
static void
workflow_read_required(Fields *f, SliceList *keys)
{
	const JsonbContainer *array = fields_array(f, EXPECTS_REQUIRED, OPTIONAL,
											   f->list->limits->max_list, "clutch.max_list");
	DocumentPlace place = fields_place(f, EXPECTS_REQUIRED);
	DocumentPlace element = {&place, SLICE_NONE};
	int			n = array ? JsonContainerSize(array) : 0;

	keys->n = n;
	keys->items = n > 0 ? palloc(n * sizeof(Slice)) : NULL;
	for (; element.index < n; element.index++)
	{
		JsonbValue	value;

		value_at(array, element.index, &value);
		keys->items[element.index] = value_text(&value, &element, TEXT_STRING, f->list);
	}
}

static void
workflow_read_expects(Fields *step_part, WorkflowStep *step)
{
	DocumentPlace place = fields_place(step_part, STEP_EXPECTS);
	Fields		f;
	int			type;

	if (!fields_present(step_part, STEP_EXPECTS) ||
		!fields_open(&f, &expects_fields, &step_part->values[STEP_EXPECTS], &place, step_part->list))
		return;
	type = fields_word(&f, EXPECTS_TYPE, OPTIONAL, expected_types);
	if (type >= 0)
		step->type = expected_message_types[type];
	step->payload_type = fields_identifier(&f, EXPECTS_PAYLOAD_TYPE, OPTIONAL, ID_WORD);
	workflow_read_required(&f, &step->required);
	if (step->type == MSG_TASK_PROGRESS && !slice_present(step->payload_type))
	{
		DocumentPlace at = fields_place(&f, EXPECTS_PAYLOAD_TYPE);

		place_fault(&at, f.list, "REQUIRED",
					"is missing; it tells which task.progress completes the step.");
	}
}

static void
workflow_read_step(const JsonbValue *value, const DocumentPlace *place, WorkflowStep *step,
				   ProblemList *list)
{
	Fields		f;

	memset(step, 0, sizeof(*step));
	step->type = MSG_TASK_RESULT;
	if (!fields_open(&f, &step_fields, value, place, list))
		return;
	step->id = fields_identifier(&f, STEP_ID, REQUIRED, ID_WORD);
	fields_identifiers(&f, STEP_AFTER, OPTIONAL, ID_WORD, &step->after);
	(void) fields_bool(&f, STEP_OPTIONAL, OPTIONAL, &step->is_optional);
	(void) fields_text(&f, STEP_DESCRIPTION, OPTIONAL, TEXT_STRING);
	workflow_read_expects(&f, step);
}

/* ------------------------------------------------------------- between steps */

/* what the walk from step to step, against the order, knows of a step */
typedef enum StepState
{
	STEP_NEW,
	STEP_ENTERED,				/* the walk has not left it yet */
	STEP_LEFT
} StepState;

typedef struct StepWalk
{
	const Workflow *workflow;
	TextMap    *by_id;			/* of WorkflowStep *; of equal IDs, the first */
	StepState  *states;
} StepWalk;

static WorkflowStep *
workflow_step_of_id(const StepWalk *walk, Slice id)
{
	return slice_present(id) ? text_map_get(walk->by_id, id) : NULL;
}

/*
 * Does the walk from the step to those before it return to a step that it has
 * not left?  Each step is entered only once.
 */
static bool
workflow_is_circular(const StepWalk *walk, const WorkflowStep *step)
{
	StepState  *state = &walk->states[step - walk->workflow->steps];

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (*state != STEP_NEW)
		return *state == STEP_ENTERED;
	*state = STEP_ENTERED;
	for (int i = 0; i < step->after.n; i++)
	{
		const WorkflowStep *before = workflow_step_of_id(walk, step->after.items[i]);

		if (before != NULL && workflow_is_circular(walk, before))
			return true;
	}
	*state = STEP_LEFT;
	return false;
}

static bool
workflow_has_cycle(const StepWalk *walk)
{
	for (int i = 0; i < walk->workflow->nsteps; i++)
		if (workflow_is_circular(walk, &walk->workflow->steps[i]))
			return true;
	return false;
}

static void
workflow_check_after(const StepWalk *walk, const WorkflowStep *step, const DocumentPlace *element,
					 ProblemList *list)
{
	DocumentPlace after = {element, SLICE_OF("after")};
	DocumentPlace one = {&after, SLICE_NONE};

	for (; one.index < step->after.n; one.index++)
	{
		Slice		id = step->after.items[one.index];

		if (slice_present(id) && workflow_step_of_id(walk, id) == NULL)
			place_fault(&one, list, "WRONG_VALUE", "is %s; there is no such step.", place_quote(id));
	}
}

void
workflow_check(const Workflow *workflow, ProblemList *list)
{
	StepWalk	walk = {workflow, text_map_make(), palloc0(workflow->nsteps * sizeof(StepState))};
	DocumentPlace steps = {NULL, workflow_names[WORKFLOW_STEPS]};
	DocumentPlace element = {&steps, SLICE_NONE};
	int			i;

	for (i = 0; i < workflow->nsteps; i++)
	{
		WorkflowStep *step = &workflow->steps[i];
		void	  **place = slice_present(step->id) ? text_map_place(walk.by_id, step->id) : NULL;

		if (place != NULL && *place == NULL)
			*place = step;
	}
	for (; element.index < workflow->nsteps; element.index++)
	{
		const WorkflowStep *step = &workflow->steps[element.index];
		DocumentPlace id = {&element, SLICE_OF("id")};

		CHECK_FOR_INTERRUPTS();
		if (slice_present(step->id) && workflow_step_of_id(&walk, step->id) != step)
			place_fault(&id, list, "DUPLICATE_VALUE", "is the ID of an earlier step.");
		workflow_check_after(&walk, step, &element, list);
	}
	if (workflow_has_cycle(&walk))
		place_fault(&steps, list, "CYCLE", "contains steps that come after one another in a circle.");
}

/* ----------------------------------------------------------------- the whole */

void
workflow_read(Jsonb *document, Workflow *workflow, ProblemList *list)
{
	JsonbValue	root;
	Fields		f;
	DocumentPlace place;
	DocumentPlace element = {&place, SLICE_NONE};
	const JsonbContainer *steps;

	memset(workflow, 0, sizeof(*workflow));
	if (!JB_ROOT_IS_OBJECT(document))
	{
		problem_add(list, "", "WRONG_TYPE", "A workflow must be a JSON object, or a JSON string that contains YAML.");
		return;
	}
	root = document_value(document);
	(void) fields_open(&f, &workflow_fields, &root, NULL, list);
	place = fields_place(&f, WORKFLOW_NAME);
	workflow->name = fields_identifier(&f, WORKFLOW_NAME, REQUIRED, ID_WORD);
	if (slice_present(workflow->name) && memchr(workflow->name.s, '@', workflow->name.len) != NULL)
		place_fault(&place, list, "WRONG_FORMAT", "is %s; write the version into \"version\", not after an @.",
					place_quote(workflow->name));
	(void) fields_integer(&f, WORKFLOW_VERSION, OPTIONAL, 1, PG_INT32_MAX, &workflow->version);
	(void) fields_text(&f, WORKFLOW_DESCRIPTION, OPTIONAL, TEXT_STRING);
	(void) fields_bool(&f, WORKFLOW_NEXT_ACTIONS, OPTIONAL, &workflow->next_actions);
	steps = fields_array(&f, WORKFLOW_STEPS, REQUIRED, list->limits->max_list, "clutch.max_list");
	place = fields_place(&f, WORKFLOW_STEPS);
	if (steps == NULL)
		return;
	workflow->nsteps = JsonContainerSize(steps);
	workflow->steps = palloc(workflow->nsteps * sizeof(WorkflowStep));
	if (workflow->nsteps == 0)
		place_fault(&place, list, "EMPTY", "is empty; a workflow has at least one step.");
	for (; element.index < workflow->nsteps; element.index++)
	{
		JsonbValue	value;

		value_at(steps, element.index, &value);
		workflow_read_step(&value, &element, &workflow->steps[element.index], list);
	}
}
