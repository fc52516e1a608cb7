/*-------------------------------------------------------------------------
 *
 * attachment.c
 *	  Which artifacts an envelope attaches, and whether its sender may.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "flow/attachment.h"
#include "flow/right.h"
#include "protocol/problem.h"
#include "settings.h"
#include "store/artifact.h"
#include "trust/principal.h"

bool
attachment_may_read(Slice digest, RowSnapshot which)
{
	Oid			role = principal_role();

	return principal_is_operator(role) || artifact_is_owned(digest, role, which) ||
		artifact_use_any(digest, which, right_role_has);
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

	if (slice_present(digest) && attachment_may_read(digest, ROWS_LATEST) && artifact_hold(digest))
		artifact_use_add(digest, event->seq, event->envelope.run_id);
	else if (clutch_dangling_artifacts == DANGLING_REFUSE && slice_starts(reference, SLICE_OF("artifact:")))
		attachment_refuse(reference, i);
}

void
attachment_take(const Event *event)
{
	const SliceList *references = &event->envelope.attachments;
	int			i;

	/* what the database itself writes attaches nothing */
	for (i = 0; !event->internal && i < references->n; i++)
		attachment_take_one(event, references->items[i], i);
}
