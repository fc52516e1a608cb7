/*
 * claim.pml
 *	  One task from its assignment to its end: claim, lease, late report.
 *
 * Agent A has two sessions that claim, agent B has one.  Beside them a ticker,
 * the time, and the requester, who may cancel.  A session may die between any
 * two steps, a backend may be killed before it commits, a receipt may be lost
 * after; leases run out of agents that live.
 *
 * Promises
 *	1. one live lease per task: an attempt is claimed once, and only when no
 *	   lease is live;
 *	2. a lease is taken away only after it has run out, or its agent is lost;
 *	3. what an older attempt reports changes nothing, however late or often;
 *	4. one effective end, the first, and it is never taken back;
 *	5. no task is stuck: as long as a session lives, it ends.  Without a ticker
 *	   each agent must keep one: nobody else looks for silent agents.
 *
 * What is left out
 *	- Other tasks.  All that a transaction changes of one task, the rows in
 *	  clutch.ready and clutch.timer too, hangs on the lock of its row.  So a
 *	  transaction is two steps: it takes the lock, then decides, writes and
 *	  commits or rolls back.  Between them nobody else can write, and what
 *	  others can tell is that the row is locked or its entry in doubt.
 *	- Time is one bit: the lease has run out or not.
 *	- A slot is always free (waiting.pml), and the next attempt goes to the
 *	  other agent, as it does where both can do it (route in flow/assign.c).
 *	- What may go wrong does so a few times only, or nothing would end.
 *
 * RUN holds -DTICKER
 * RUN ends -DTICKER -DNO_SHARE					the ticker does it alone
 * RUN ends									idle claims do its work
 * RUN broken assertion -DBROKEN_SECOND_LOOK	what was scanned is claimed without a look under the lock
 * RUN broken assertion -DBROKEN_FENCE			a report needs no attempt, only the agent that has the task
 * RUN broken assertion -DBROKEN_TICK			the lease is judged by what was read before the lock
 * RUN broken assertion -DBROKEN_LAST			a report fits a task that is over
 * RUN broken assertion -DBROKEN_DEDUP			what is sent again is taken again
 * RUN broken cycle -DBROKEN_EXPIRY -DTICKER			nobody takes a lease away
 * RUN broken end -DBROKEN_LIVENESS -DTICKER		nobody looks for agents that are silent
 * RUN broken end -DNO_SHARE					claims do nothing for others, and nobody ticks
 */
#define A			1
#define B			2
#define OTHER(a)	(3 - (a))

/* how often it does not go straight on, all in all */
#ifndef TURNS
#define TURNS		3
#endif
#define MAY_TURN	turns < TURNS -> turns++
#define ATTEMPTS	(TURNS + 3)
#ifdef TICKER
#define LEAST_ALIVE	0
#else
#define LEAST_ALIVE	1
#endif

mtype = { ASSIGNED, RUNNING, COMPLETED, FAILED, CANCELLED };

/* the row of clutch.task, as it was committed last */
mtype status = ASSIGNED;
byte agent = A;
byte attempt = 1;
bool run_out;				/* the lease */
bool locked;

/* its entry in clutch.ready is there exactly while it is assigned; each is put
   under a number of its own, for which the attempt serves here */
#define READY_FOR(a)	(status == ASSIGNED && agent == (a))

#define IS_OVER		(status == COMPLETED || status == FAILED || status == CANCELLED)

bool logged[ATTEMPTS];		/* the report that ends this attempt is in the log */

/* what the checker counts */
byte last_claimed, ends;
byte turns;
byte alive = 2;				/* sessions of A */
bool unavailable;			/* A, as the registry knows it */
bool abandoned;				/* the lease is of nobody any more */
byte fails_at;				/* the attempt that reports task.error, if any */

/* task_lock; who does not wait for it has another branch */
#define TASK_LOCK			atomic { !locked -> locked = true }

/* task_apply with a step after which it is over */
inline apply_end(how)
{
	/* promise 4 */
	assert(!IS_OVER && ends == 0);
	status = how;
	ends++
}

/* begin_again in flow/claim.c, begin_retry in delivery/retry.c: the attempt counts */
inline next_attempt()
{
	attempt++;
	agent = (OTHER(agent) == A && unavailable -> agent : OTHER(agent));
	status = ASSIGNED;
	run_out = false;
	abandoned = false
}

/*
 * Each that follows is to be read as one branch of a loop: it is entered when
 * there is something to do, as who finds nothing comes again.
 */

/* ------------------------------------------------ flow/tick.c, timer.c */

/* timer_take_due: by an entry that is not in doubt; then look_at */
#ifdef BROKEN_EXPIRY
#define TIMER_IS_DUE		false
#else
#define TIMER_IS_DUE		(status == RUNNING && run_out && !locked)
#endif

#ifdef BROKEN_TICK
#define LEASE_RAN_OUT		true
#else
#define LEASE_RAN_OUT		(status == RUNNING && run_out)
#endif

inline take_due()
{
	if
	:: TASK_LOCK;
		atomic {
			if
			:: LEASE_RAN_OUT ->
				if
				:: true ->
					/* claim_expire; promise 2 */
					assert(status == RUNNING && run_out);
					next_attempt()
				:: MAY_TURN			/* rolled back */
				fi
			:: else
			fi;
			locked = false
		}
	:: atomic { locked -> skip }
	fi
}

/* --------------------------------------------------- flow/liveness.c */

/* what A has, claimed or not, is for another */
inline give_up_tasks()
{
	if
	:: TASK_LOCK;
		atomic {
			if
			:: agent == A && !IS_OVER -> next_attempt()
			:: else
			fi;
			locked = false
		}
	:: atomic { locked -> skip }
	fi
}

/* ------------------------------------------------ flow/claim.c, ready.c */

/* ready_take: entries in doubt are passed over */
#define READY_IS_SEEN		(READY_FOR(mine) && !locked)

/* take in ready.c: the task still stands in that place */
#ifdef BROKEN_SECOND_LOOK
#define STILL_STANDS(place)	true
#else
#define STILL_STANDS(place)	(READY_FOR(mine) && attempt == place)
#endif

inline take(place)
{
	if
	:: TASK_LOCK;
		atomic {
			if
			:: STILL_STANDS(place) ->
				if
				:: true ->
					/* claim_one; promise 1 */
					assert(status == ASSIGNED && attempt > last_claimed);
					last_claimed = attempt;
					status = RUNNING;
					run_out = false;
					if
					:: token = attempt
					/* committed, but the agent does not learn it */
					:: MAY_TURN; abandoned = true
					fi
				:: MAY_TURN			/* rolled back */
				fi
			:: else
			fi;
			locked = false;
			place = 0
		}
	:: atomic { locked -> place = 0 }
	fi
}

/* ------------------------------- flow/intake.c, verdict.c: what it reports */

/* verdict_on_report; late: it is kept in the log and changes nothing */
#if defined(BROKEN_FENCE)
#define IS_LATE		(IS_OVER || agent != mine)
#elif defined(BROKEN_LAST)
#define IS_LATE		(token < attempt || agent != mine)
#else
#define IS_LATE		(IS_OVER || token < attempt || agent != mine)
#endif

/* claim_extend, or task.progress and renew_lease: it is heard, or hears that it lost */
inline renew()
{
	TASK_LOCK;
	atomic {
		if
		:: IS_LATE -> token = 0
		:: else ->
			assert(status == RUNNING && token == attempt);
			run_out = false
		fi;
		locked = false
	}
}

/*
 * intake_report with task.result or task.error, under the same id however often
 * it is sent: dedup_seen waits for who sends it at the same time.
 */
inline finish()
{
	TASK_LOCK;
	atomic {
		if
		:: MAY_TURN		/* rolled back: it is sent again */
		:: true ->
			if
#ifdef BROKEN_DEDUP
			:: true ->
#else
			:: !logged[token] ->
#endif
				assert(!logged[token]);
				logged[token] = true;
				if
				:: IS_LATE
				:: else ->
					/* apply_report; promise 3 */
					assert(status == RUNNING && token == attempt);
					if
					:: token != fails_at -> apply_end(COMPLETED)
					:: token == fails_at -> next_attempt()		/* retry_after_error */
					:: token == fails_at -> apply_end(FAILED)	/* tried often enough */
					fi
				fi
			:: else
			fi;
			if
			:: true -> token = 0
			/* the receipt is lost: it is sent again */
			:: MAY_TURN
			fi
		fi;
		locked = false
	}
}

/* ----------------------------------------------------------------- the parties */

proctype session(byte mine)
{
	byte token, place;			/* token: the attempt it holds, as far as it knows */

	do
	:: atomic { ends > 0 && token == 0 -> break }
	:: atomic { ends == 0 && token == 0 && READY_IS_SEEN -> place = attempt };
		take(place)
#ifndef NO_SHARE
	/* a claim that finds nothing ready */
	:: atomic { ends == 0 && token == 0 && !READY_FOR(mine) && TIMER_IS_DUE -> skip };
		take_due()
#endif
	:: atomic { token != 0 && MAY_TURN }; renew()
	:: atomic { token != 0 -> skip }; finish()
	/* take_back in flow/liveness.c: any call is a sign of life */
	:: atomic { mine == A && unavailable -> unavailable = false }
	:: atomic { mine == A && alive > LEAST_ALIVE && MAY_TURN;
			alive--;
			abandoned = (abandoned || (token == attempt && status == RUNNING));
			token = 0; break }
	od
}

#ifdef TICKER
proctype ticker()
{
	do
	:: ends > 0 -> break
	:: atomic { ends == 0 && TIMER_IS_DUE -> skip }; take_due()
#ifndef BROKEN_LIVENESS
	/* liveness_watch: A is not heard of; perhaps it is only slow */
	:: atomic { ends == 0 && agent == A && !locked && alive == 0 -> unavailable = true };
		give_up_tasks()
	:: atomic { ends == 0 && agent == A && !locked && alive > 0 && MAY_TURN; unavailable = true };
		give_up_tasks()
#endif
	od
}
#endif

/* leases run out: those of nobody for certain, those of the living now and then */
proctype time()
{
end:
	do
	:: atomic { status == RUNNING && !run_out && abandoned -> run_out = true }
	:: atomic { status == RUNNING && !run_out && !abandoned && MAY_TURN; run_out = true }
	od
}

/* may change its mind at any time: task.cancel fits whatever is not over */
proctype requester()
{
	if
	:: TASK_LOCK;
		atomic {
			if
			:: !IS_OVER -> apply_end(CANCELLED)
			:: else
			fi;
			locked = false
		}
	:: true
	fi
}

init
{
	atomic {
		select (fails_at : 0 .. 1);
		run session(A);
		run session(A);
		run session(B);
#ifdef TICKER
		run ticker();
#endif
		run time();
		run requester()
	}
}

/* promise 5 */
ltl ends_once { <> (ends == 1) }
