/*-------------------------------------------------------------------------
 *
 * position.c
 *	  Positions: how far a reader of the log has come.
 *
 *-------------------------------------------------------------------------
 */
#include "clutch.h"

#include "access/timeline.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"
#include "base/order.h"
#include "feed/position.h"
#include "lib/qunique.h"
#include "lib/stringinfo.h"
#include "protocol/problem.h"
#include "store/epoch.h"
#include "utils/snapmgr.h"

/* The first characters of a position, which give the version of its format. */
#define POSITION_VERSION	"p1."

/*
 * Brings xip into the form that position.h promises.  If an xid were there
 * twice, its events would be read twice.
 */
static void
position_order_xids(Position *position)
{
	if (position->nxip == 0)
		return;
	qsort(position->xip, position->nxip, sizeof(uint64), order_uint64);
	position->nxip = qunique(position->xip, position->nxip, sizeof(uint64), order_uint64);
	while (position->nxip > 0 && position->xip[position->nxip - 1] >= position->xmax)
		position->nxip--;
}

static TimeLineID
position_timeline(void)
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
	position.system_identifier = epoch_system(1);
	return position;
}

/*
 * The database to which the epoch belongs may have continued after it was
 * copied.  For that database, this position is in the future, which the
 * highest timeline expresses.
 */
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
 * A snapshot taken during recovery has all transactions in progress, including
 * top-level ones, in subxip.  Events carry the top-level xid.
 *
 * While a transaction is being prepared, it is in xip twice: once for its
 * backend and once for the prepared transaction.  With a synchronous standby,
 * this lasts as long as the wait for the standby.
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
	position.timeline = position_timeline();
	position.system_identifier = (int64) GetSystemIdentifier();
	position.xmax = epoch_full_xid(snapshot->xmax);
	position.xip = palloc(sizeof(uint64) * (n + 1));
	for (i = 0; i < n; i++)
		position.xip[position.nxip++] = epoch_full_xid(xids[i]);
	if (FullTransactionIdIsValid(own))
		position.xip[position.nxip++] = U64FromFullTransactionId(own);
	position_order_xids(&position);
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
	if (xid >= position->xmax)
		return false;
	return position->nxip == 0 ||
		bsearch(&xid, position->xip, position->nxip, sizeof(uint64), order_uint64) == NULL;
}

/*
 * Returns the end of the WAL so far.  At the start of a page,
 * GetXLogInsertRecPtr points behind the header, which is not there yet.
 */
static XLogRecPtr
position_end_of_wal(void)
{
	XLogRecPtr	at = GetXLogInsertRecPtr();

	if (XLogSegmentOffset(at, wal_segment_size) == SizeOfXLogLongPHD)
		return at - SizeOfXLogLongPHD;
	return at % XLOG_BLCKSZ == SizeOfXLogShortPHD ? at - SizeOfXLogShortPHD : at;
}

void
position_make_durable(void)
{
	if (!RecoveryInProgress())
		XLogFlush(position_end_of_wal());
}

/* -------------------------------------------------------------- as text */

char *
position_text(const Position *position)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	appendStringInfo(&text, POSITION_VERSION "%d.%u." UINT64_FORMAT "." UINT64_FORMAT,
					 position->epoch, position->timeline,
					 (uint64) position->system_identifier, position->xmax);
	for (i = 0; i < position->nxip; i++)
		appendStringInfo(&text, "%c" UINT64_FORMAT, i == 0 ? '.' : ',', position->xip[i]);
	return text.data;
}

/*
 * Reads digits and moves *at past them.  Returns false if there are none, or
 * too many.
 */
static bool
position_parse_number(const char **at, uint64 *number)
{
	char	   *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

/* so long a position is none; one has an ID for each transaction that was open when it was read */
#define POSITION_MOST_BYTES		(16 * 1024 * 1024)

/* Reads ".1,2,3", or nothing. */
static bool
position_parse_xids(const char *at, Position *position)
{
	position->xip = palloc(sizeof(uint64) * (strlen(at) / 2 + 1));
	if (*at == '\0')
		return true;
	if (*at++ != '.')
		return false;
	do
	{
		if (!position_parse_number(&at, &position->xip[position->nxip++]))
			return false;
	} while (*at == ',' && at++);
	return *at == '\0';
}

bool
position_parse(Slice text, Position *position)
{
	const char *at;
	uint64		epoch;
	uint64		timeline;
	uint64		system_identifier;

	memset(position, 0, sizeof(*position));
	if (text.len > POSITION_MOST_BYTES)
		return false;
	at = slice_cstring(text);
	if (strncmp(at, POSITION_VERSION, strlen(POSITION_VERSION)) != 0)
		return false;
	at += strlen(POSITION_VERSION);
	if (!position_parse_number(&at, &epoch) || *at++ != '.' || epoch > PG_INT32_MAX ||
		!position_parse_number(&at, &timeline) || *at++ != '.' || timeline > PG_UINT32_MAX ||
		!position_parse_number(&at, &system_identifier) || *at++ != '.' ||
		!position_parse_number(&at, &position->xmax))
		return false;
	position->epoch = (int) epoch;
	position->timeline = (TimeLineID) timeline;
	position->system_identifier = (int64) system_identifier;
	if (!position_parse_xids(at, position))
		return false;
	position_order_xids(position);
	return true;
}

/* ------------------------------------------------------------- histories */

static void
position_refuse_other_history(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_POSITION_REFUSED),
			 errproblem(argument, "POSITION_OF_OTHER_HISTORY"),
			 errmsg("the position belongs to another copy of the database"),
			 errhint("Start at 'beginning', at 'now', or at a position that this database returned.")));
}

static void
position_refuse_later_history(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_POSITION_REFUSED),
			 errproblem(argument, "POSITION_IN_FUTURE"),
			 errmsg("the position belongs to a later copy or timeline than this server's"),
			 errhint("Read from the server that returned it, or start at a position of this one.")));
}

static void
position_refuse_unreached(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_CLUTCH_POSITION_REFUSED),
			 errproblem(argument, "POSITION_IN_FUTURE"),
			 errmsg("the position is ahead of what this server has"),
			 RecoveryInProgress() ?
			 errhint("Wait until this standby has caught up, and read in a new transaction.") :
			 errhint("If this transaction began before the position was taken, read in a new one.")));
}

/*
 * Comparing xmax is not enough.  On a standby, a transaction that was
 * committed before others on the primary may become visible after them, and
 * the end of an open batch would skip it.
 */
static bool
position_is_ahead_of(const Position *position, const Position *now)
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
		position_is_ahead_of(position, &now);
}

/*
 * Has the current timeline come from that one?  After two recoveries to a point
 * in time, an older timeline may have ended before this one began.  Without the
 * file of the history, there is only the current timeline in the list, and
 * nobody knows.
 */
static bool
position_is_of_ancestor(TimeLineID timeline, TimeLineID current)
{
	List	   *history = readTimeLineHistory(current);

	return list_length(history) == 1 || tliInHistory(timeline, history);
}

void
position_settle(Position *position, const char *argument)
{
	Position	now = position_now();
	int64		system_identifier;
	uint64		lost_from;

	/*
	 * a copy to which nothing has been written yet belongs to the next epoch
	 */
	if (position->epoch > now.epoch)
		position_refuse_later_history(argument);
	system_identifier = position->epoch == now.epoch ? now.system_identifier :
		epoch_system(position->epoch);
	if (position->timeline != 0 && position->system_identifier != system_identifier)
		position_refuse_other_history(argument);
	if (position->epoch == now.epoch && position->timeline > now.timeline)
		position_refuse_later_history(argument);
	if (position->epoch == now.epoch && position->timeline != 0 && position->timeline < now.timeline &&
		!position_is_of_ancestor(position->timeline, now.timeline))
		position_refuse_other_history(argument);
	if (position->epoch == now.epoch && position->timeline == now.timeline &&
		position_is_ahead_of(position, &now))
		position_refuse_unreached(argument);
	lost_from = epoch_timeline_after(position->epoch, position->timeline);
	if (lost_from < position->xmax)
		*position = position_cut(position, lost_from);
}
