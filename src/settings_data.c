/*-------------------------------------------------------------------------
 *
 * settings_data.c
 *	  Settings for what is stored beside the state: proofs, artifacts and
 *	  calls.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "settings.h"
#include "utils/guc.h"

/*
 * How often, in seconds, ticks and the worker add committed events to the tree
 * over the log.  With 0 they never do, and an operator calls clutch.seal().
 */
int			clutch_seal_interval = 10;

/*
 * The name of this log in the heads of its tree, the same in every copy of the
 * log.  If it is empty, the name in the last head is used or, for the first
 * head, one made from the server's system identifier.
 */
char	   *clutch_log_origin = NULL;

/*
 * Whether statements may change the objects that protect the log.  This
 * matters only if the library is preloaded.
 */
bool		clutch_allow_ddl = false;

/*
 * The largest artifact, in megabytes.  An upload in pieces is refused as soon
 * as it grows larger than this.
 */
int			clutch_max_artifact_size = 1024;

/*
 * How many megabytes of artifacts, as base64, the body of a call may contain.
 * A jsonb value must be smaller than 256 MB.
 */
int			clutch_max_body_size = 32;

/*
 * How long, in seconds, an artifact that no event attaches, or an upload that
 * nobody finishes, is kept.
 */
int			clutch_artifact_grace = 24 * 3600;

/*
 * How long, in seconds, a call of the outbox is kept after it was sent, or
 * after nobody needs it any more.
 */
int			clutch_outbox_keep = 24 * 3600;

/*
 * Whether an envelope may attach an artifact that does not exist in this
 * database, or one that its sender may not read.  Such an attachment is only a
 * text, and gives nobody the right to read the artifact.
 */
int			clutch_dangling_artifacts = DANGLING_ALLOW;

static const struct config_enum_entry settings_dangling_modes[] = {
	{"allow", DANGLING_ALLOW, false},
	{"refuse", DANGLING_REFUSE, false},
	{NULL, 0, false}
};

/*
 * The origin is a line of a signed note, and the first one, so it must be one
 * word.
 */
static bool
settings_check_log_origin(char **newval, void **extra, GucSource source)
{
	const char *c;

	for (c = *newval; c != NULL && *c != '\0'; c++)
		if ((unsigned char) *c <= ' ' || *c == 0x7f)
		{
			GUC_check_errdetail("The value must not contain spaces and control characters.");
			return false;
		}
	return true;
}

static void
settings_define_proofs(void)
{
	settings_define_integer("clutch.seal_interval",
							"Sets how often committed events are added to the tree over the log.",
							&clutch_seal_interval, 10, 0, 86400, GUC_UNIT_S);
	DefineCustomStringVariable("clutch.log_origin",
							   "Sets the name by which the checkpoints of the log call it.", NULL,
							   &clutch_log_origin, "",
							   PGC_SUSET, 0, settings_check_log_origin, NULL, NULL);
	DefineCustomBoolVariable("clutch.allow_ddl",
							 "Allows statements that remove or change the protection of the log.", NULL,
							 &clutch_allow_ddl, false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

static void
settings_define_artifacts(void)
{
	settings_define_integer("clutch.max_artifact_size", "Sets the maximum size of an artifact.",
							&clutch_max_artifact_size, 1024, 1, 1024 * 1024, GUC_UNIT_MB);
	settings_define_integer("clutch.max_body_size",
							"Sets the maximum size of the artifacts in a body of the outbox.",
							&clutch_max_body_size, 32, 1, 255, GUC_UNIT_MB);
	settings_define_integer("clutch.artifact_grace",
							"Sets how long an artifact to which no event refers is kept.",
							&clutch_artifact_grace, 24 * 3600, 0, 366 * 24 * 3600, GUC_UNIT_S);
	DefineCustomEnumVariable("clutch.dangling_artifacts",
							 "Selects whether an envelope may attach an artifact that is not there.", NULL,
							 &clutch_dangling_artifacts, DANGLING_ALLOW, settings_dangling_modes,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

void
settings_define_data(void)
{
	settings_define_proofs();
	settings_define_artifacts();
	settings_define_integer("clutch.outbox_keep",
							"Sets how long a call is kept in the outbox after it was sent.",
							&clutch_outbox_keep, 24 * 3600, 0, 366 * 24 * 3600, GUC_UNIT_S);
}
