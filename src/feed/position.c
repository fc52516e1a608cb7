/*-------------------------------------------------------------------------
 *
 * position.c
 *	  How far a reader of the log has come: a cursor is a snapshot.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "feed/position.h"
#include "lib/stringinfo.h"
#include "protocol/problem.h"
#include "store/epoch.h"
#include "utils/snapmgr.h"

static int
compare_xids(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

static TimeLineID
current_timeline(void)
{
	TimeLineID	timeline;

	if (!RecoveryInProgress())
		return GetWALInsertionTimeLine();
	(void) GetXLogReplayRecPtr(&timeline);
	return timeline;
}

Position
position_beginning(void)
{
	Position	position = {0};

	position.epoch = 1;
	position.timeline = 0;
	position.system_identifier = epoch_system(1);
	return position;
}

/* the copy that the epoch was of may have gone on: there, this is of the future */
Position
position_end(int epoch)
{
	Position	position = {0};

	position.epoch = epoch;
	position.timeline = PG_UINT32_MAX;
	position.system_identifier = epoch_system(epoch);
	position.xmax = PG_UINT64_MAX;
	return position;
}

/*
 * A snapshot taken in recovery has all transactions in progress, the top ones
 * among them, in subxip.  Events carry the top transaction.
 */
Position
position_now(void)
{
	Snapshot	snapshot = GetActiveSnapshot();
	Position	position = {0};
	const TransactionId *xids = snapshot->takenDuringRecovery ? snapshot->subxip : snapshot->xip;
	int			n = snapshot->takenDuringRecovery ? snapshot->subxcnt : (int) snapshot->xcnt;
	FullTransactionId own = GetTopFullTransactionIdIfAny();
	int			i;

	position.epoch = epoch_look();
	position.timeline = current_timeline();
	position.system_identifier = (int64) GetSystemIdentifier();
	position.xmax = epoch_full_xid(snapshot->xmax);
	position.xip = palloc(sizeof(uint64) * (n + 1));
	for (i = 0; i < n; i++)
		position.xip[position.nxip++] = epoch_full_xid(xids[i]);
	if (FullTransactionIdIsValid(own) && U64FromFullTransactionId(own) < position.xmax)
		position.xip[position.nxip++] = U64FromFullTransactionId(own);
	qsort(position.xip, position.nxip, sizeof(uint64), compare_xids);
	return position;
}

Position
position_cut(const Position *position, uint64 xmax)
{
	Position	cut = *position;

	if (xmax >= cut.xmax)
		return cut;
	cut.xmax = xmax;
	while (cut.nxip > 0 && cut.xip[cut.nxip - 1] >= xmax)
		cut.nxip--;
	return cut;
}

bool
position_has_seen(const Position *position, int epoch, uint64 xid)
{
	if (epoch != position->epoch)
		return epoch < position->epoch;
	return xid < position->xmax &&
		bsearch(&xid, position->xip, position->nxip, sizeof(uint64), compare_xids) == NULL;
}

/* -------------------------------------------------------------- as text */

char *
position_text(const Position *position)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	appendStringInfo(&text, "p1.%d.%u." UINT64_FORMAT "." UINT64_FORMAT, position->epoch,
					 position->timeline, (uint64) position->system_identifier, position->xmax);
	for (i = 0; i < position->nxip; i++)
		appendStringInfo(&text, "%c" UINT64_FORMAT, i == 0 ? '.' : ',', position->xip[i]);
	return text.data;
}

static bool
parse_number(const char **at, uint64 *number)
{
	char	   *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

static bool
parse_xips(const char *at, Position *position)
{
	position->xip = palloc(sizeof(uint64) * (strlen(at) / 2 + 1));
	if (*at == '\0')
		return true;
	if (*at++ != '.')
		return false;
	do
	{
		if (!parse_number(&at, &position->xip[position->nxip++]))
			return false;
	} while (*at == ',' && at++);
	qsort(position->xip, position->nxip, sizeof(uint64), compare_xids);
	return *at == '\0';
}

bool
position_parse(Slice text, Position *position)
{
	const char *at = slice_cstring(text);
	uint64		epoch;
	uint64		timeline;
	uint64		system_identifier;

	memset(position, 0, sizeof(*position));
	if (strncmp(at, "p1.", 3) != 0)
		return false;
	at += 3;
	if (!parse_number(&at, &epoch) || *at++ != '.' || epoch > PG_INT32_MAX ||
		!parse_number(&at, &timeline) || *at++ != '.' || timeline > PG_UINT32_MAX ||
		!parse_number(&at, &system_identifier) || *at++ != '.' ||
		!parse_number(&at, &position->xmax))
		return false;
	position->epoch = epoch;
	position->timeline = timeline;
	position->system_identifier = (int64) system_identifier;
	return parse_xips(at, position);
}

/* ------------------------------------------------------------- histories */

static void
refuse(const char *code, const char *hint, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_POSITION_REFUSED),
			 errproblem("", code),
			 errmsg("the position cannot be read from here: %s", why),
			 errhint("%s", hint)));
}

static void
refuse_later(void)
{
	refuse("POSITION_IN_FUTURE", "Read from the server that gave it, or from a position of this one.",
		   "it is of a later copy or timeline than this server's");
}

/*
 * On a standby what committed here first may come later: the end of an open
 * batch would pass over it.
 */
static bool
is_ahead(const Position *position, const Position *now)
{
	int			i;

	if (position->xmax > now->xmax)
		return true;
	for (i = 0; i < now->nxip; i++)
		if (position_has_seen(position, now->epoch, now->xip[i]))
			return true;
	return false;
}

bool
position_is_ahead(const Position *position)
{
	Position	now = position_now();

	return position->epoch == now.epoch && position->timeline == now.timeline &&
		is_ahead(position, &now);
}

void
position_settle(Position *position)
{
	Position	now = position_now();
	uint64		lost_from;

	/* a copy that nobody has written to is of the epoch to come */
	if (position->epoch > now.epoch)
		refuse_later();
	if (position->timeline != 0 && position->system_identifier !=
		(position->epoch == now.epoch ? now.system_identifier : epoch_system(position->epoch)))
		refuse("POSITION_OF_OTHER_HISTORY", "Begin with 'beginning', 'now' or SELECT clutch.position().",
			   "it is of another copy of the database");
	if (position->epoch == now.epoch && position->timeline > now.timeline)
		refuse_later();
	if (position->epoch < now.epoch)
		return;
	lost_from = epoch_timeline_after(position->epoch, position->timeline);
	if (position->timeline == now.timeline && is_ahead(position, &now))
		refuse("POSITION_IN_FUTURE", "On a standby: wait until it has caught up.",
			   "it is ahead of what this server has");
	if (lost_from < position->xmax)
		*position = position_cut(position, lost_from);
}
