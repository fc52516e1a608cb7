/*
 * consequence.pml
 *	  What a task causes for another one when it ends.
 *
 * Two scenes.  In the first one, a task ends (first) while another one that
 * depends on it is requested (second): a dependent and the task that it waits
 * for, or a child and a parent that is cancelled; both follow the same rules.  A
 * third transaction holds the second task for reasons of its own.  In the other
 * scene (JOIN), two children end whose parent waits for both of them, and the
 * agent of the parent reports meanwhile.  Beside them there are two transactions
 * that handle what was put off (flow/postponed.c): a claim and a tick.
 *
 * The rules (flow/agenda.h, flow/settle.c)
 *	1. A transaction writes its own row first, and looks at the rows of others
 *	   afterwards, before it commits.
 *	2. It looks with a dirty snapshot.  If what it sees is certain, it acts, or
 *	   leaves it: whoever changes that row later looks in turn.  If it is in
 *	   doubt, because an open transaction has written it, the consequence is put
 *	   off: the transaction leaves a row in clutch.consequence.
 *	3. It never waits for the lock of another task: a consequence whose task is
 *	   locked is put off as well.
 *	4. A row that was put off is deleted by the transaction that does its work.
 *
 * Promises
 *	1. in the end no dependent waits for a task that is over, and no child of a
 *	   cancelled task is left;
 *	2. nothing happens for a reason that is not committed: no dependent starts,
 *	   and no child is cancelled, if the transaction that ended the first task
 *	   rolls back;
 *	3. every parent is told of its children, and exactly once;
 *	4. nobody waits for anybody, except for the task that it reports on.
 *
 * What is left out
 *	- More than three tasks: an entry concerns one task, and what it causes in
 *	  turn is another entry.
 *	- The agenda itself.  That the entries of a savepoint disappear with it is for
 *	  test/pgtap/flow_agenda.sql.
 *	- A handler that raises an error is put off like one that finds its task
 *	  locked.
 *
 * ROLLBACKS: so many transactions roll back; agents and handlers try again.
 *
 * RUN holds
 * RUN holds -DROLLBACKS=2
 * RUN ends
 * RUN ends -DROLLBACKS=1
 * RUN holds -DJOIN
 * RUN holds -DJOIN -DROLLBACKS=1
 * RUN ends -DJOIN -DROLLBACKS=1
 * RUN broken assertion -DBROKEN_LOOK_FIRST		a transaction looks at the others before it writes
 * RUN broken assertion -DBROKEN_COMMITTED		it looks with a snapshot of committed rows
 * RUN broken assertion -DBROKEN_DROP			an entry whose task is locked is dropped
 * RUN broken assertion -DBROKEN_DROP -DJOIN
 * RUN broken assertion -DBROKEN_DELETE -DROLLBACKS=1	a row is deleted before its work commits
 * RUN broken assertion -DBROKEN_DELETE -DROLLBACKS=1 -DJOIN
 * RUN broken assertion -DBROKEN_DOUBT -DROLLBACKS=1	what is in doubt is taken for true
 */
#ifndef ROLLBACKS
#define ROLLBACKS	0
#endif
#define ROWS		3
#define ME			(_pid + 1)

mtype = { ABSENT, OPEN, OVER, SETTLED, TOLD };

/* each row as committed last; as its open transaction has written it; and by
   which transaction, which holds its lock (0: none) */
mtype committed[ROWS] = OPEN;
mtype written[ROWS];
byte holder[ROWS];

byte put_off;					/* committed rows of clutch.consequence */
byte taken;						/* of these, locked by handlers */
byte at_work;					/* handlers that are at work */
byte finished;					/* transactions that are over for good */
byte rollbacks;

#ifdef JOIN
#define PARENT		0
#define OF_ALL		3			/* children and the agent of the parent */
byte told;
#define KEPT		(committed[PARENT] == TOLD)
#else
#define FIRST		0
#define SECOND		1
#define OF_ALL		3			/* who ends, who requests, and a third */
#define KEPT		!(committed[FIRST] == OVER && committed[SECOND] == OPEN)
#endif

ltl kept { <>[] KEPT }

/* ------------------------------------------------------------ transactions */

/* a report waits for the lock of its own task, and holds nothing else then */
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

inline end_rows(commits)
{
	end_row(0, commits);
	end_row(1, commits);
	end_row(2, commits)
}

inline check_reasons()
{
#ifdef JOIN
	if
	:: holder[PARENT] == ME && written[PARENT] == TOLD && committed[PARENT] != TOLD ->
		told++;
		assert(told == 1);
		assert(committed[1] == OVER || holder[1] == ME);
		assert(committed[2] == OVER || holder[2] == ME)
	:: else
	fi
#else
	if
	:: holder[SECOND] == ME && written[SECOND] == SETTLED && committed[SECOND] != SETTLED ->
		assert(committed[FIRST] == OVER || (holder[FIRST] == ME && written[FIRST] == OVER))
	:: else
	fi
#endif
}

inline commit_rows()
{
	d_step {
		check_reasons();
		end_rows(true);
		put_off = put_off + left;
		left = 0
	}
}

inline roll_back()
{
	d_step {
		rollbacks++;
		end_rows(false);
		left = 0
	}
}

/* -------------------------------------------------------------- the handlers */

#ifdef BROKEN_DROP
#define IF_BUSY		true
#else
#define IF_BUSY		false
#endif

/* handled becomes false if the entry has to be put off */
#ifdef JOIN
/* flow/join.c */
inline settle()
{
	handled = true;
	try_lock(PARENT);
	if
	:: !got -> handled = IF_BUSY
	:: got && written[PARENT] != TOLD ->
		look_at(1);
		if
		:: !doubt && seen == OPEN		/* its end will look */
		:: else ->
			handled = !doubt;
			look_at(2);
			if
			:: !doubt && seen == OPEN -> handled = true
			:: doubt -> handled = false
			:: else ->
				if
				:: handled -> written[PARENT] = TOLD
				:: else
				fi
			fi
		fi
	:: else
	fi
}
#else
/* flow/dependency.c, flow/cancel.c */
inline settle()
{
	handled = true;
	try_lock(SECOND);
	if
	:: !got -> handled = IF_BUSY
	:: got && written[SECOND] == OPEN ->
		look_at(FIRST);
		if
		:: doubt -> handled = false
		:: !doubt && seen == OVER -> written[SECOND] = SETTLED
		:: else							/* its end will look */
		fi
	:: else
	fi
}
#endif

inline settle_or_put_off()
{
	settle();
	if
	:: handled
	:: else -> left++
	fi
}

/* a claim or a tick (flow/postponed.c) */
proctype handler()
{
	byte left = 0;
	bool got, doubt, handled;
	mtype seen;

end:
	do
	:: atomic { put_off > taken ->
			at_work++;
#ifdef BROKEN_DELETE
			put_off--
#else
			taken++
#endif
		}
		settle();
		atomic {
			if
			:: handled ->
				commit_rows();
#ifndef BROKEN_DELETE
				put_off--
#endif
			:: handled && rollbacks < ROLLBACKS -> roll_back()
			:: !handled ->
				commit_rows();
#ifdef BROKEN_DELETE
				put_off++
#endif
			fi;
#ifndef BROKEN_DELETE
			taken--;
#endif
			at_work--
		}
	od
}

/* ---------------------------------------------------------------- the agents */

#ifdef JOIN
proctype child(byte own)
{
	byte left = 0;
	bool got, doubt, handled;
	mtype seen;

again:
	lock_own(own);
	written[own] = OVER;
	settle_or_put_off();
	if
	:: commit_rows()
	:: atomic { rollbacks < ROLLBACKS -> roll_back(); goto again }
	fi;
	finished++
}

/* reports twice while its children end */
proctype parent()
{
	byte left = 0;

	lock_own(PARENT);
	commit_rows();
	lock_own(PARENT);
	commit_rows();
	finished++
}
#else
/* what ends: a task that others wait for, or a parent that is cancelled */
proctype ends()
{
	byte left = 0;
	bool got, doubt, handled;
	mtype seen;

again:
#ifdef BROKEN_LOOK_FIRST
	look_at(SECOND);
#endif
	lock_own(FIRST);
	written[FIRST] = OVER;
#ifndef BROKEN_LOOK_FIRST
	look_at(SECOND);
#endif
	if
	:: doubt || seen == OPEN -> settle_or_put_off()
	:: else
	fi;
	if
	:: commit_rows()
	:: atomic { rollbacks < ROLLBACKS -> roll_back(); goto again }
	fi;
	finished++
}

/* a request for a dependent, or for a child */
proctype request()
{
	byte left = 0;
	bool doubt;
	mtype seen;

again:
#ifdef BROKEN_LOOK_FIRST
	look_at(FIRST);
#endif
	lock_own(SECOND);
	written[SECOND] = OPEN;
#ifndef BROKEN_LOOK_FIRST
	look_at(FIRST);
#endif
	if
	:: doubt -> left++
	:: !doubt && seen == OVER -> written[SECOND] = SETTLED
	:: else
	fi;
	if
	:: commit_rows()
	:: atomic { rollbacks < ROLLBACKS -> roll_back(); goto again }
	fi;
	finished++
}

/* reports on the second task, and thereby holds it */
proctype third()
{
	byte left = 0;

	lock_own(SECOND);
	commit_rows();
	lock_own(SECOND);
	commit_rows();
	finished++
}
#endif

init
{
	atomic {
#ifdef JOIN
		run child(1);
		run child(2);
		run parent();
#else
		committed[SECOND] = ABSENT;
		run ends();
		run request();
		run third();
#endif
		run handler();
		run handler()
	}
	/* when all have finished and nothing is left to handle */
	atomic { finished == OF_ALL && put_off == 0 && at_work == 0 -> assert(KEPT) }
}
