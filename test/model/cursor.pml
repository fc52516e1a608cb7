/*
 * cursor.pml
 *	  Reading the log by positions that are snapshots.
 *
 * Writers take a transaction id, write events, and commit or abort in any order.
 * One reader reads batch after batch.  It is a subscriber, which handles events
 * and moves its bookmark in one transaction, in which it writes events too
 * (feed/subscription.c); or a client of read_from, which does the same and keeps
 * the position itself (READ_FROM), perhaps on a standby that replays the WAL of
 * the primary (STANDBY), or now here and now there (ROAMS).
 *
 * Promises
 *	1. No committed event is handled twice.
 *	2. No committed event is lost, whenever it committed, including the reader's
 *	   own: a reader that finds nothing has handled everything that is committed.
 *	3. No open transaction holds up the reader (OPEN: one never ends).
 *	4. No event is handled that was not committed.
 *	5. The reader comes to an end when the writers have.
 *
 * MARK is a design that clutch does not use (docs/decisions.md): no index on the
 * transaction, but a seq in each position.  Transactions that begin after the
 * position was taken draw later seqs, so what is newer is found from that seq
 * on.  A seq is drawn by nextval some time before its row is written.
 *
 * What is left out
 *	- A statement reads with one snapshot, so taking the snapshot and reading are
 *	  one step; only how transactions lie around that step matters.
 *	- Filters and members of a group only leave events out.
 *	- Epochs and timelines: the rest of another history is read completely.
 *	- Subtransactions: events carry the id of the top-level transaction.
 *	- Two sessions that read for one member: a guard lets one of them in, and a
 *	  session that finds the bookmark ahead of its snapshot reads nothing
 *	  (feed_once.spec).
 *
 * RUN holds -DOWN=0
 * RUN holds -DOWN=0 -DOPEN -DMOST=2
 * RUN holds -DOWN=1 -DWRITERS=2
 * RUN holds -DOWN=2 -DWRITERS=2 -DABORTS=0 -DLAPSES=0
 * RUN holds -DREAD_FROM -DOWN=2 -DWRITERS=2 -DABORTS=0 -DLAPSES=0
 * RUN holds -DSTANDBY -DROAMS -DABORTS=0
 * RUN holds -DMARK -DOWN=1 -DWRITERS=2
 * RUN ends -DOWN=0 -DWRITERS=2
 * RUN ends -DSTANDBY -DROAMS -DABORTS=0 -DWRITERS=2
 * RUN broken assertion -DBROKEN_SEQ				a position is the last seq
 * RUN broken assertion -DBROKEN_XMIN -DOPEN		what is older than any open transaction is read, no more
 * RUN broken assertion -DBROKEN_XIP				what was in progress is forgotten
 * RUN broken assertion -DBROKEN_OWN -DREAD_FROM -DWRITERS=2	the reader's own transaction counts as seen
 * RUN broken assertion -DBROKEN_CUT				a batch ends within a transaction
 * RUN broken assertion -DBROKEN_UNTIL				the place in an open batch is kept, its end is not
 * RUN broken assertion -DBROKEN_RANGE				all below the end of a batch is of the batch
 * RUN broken assertion -DBROKEN_SUBXIP -DSTANDBY	in recovery too, what is in progress is looked for in xip
 * RUN broken assertion -DMARK -DBROKEN_MARK		the mark is the last seq of the snapshot, whoever drew it
 * RUN broken assertion -DMARK -DSTANDBY			a standby does not know which seqs are drawn
 * RUN broken assertion -DBROKEN_AHEAD -DSTANDBY -DROAMS	a position is ahead of a server by its xmax only
 */
#ifdef STANDBY
#define READ_FROM
#define OWN			0
#define LAPSES		0
#endif
#ifndef OWN
#define OWN			2			/* events that the reader writes */
#endif
#ifndef LAPSES
#define LAPSES		1			/* reads that are not committed, or rolled back */
#endif
#ifndef MOST
#define MOST		1			/* max_events */
#endif
#ifndef WRITERS
#define WRITERS		3
#endif
#ifndef ABORTS
#define ABORTS		1
#endif

#define MOST_XIDS	15
#define MOST_EVENTS	8
#define BIT(x)		(1 << (x))

/* feed/position.h: a set of transactions: below xmax, without xip */
typedef Position {
	byte xmax;
#ifdef MARK
	byte mark;
#endif
	short xip
};

#ifdef MARK
#define COPY_MARK(from, to)	to.mark = from.mark
#define FIRST_NEW(from)		(from.mark + 1)
#else
#define COPY_MARK(from, to)
#define FIRST_NEW(from)		1
#endif

#define HAS_SEEN(p, x)		((x) < p.xmax && !(p.xip & BIT(x)))

/* clutch.events */
byte xid_of[MOST_EVENTS];
byte next_seq = 1;

/* transactions, as the primary knows them */
byte next_xid = 1;
byte latest;					/* that has ended */
short running, committed;
byte writing = WRITERS;			/* writers that have not ended */
byte aborts, own_events, lapses;

#ifdef STANDBY
/* its WAL: a record bears its transaction, and whether that commits or aborts */
mtype = { WRITES, COMMITS, ABORTS_HERE };
byte wal_xid[MOST_XIDS];
#ifdef MARK
byte wal_mark[MOST_XIDS];		/* the last seq that was drawn by then */
byte replayed_mark;
#endif
mtype wal_kind[MOST_XIDS];
byte wal_end, replayed;

/* and what the standby makes of it */
byte known = 1, replayed_latest;
short replayed_running, replayed_committed;
#endif

/* the reader's cursor: from here, and an open batch up to until, read up to place */
Position seen, until;
bool is_open;
byte place;

short handled;					/* events, by seq */
bool finished;

/* ------------------------------------------------------- what PostgreSQL does */

inline begin(xid)
{
	xid = next_xid;
	assert(next_xid < MOST_XIDS);
	next_xid++;
	running = running | BIT(xid)
}

inline write(xid)
{
	xid_of[next_seq] = xid;
	next_seq++
}

inline over(xid, commits)
{
	running = running & ~BIT(xid);
	latest = (xid > latest -> xid : latest);
	committed = (commits -> committed | BIT(xid) : committed)
}

#ifdef STANDBY
inline log_record(xid, kind)
{
	wal_xid[wal_end] = xid;
	wal_kind[wal_end] = kind;
#ifdef MARK
	wal_mark[wal_end] = next_seq - 1;
#endif
	wal_end++
}

/* one record; all transactions up to one that is met have begun */
inline replay()
{
	do
	:: known <= wal_xid[replayed] ->
		replayed_running = replayed_running | BIT(known);
		known++
	:: else -> break
	od;
	if
	:: wal_kind[replayed] != WRITES ->
		replayed_running = replayed_running & ~BIT(wal_xid[replayed]);
		replayed_latest = (wal_xid[replayed] > replayed_latest -> wal_xid[replayed] : replayed_latest)
	:: else
	fi;
	if
	:: wal_kind[replayed] == COMMITS ->
		replayed_committed = replayed_committed | BIT(wal_xid[replayed])
	:: else
	fi;
#ifdef MARK
	replayed_mark = wal_mark[replayed];
#endif
	replayed++
}
#endif

/* ---------------------------------------------------------- feed/position.c */

/* what the statement at hand reads with: not part of the state */
hidden Position present;
hidden short there;				/* committed, where it reads */

/* position_now; own: the reader's transaction, 0 if it has no id */
inline position_now(own)
{
	present.xmax = latest + 1;
	present.xip = running & (BIT(present.xmax) - 1);
	there = committed;
#ifdef MARK
	present.mark = next_seq - 1;
#ifndef BROKEN_MARK
	/* a snapshot's xmax is behind the last that has ended: others may have begun, and drawn */
	present.xmax = next_xid;
	present.xip = running;
#endif
#endif
#ifdef BROKEN_OWN
	if
	:: own != 0 -> present.xip = present.xip & ~BIT(own)
	:: else
	fi
#endif
#ifdef BROKEN_XMIN
	x = 1;
	do
	:: x < present.xmax && !(running & BIT(x)) -> x++
	:: else -> break
	od;
	present.xmax = x;
	present.xip = 0
#endif
}

#ifdef STANDBY
inline position_now_on_standby()
{
	present.xmax = replayed_latest + 1;
#ifdef BROKEN_SUBXIP
	present.xip = 0;
#else
	present.xip = replayed_running & (BIT(present.xmax) - 1);
#endif
#ifdef MARK
	present.mark = replayed_mark;
	present.xmax = known;
	present.xip = replayed_running;
#endif
	there = replayed_committed
}
#endif

/* position_settle, is_ahead_of: has it seen what is not to be seen here yet? */
#ifdef BROKEN_AHEAD
#define IS_AHEAD(p)			(p.xmax > present.xmax)
#else
#define IS_AHEAD(p)			(p.xmax > present.xmax || \
							 (present.xip & (BIT(p.xmax) - 1) & ~p.xip))
#endif

/* ------------------------------------------------------------ feed/feed.c */

/* the snapshot of the statement, and what its own transaction has written */
#define IS_VISIBLE(s, own)	(xid_of[s] == own || \
							 (HAS_SEEN(present, xid_of[s]) && (there & BIT(xid_of[s]))))

hidden short feed;				/* seqs */
hidden byte feed_n;
hidden byte x, s, last;
hidden byte enough;

/* late committers, then what is newer; where it is to end here, to is cut */
inline feed_read(from, to, own, may_cut)
{
	feed = 0;
	feed_n = 0;
	/* feed_read_late_commits */
	s = 1;
	do
	:: s < next_seq ->
		if
#ifndef BROKEN_XIP
		:: (from.xip & BIT(xid_of[s])) && HAS_SEEN(to, xid_of[s]) && IS_VISIBLE(s, own) ->
			feed = feed | BIT(s);
			feed_n++
#endif
		:: else
		fi;
		s++
	:: else -> break
	od;
	/* feed_read_newer: in order of transactions, from the next on */
	x = from.xmax;
	last = 0;
	enough = false;
	do
	:: x < to.xmax && !enough ->
		s = FIRST_NEW(from);
		do
		:: s < next_seq && !enough ->
			if
#ifdef BROKEN_RANGE
			:: xid_of[s] == x && IS_VISIBLE(s, own) ->
#else
			:: xid_of[s] == x && IS_VISIBLE(s, own) && HAS_SEEN(to, x) ->
#endif
				if
#ifdef BROKEN_CUT
				:: may_cut && feed_n >= MOST ->
					enough = true;
					to.xmax = last + 1;
#else
				:: may_cut && x != last && feed_n >= MOST ->
					/* position_cut */
					enough = true;
					to.xmax = x;
					COPY_MARK(from, to);
#endif
					to.xip = to.xip & (BIT(to.xmax) - 1)
				:: else ->
					last = x;
					feed = feed | BIT(s);
					feed_n++
				fi
			:: else
			fi;
			s++
		:: else -> break
		od;
		x++
	:: else -> break
	od
}

/* -------------------------------------------------- feed/subscription.c */

inline copy(from, to)
{
	to.xmax = from.xmax;
	COPY_MARK(from, to);
	to.xip = from.xip
}

/* subscription_deliver_rest: the first of the feed behind the place; batch gets them, up_to the last */
inline deliver(batch, up_to)
{
	batch = 0;
	last = 0;
	s = 1;
	do
	:: s < next_seq && last < MOST ->
		if
		:: (feed & BIT(s)) && s > place ->
			batch = batch | BIT(s);
			up_to = s;
			last++
		:: else
		fi;
		s++
	:: else -> break
	od
}

/* subscription_read_batch; read_from does the same */
inline read_next(own, batch, up_to)
{
#ifdef BROKEN_SEQ
	copy(present, until);
	feed = 0;
	s = 1;
	do
	:: s < next_seq ->
		feed = (IS_VISIBLE(s, own) -> feed | BIT(s) : feed);
		s++
	:: else -> break
	od;
	deliver(batch, up_to)
#else
	batch = 0;
	if
	:: is_open ->
#ifdef BROKEN_UNTIL
		copy(present, until);
#endif
		feed_read(seen, until, own, false);
		deliver(batch, up_to);
		if
		:: batch == 0 -> copy(until, seen); is_open = false		/* by subscribers only */
		:: else
		fi
	:: else
	fi;
	if
	:: !is_open ->
		copy(present, until);
		feed_read(seen, until, own, true);
		place = 0;
		if
		:: feed != 0 -> is_open = true; deliver(batch, up_to)
		:: else -> until.xmax = 0; until.xip = 0
		fi
	:: else
	fi;
#ifdef READ_FROM
	/* read_start_after: a reader that has got all of it goes on behind it */
	if
	:: is_open && !(feed & ~(BIT(up_to + 1) - 1)) ->
		copy(until, seen);
		until.xmax = 0; until.xip = 0;
		is_open = false
	:: else
	fi
#else
	skip
#endif
#endif
}

/* promises 1 and 4; the position moves in the transaction that handles them */
inline handle(batch, up_to)
{
	assert(!(handled & batch));
	handled = handled | batch;
	place = (is_open -> up_to : 0);
	s = 1;
	do
	:: s < next_seq ->
		assert(!(batch & BIT(s)) || (committed & BIT(xid_of[s])));
		s++
	:: else -> break
	od
}

/* promises 2 and 3, when the reader has found nothing and the writers have ended */
inline check_all_handled()
{
	s = 1;
	do
	:: s < next_seq ->
		assert(!(committed & BIT(xid_of[s])) || (handled & BIT(s)));
		s++
	:: else -> break
	od
}

/* ----------------------------------------------------------------- the parties */

#ifndef STANDBY
proctype reader()
{
	byte own, up_to;
	short batch;
	/* the cursor as it was committed last */
	Position seen_before, until_before;
	bool was_open;
	byte place_before;

	do
	:: finished -> break
	:: else ->
		/* what it writes before it reads */
		if
		:: atomic { own_events < OWN -> own_events++; begin(own); write(own) }
		:: true
		fi;
		d_step {
			copy(seen, seen_before);
			copy(until, until_before);
			was_open = is_open;
			place_before = place;
			position_now(own);
			read_next(own, batch, up_to);
			if
			:: batch == 0 && own == 0 && writing == 0 -> check_all_handled(); finished = true
			:: else
			fi
		};
		/* what it writes after, of which cursor_save is one thing */
		if
		:: atomic { own_events < OWN && !finished ->
				own_events++;
				if
				:: own == 0 -> begin(own)
				:: else
				fi;
				write(own) }
		:: atomic { batch != 0 && own == 0 -> begin(own) }
		:: atomic { batch == 0 || own != 0 -> skip }
		fi;
		atomic {
			if
			:: true ->
				if
				:: own != 0 -> over(own, true)
				:: else
				fi;
				if
				:: batch != 0 -> handle(batch, up_to)
				:: else
				fi
			/* it will read the same again */
			:: batch != 0 && lapses < LAPSES -> lapses++;
				if
				:: own != 0 -> over(own, true)
				:: else
				fi
			:: batch != 0 && lapses < LAPSES -> lapses++;
				if
				:: own != 0 -> over(own, false)
				:: else
				fi;
				copy(seen_before, seen);
				copy(until_before, until);
				is_open = was_open;
				place = place_before
			fi;
			own = 0; up_to = 0; batch = 0;
			seen_before.xmax = 0; seen_before.xip = 0;
			until_before.xmax = 0; until_before.xip = 0;
			was_open = false; place_before = 0
		}
	od
}
#else
/* the client of read_from: what it has got is handled; refused, it comes again */
inline read_from_here()
{
	if
	:: IS_AHEAD(seen) || (is_open && IS_AHEAD(until))
	:: else ->
		read_next(0, batch, up_to);
		if
		:: batch != 0 -> handle(batch, up_to)
		:: batch == 0 && writing == 0 && replayed == wal_end -> check_all_handled(); finished = true
		:: else
		fi;
		batch = 0;
		up_to = 0
	fi
}

proctype reader()
{
	byte up_to;
	short batch;

	do
	:: finished -> break
	:: d_step { !finished -> position_now_on_standby(); read_from_here() }
#ifdef ROAMS
	:: d_step { !finished -> position_now(0); read_from_here() }
#endif
	od
}

proctype standby()
{
end:
	do
	:: d_step { replayed < wal_end -> replay() }
	od
}
#endif

/* n events in one transaction */
proctype writer(byte n)
{
	byte xid;
	bool commits = true;
#ifdef MARK
	byte seq;
#endif

	atomic { begin(xid) };
	do
#ifdef MARK
	:: atomic { n > 0 -> seq = next_seq; next_seq++; n-- };
		atomic {
			xid_of[seq] = xid;
			seq = 0;
#ifdef STANDBY
			log_record(xid, WRITES)
#endif
		}
#else
	:: atomic { n > 0 -> write(xid); n--;
#ifdef STANDBY
			log_record(xid, WRITES)
#endif
		}
#endif
	:: atomic { n == 0 -> break }
	od;
#ifdef OPEN
	if
	:: atomic { xid == 1 -> writing-- };
end_open:
		false
	:: atomic { xid != 1 -> skip }
	fi;
#endif
	if
	:: atomic { aborts < ABORTS -> aborts++; commits = false }
	:: true
	fi;
#ifdef STANDBY
	/* the record is in the WAL before others can see the end */
	atomic {
		if
		:: commits -> log_record(xid, COMMITS); committed = committed | BIT(xid)
		:: else -> log_record(xid, ABORTS_HERE)
		fi
	};
#endif
	atomic { over(xid, commits); writing-- }
}

init
{
	atomic {
		seen.xmax = 1;			/* position_beginning */
		run reader();
#ifdef STANDBY
		run standby();
#endif
		run writer(2);
#if WRITERS > 2
		run writer(1);
#endif
		run writer(1)
	}
}

/* promise 5 */
ltl comes_to_an_end { <> finished }
