/*
 * suspend.pml
 *	  A suspended task against what wakes it.
 *
 * Two scenes.  In the first one, an agent suspends its task until its child is
 * over or a time has come; the child ends, and a tick finds that the time has
 * come.  In the other scene (MESSAGES), the task is suspended twice for a message,
 * and two messages are sent.  Beside them, a process handles what was put off
 * (flow/postponed.c).
 *
 * The rules (flow/suspend.c)
 *	1. Whoever suspends the task writes its row first, and looks at the child or
 *	   the messages afterwards, with a dirty snapshot.  What is certain wakes the
 *	   task; if something is in doubt, the look is put off.
 *	2. Whoever ends the child, or sends a message, writes its row first, and looks
 *	   at the task afterwards, before it commits.  If the task is suspended, it is
 *	   woken; if that is in doubt, or the task is locked, the entry is put off.
 *	3. Whoever wakes the task locks it, and looks again whether it is suspended.
 *	4. A message that has woken the task is remembered by the event that says so,
 *	   and wakes it no more; any other message of its life may.
 *
 * Promises
 *	1. a task is not suspended for ever if what it waits for is there;
 *	2. it is woken once for each time that it was suspended;
 *	3. it is woken by what is committed, or by the transaction that wakes it;
 *	4. each message wakes it once, also if they commit in another order than that
 *	   of their numbers.
 *
 * What is left out
 *	- More than one child: how they are counted is that of consequence.pml, JOIN.
 *	- That the task is routed again, and claimed: claim.pml and waiting.pml.
 *
 * ROLLBACKS: so many transactions roll back; agents and handlers try again.
 *
 * RUN holds
 * RUN holds -DROLLBACKS=1
 * RUN holds -DNO_TIME -DROLLBACKS=2
 * RUN ends -DNO_TIME
 * RUN ends -DNO_TIME -DROLLBACKS=1
 * RUN holds -DMESSAGES
 * RUN broken assertion -DNO_TIME -DBROKEN_LOOK_FIRST	who suspends looks before it writes
 * RUN broken assertion -DNO_TIME -DBROKEN_LOOK_EARLY	who ends the child, or sends, looks before it writes
 * RUN broken assertion -DMESSAGES -DBROKEN_LOOK_EARLY
 * RUN broken assertion -DNO_TIME -DBROKEN_COMMITTED	they look with a snapshot of committed rows
 * RUN broken assertion -DNO_TIME -DBROKEN_DROP			an entry whose task is locked is dropped
 * RUN broken assertion -DNO_TIME -DBROKEN_DOUBT -DROLLBACKS=1	what is in doubt is taken for true
 * RUN broken assertion -DBROKEN_RECHECK				who wakes it does not look again under the lock
 * RUN broken assertion -DMESSAGES -DBROKEN_CURSOR		only messages later than the last one count
 * RUN broken assertion -DMESSAGES -DBROKEN_FORGET		what has woken it is not remembered
 */
#ifndef ROLLBACKS
#define ROLLBACKS	0
#endif
#define ROWS		3
#define TASK		0
#define ME			(_pid + 1)

mtype = { RUNNING, SUSPENDED, WOKEN, ABSENT, THERE };

/* each row as committed last; as its open transaction has written it; and by
   which transaction, which holds its lock (0: none).  Row 0 is the task, 1 and 2
   are the child, or the messages. */
mtype committed[ROWS];
mtype written[ROWS];
byte holder[ROWS];

byte cause;						/* what wakes the task in the transaction that holds it; 0: the time */
byte last;						/* the last message that has woken it */
bool has_woken[ROWS];			/* messages that have woken it */
bool taken[ROWS];				/* those that are remembered */
byte suspensions;				/* committed */
byte wakes;

/* committed rows of clutch.consequence: 0 looks at everything, n at row n */
byte put_off[ROWS];
byte locked_entries[ROWS];		/* of these, locked by handlers */
byte at_work;
byte finished;
byte rollbacks;

#ifdef MESSAGES
#define SOURCES		2
#define TIMES		2
#else
#define SOURCES		1
#define TIMES		1
#endif
#ifdef NO_TIME
#define PROCESSES	(SOURCES + 1)
#elif defined(MESSAGES)
#define PROCESSES	(SOURCES + 1)
#else
#define PROCESSES	(SOURCES + 2)
#endif

#ifdef BROKEN_CURSOR
#define IS_NEWS(row)	(row > last)
#else
#define IS_NEWS(row)	(!taken[row])
#endif
#define KEPT			(wakes == TIMES && committed[TASK] != SUSPENDED)

ltl kept { <>[] KEPT }

/* ------------------------------------------------------------ transactions */

inline lock_own(row)
{
	atomic { holder[row] == 0 -> holder[row] = ME; written[row] = committed[row] }
}

inline try_lock(row)
{
	d_step {
		if
		:: holder[row] == 0 -> holder[row] = ME; written[row] = committed[row]; got = true
		:: holder[row] == ME -> got = true
		:: else -> got = false
		fi
	}
}

/* a version that is being written is not there yet, but leaves a doubt */
inline look_at(row)
{
	d_step {
		seen = (holder[row] == ME -> written[row] : committed[row]);
		doubt = (holder[row] != 0 && holder[row] != ME);
#ifdef BROKEN_COMMITTED
		doubt = false;
#endif
#ifdef BROKEN_DOUBT
		if
		:: doubt -> seen = written[row]; doubt = false
		:: else
		fi
#endif
	}
}

inline end_row(row, commits)
{
	if
	:: holder[row] == ME ->
		if
		:: commits -> committed[row] = written[row]
		:: else
		fi;
		holder[row] = 0
	:: else
	fi
}

/* the promises, at the moment at which a transaction commits */
inline check_task()
{
	if
	:: holder[TASK] == ME && was_suspended -> suspensions++
	:: else
	fi;
	if
	:: holder[TASK] == ME && woke ->
		wakes++;
		assert(wakes <= suspensions);
		assert(cause == 0 || committed[cause] == THERE || holder[cause] == ME);
#ifdef MESSAGES
		assert(!has_woken[cause]);
#endif
		has_woken[cause] = true;
#ifndef BROKEN_FORGET
		taken[cause] = (cause != 0);
#endif
		last = cause
	:: else
	fi
}

inline commit_rows()
{
	d_step {
		check_task();
		end_row(0, true);
		end_row(1, true);
		end_row(2, true);
		put_off[0] = put_off[0] + left[0];
		put_off[1] = put_off[1] + left[1];
		put_off[2] = put_off[2] + left[2];
		left[0] = 0;
		left[1] = 0;
		left[2] = 0;
		woke = false;
		was_suspended = false
	}
}

inline roll_back()
{
	d_step {
		rollbacks++;
		end_row(0, false);
		end_row(1, false);
		end_row(2, false);
		left[0] = 0;
		left[1] = 0;
		left[2] = 0;
		woke = false;
		was_suspended = false
	}
}

/* -------------------------------------------------------------- the handlers */

#ifdef BROKEN_DROP
#define IF_BUSY		true
#else
#define IF_BUSY		false
#endif

/* one child or message: found is what wakes the task, and in_doubt says so */
inline look_for(row)
{
	look_at(row);
	if
	:: doubt -> in_doubt = true
	:: !doubt && seen == THERE && found == 0 && IS_NEWS(row) -> found = row
	:: else
	fi
}

/* under the lock of the task */
inline wake(by)
{
	if
#ifdef BROKEN_RECHECK
	:: true ->
#else
	:: written[TASK] == SUSPENDED && (by == 0 || IS_NEWS(by)) ->
#endif
		d_step { written[TASK] = WOKEN; cause = by; woke = true }
	:: else
	fi
}

/* suspend_settle: which is 0 for everything, or a row; handled becomes false if
   the entry has to be put off */
inline settle(which)
{
	handled = true;
	found = 0;
	in_doubt = false;
	look_at(TASK);
	if
	:: seen != SUSPENDED -> handled = (!doubt || IF_BUSY)
	:: else ->
		if
		:: which != 2 -> look_for(1)
		:: else
		fi;
		if
		:: SOURCES == 2 && which != 1 -> look_for(2)
		:: else
		fi;
		if
		:: found == 0 -> handled = !in_doubt
		:: else ->
			try_lock(TASK);
			if
			:: got -> wake(found)
			:: else -> handled = IF_BUSY
			fi
		fi
	fi
}

inline settle_or_put_off(which)
{
	settle(which);
	if
	:: handled
	:: else -> left[which]++
	fi
}

inline handle(which)
{
	settle(which);
	atomic {
		if
		:: handled -> commit_rows(); put_off[which]--
		:: handled && rollbacks < ROLLBACKS -> roll_back()
		:: !handled -> commit_rows()
		fi;
		locked_entries[which]--;
		at_work--
	}
}

/* a claim or a tick (flow/postponed.c) */
proctype handler()
{
	byte left[ROWS];
	byte found;
	bool got, doubt, handled, in_doubt, woke, was_suspended;
	mtype seen;

end:
	do
	:: atomic { put_off[0] > locked_entries[0] -> at_work++; locked_entries[0]++ }
		handle(0)
	:: atomic { put_off[1] > locked_entries[1] -> at_work++; locked_entries[1]++ }
		handle(1)
	:: atomic { put_off[2] > locked_entries[2] -> at_work++; locked_entries[2]++ }
		handle(2)
	od
}

/* ---------------------------------------------------------------- the agents */

/* suspends its task, is woken, and does so again */
proctype worker()
{
	byte left[ROWS];
	byte found, times;
	bool got, doubt, handled, in_doubt, woke, was_suspended;
	mtype seen;

again:
#ifdef BROKEN_LOOK_FIRST
	found = 0;
	in_doubt = false;
	look_for(1);
	lock_own(TASK);
	d_step { written[TASK] = SUSPENDED; was_suspended = true };
	if
	:: found != 0 -> wake(found)
	:: found == 0 && in_doubt -> left[0]++
	:: else
	fi;
#else
	lock_own(TASK);
	d_step { written[TASK] = SUSPENDED; was_suspended = true };
	settle_or_put_off(0);
#endif
	if
	:: commit_rows()
	:: atomic { rollbacks < ROLLBACKS -> roll_back(); goto again }
	fi;
	times++;
	if
	:: times < TIMES ->
		/* claims it */
		atomic { committed[TASK] == WOKEN && holder[TASK] == 0 -> committed[TASK] = RUNNING };
		goto again
	:: else
	fi;
	finished++
}

/* ends the child, or sends a message */
proctype source(byte own)
{
	byte left[ROWS];
	byte found;
	bool got, doubt, handled, in_doubt, woke, was_suspended, looked;
	mtype seen;

again:
#ifdef BROKEN_LOOK_EARLY
	look_at(TASK);
	looked = (doubt || seen == SUSPENDED);
	lock_own(own);
	written[own] = THERE;
	if
	:: looked -> settle_or_put_off(own)
	:: else
	fi;
#else
	lock_own(own);
	written[own] = THERE;
	settle_or_put_off(own);
#endif
	if
	:: commit_rows()
	:: atomic { rollbacks < ROLLBACKS -> roll_back(); goto again }
	fi;
	finished++
}

/* flow/due.c: the time has come, sooner or later; a busy task stays due */
proctype tick()
{
	byte left[ROWS];
	bool got, woke, was_suspended;

	do
	:: atomic { committed[TASK] == SUSPENDED && holder[TASK] == 0 -> skip }
		try_lock(TASK);
		if
		:: got -> wake(0); commit_rows(); break
		:: else
		fi
	:: committed[TASK] == WOKEN -> break
	od;
	finished++
}

init
{
	atomic {
		committed[TASK] = RUNNING;
		committed[1] = ABSENT;
		committed[2] = ABSENT;
		run worker();
		run source(1);
#ifdef MESSAGES
		run source(2);
#elif !defined(NO_TIME)
		run tick();
#endif
		run handler()
	}
	/* when all have finished and nothing is left to handle */
	atomic {
		finished == PROCESSES && put_off[0] + put_off[1] + put_off[2] == 0 && at_work == 0 -> assert(KEPT)
	}
}
