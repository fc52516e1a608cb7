/*-------------------------------------------------------------------------
 *
 * attachment.c
 *	  Attaching artifacts to envelopes.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/attachment.h"
#include "flow/sight.h"
#include "protocol/problem.h"
#include "settings.h"
#include "store/artifact.h"
#include "trust/principal.h"

static bool
attachment_is_seen(int64 seq, Slice run_id, void *arg)
{
	Sight	   *sight = arg;

	switch (sight_of_run(sight, run_id))
	{
		case SIGHT_RUN:
			return true;
		case SIGHT_TASKS:
			return sight_has_seq(sight, seq);
		case SIGHT_NONE:
			break;
	}
	return false;
}

bool
attachment_may_read(Slice digest, RowSnapshot which)
{
	Sight		sight;

	if (artifact_is_owned(digest, principal_role(), which))
		return true;
	sight_begin_of_sender(&sight);
	return sight.everything || artifact_use_any(digest, which, attachment_is_seen, &sight);
}

/* whose rights count, and what was made for it; without an agent, the current role counts */
static Slice acting_for = {NULL, 0};
static const List *made_for = NIL;

void
attachment_act_for(Slice agent_id, const List *made)
{
	acting_for = agent_id;
	made_for = made;
}

/* May whoever sends the event attach the artifact? */
static bool
attachment_is_allowed(Slice reference, Slice digest)
{
	Sight		sight;

	if (!slice_present(acting_for))
		return attachment_may_read(digest, ROWS_LATEST);
	if (slice_list_has(made_for, reference))
		return true;
	sight_begin_of_agent(&sight, acting_for);
	return artifact_use_any(digest, ROWS_LATEST, attachment_is_seen, &sight);
}

static void
attachment_refuse(Slice reference, int i)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_ENVELOPE_INVALID),
			 errproblem(psprintf("/attachments/%d/ref", i), "ARTIFACT_NOT_FOUND"),
			 errmsg("artifact \"%.*s\" does not exist", reference.len, reference.s),
			 errhint("Upload it with clutch.put_artifact, and attach the reference that it returns.")));
}

static void
attachment_take_one(const Event *event, Slice reference, int i)
{
	Slice		digest = artifact_digest_of(reference);

	if (slice_present(digest) && attachment_is_allowed(reference, digest) && artifact_hold(digest))
		artifact_use_add(digest, event->seq, event->envelope.run_id);
	else if (clutch_dangling_artifacts == DANGLING_REFUSE && slice_starts(reference, SLICE_OF("artifact:")))
		attachment_refuse(reference, i);
}

void
attachment_take(const Event *event)
{
	const SliceList *references = &event->envelope.attachments;
	int			i;

	/* events of the database itself attach nothing */
	for (i = 0; !event->internal && i < references->n; i++)
		attachment_take_one(event, references->items[i], i);
}
