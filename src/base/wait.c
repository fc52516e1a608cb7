/*-------------------------------------------------------------------------
 *
 * wait.c
 *	  Waiting for other transactions, and forbidding it.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "base/wait.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/guc.h"

/* the lock_timeout of a transaction in which a wait has timed out */
#define SHORT_WAIT	"20ms"

static bool waiting_is_forbidden = false;
static bool waits_long_only_once = false;
static bool has_failed = false;

void
wait_forbidden_run(void (*step) (void *arg), void *arg)
{
	bool		was_forbidden = waiting_is_forbidden;

	waiting_is_forbidden = true;
	PG_TRY();
	{
		step(arg);
	}
	PG_FINALLY();
	{
		waiting_is_forbidden = was_forbidden;
	}
	PG_END_TRY();
}

bool
wait_is_allowed(void)
{
	return !waiting_is_forbidden;
}

void
wait_refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not obtain lock on %s without waiting", what),
			 errhint("Another transaction holds it; try again when that has ended.")));
}

void
wait_long_only_once(void)
{
	waits_long_only_once = true;
}

/* A wait that was refused has the same code, but comes from elsewhere. */
bool
wait_has_timed_out(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && error->funcname != NULL &&
		strcmp(error->funcname, "ProcessInterrupts") == 0;
}

void
wait_note_failure(const ErrorData *error)
{
	if (!waits_long_only_once || !wait_has_timed_out(error))
		return;
	has_failed = true;
	(void) set_config_option("lock_timeout", SHORT_WAIT, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

bool
wait_take_failure(void)
{
	bool		had_failed = has_failed;

	has_failed = false;
	return had_failed;
}

void
wait_for_transaction(TransactionId xid)
{
	CHECK_FOR_INTERRUPTS();
	if (wait_is_allowed())
		XactLockTableWait(xid, NULL, NULL, XLTW_None);
	else if (!conditional_xact_lock_compat(xid))
		wait_refuse(psprintf("transaction %u", xid));
}
