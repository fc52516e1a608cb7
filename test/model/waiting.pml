/*
 * waiting.pml
 *	  Tasks that find no slot, and agents that free one.
 *
 * Each of the three tasks is requested once, each slot has a session of its
 * agent that claims when it was woken, works, reports, and sleeps again.
 * "Router saw no free slot" against "reporter saw nothing waiting" leaves no
 * trace in either transaction, so somebody has to look again.
 *
 * Promises
 *	1. a slot never has two tasks, so no agent more than its limit;
 *	2. a task is given to one;
 *	3. no wake-up is lost: nobody sleeps while a slot is free and a task waits;
 *	4. no claim is for nothing for ever: while nobody commits anything, agents
 *	   fall asleep, however long a transaction stays open;
 *	5. in the end all tasks are done.
 *
 * What is left out
 *	- What a transaction writes is written at its commit, in one step.  What
 *	  others can tell before is kept: the rows of tasks it has locked, and the
 *	  slots whose newest version is in doubt.
 *	- Kinds of what waits, order, priorities: any of them may be taken.
 *	- The places that backends remember in queues (queue/queue.c): they are
 *	  looked at anew after a while, which is what the ticker is for too.
 *	- Sessions that die with what they hold (claim.pml).
 *
 * ROLLBACKS: so many transactions roll back.  That wakes nobody, so who began
 * to wait because of one is found by the ticker.
 * FEW_WOKEN: more agents are full than wake_candidates wakes: here one of two.
 * ENDLESS: one task is worked at for ever, and helps nobody by its end.
 *
 * RUN holds
 * RUN holds -DSLOTS=2							one agent, two at a time
 * RUN holds -DSLOTS=2 -DAGENTS=2
 * RUN ends -DSLOTS=2 -DAGENTS=2
 * RUN holds -DTICKER -DROLLBACKS=1
 * RUN ends -DTICKER -DROLLBACKS=1
 * RUN holds -DSLOTS=2 -DAGENTS=2 -DENDLESS
 * RUN holds -DTICKER -DSLOTS=2 -DAGENTS=2 -DENDLESS -DFEW_WOKEN
 * RUN broken assertion -DBROKEN_GUARD				a slot is looked at and taken in two steps
 * RUN broken assertion -DBROKEN_DOUBT -DROLLBACKS=1	a slot that is being freed is taken for free
 * RUN broken assertion -DBROKEN_SECOND_LOOK -DSLOTS=2	what was seen waiting is given without a look under the lock
 * RUN broken assertion -DBROKEN_PULL				a claim locks what waits though no slot is to be had
 * RUN broken end -DBROKEN_FREED					who frees a slot wakes nobody
 * RUN broken cycle -DBROKEN_FREED
 * RUN broken end -DBROKEN_WAITS					who begins to wait wakes nobody
 * RUN broken end -DBROKEN_EARLY					hints are out before the commit
 * RUN broken end -DROLLBACKS=1						rollbacks, and nobody ticks
 * RUN broken end -DSLOTS=2 -DAGENTS=2 -DENDLESS -DFEW_WOKEN	so many full agents, and nobody ticks
 */
#ifndef SLOTS
#define SLOTS		1
#endif
#ifndef AGENTS
#define AGENTS		1
#endif
#ifndef ROLLBACKS
#define ROLLBACKS	0
#endif
#define TASKS		3
#define NOBODY		255

/* session i works for the agent that slot i belongs to */
#define AGENT_OF(i)	((i) % AGENTS)

mtype = { ABSENT, PENDING, ASSIGNED, RUNNING, DONE };
mtype = { SETTLED, TAKING, FREEING };

/* as committed last */
mtype status[TASKS] = ABSENT;
byte slot_of[TASKS] = NOBODY;
byte holder[SLOTS] = NOBODY;

/* what others can tell of open transactions */
bool locked[TASKS];
mtype doubt[SLOTS] = SETTLED;

bool woken[SLOTS] = true;		/* at first every session looks */
byte done;
byte wanted = TASKS;			/* so many will be done */
byte rollbacks;
byte in_vain;					/* claims since somebody changed anything */

#define MAY_ROLL_BACK	rollbacks < ROLLBACKS -> rollbacks++; in_vain = 0

/* ------------------------------------------------------ wake/notify.c */

inline notify_agent(a)
{
	woken[0] = (woken[0] || a == AGENT_OF(0));
#if SLOTS > 1
	woken[1] = (woken[1] || a == AGENT_OF(1))
#endif
}

/* in flow/assign.c: all that are full, up to REJECTION_EXAMPLES of them */
inline wake_candidates()
{
#ifndef BROKEN_WAITS
	notify_agent(0);
#ifndef FEW_WOKEN
	notify_agent(AGENTS - 1)
#endif
#endif
	skip
}

/* -------------------------------------------------------- registry/slot.c */

#ifdef BROKEN_DOUBT
#define SEEMS_FREE(s)	((holder[s] == NOBODY && doubt[s] == SETTLED) || doubt[s] == FREEING)
#else
#define SEEMS_FREE(s)	(holder[s] == NOBODY && doubt[s] == SETTLED)
#endif

/* take_guarded: the look and the taking are one step for all others */
inline try_slot(no, into)
{
#ifdef BROKEN_GUARD
	if
	:: SEEMS_FREE(no) -> atomic { doubt[no] = TAKING; into = no }
#else
	if
	:: atomic { SEEMS_FREE(no) -> doubt[no] = TAKING; into = no }
#endif
	:: atomic { !SEEMS_FREE(no) -> skip }
	fi
}

/* slot_take, for the candidates one after the other; NOBODY: none has one */
inline slot_take(got)
{
	try_slot(0, got);
#if SLOTS > 1
	if
	:: atomic { got == NOBODY -> skip }; try_slot(1, got)
	:: atomic { got != NOBODY -> skip }
	fi
#endif
}

#ifdef ENDLESS
#define IS_ENDLESS(t)	((t) == 0)
#else
#define IS_ENDLESS(t)	false
#endif

/* ----------------------------------------------------- ends of transactions */

/* the task that was locked is given the slot that was taken */
inline give(t, s, as)
{
	/* promises 1 and 2 */
	assert(holder[s] == NOBODY);
	assert(status[t] == PENDING || status[t] == ABSENT);
	holder[s] = t;
	slot_of[t] = s;
	status[t] = as;
	doubt[s] = SETTLED;
	locked[t] = false;
	in_vain = 0
}

/* as if nothing had been */
inline roll_back(t, s)
{
	if
	:: t != NOBODY -> locked[t] = false
	:: else
	fi;
	if
	:: s != NOBODY -> doubt[s] = SETTLED
	:: else
	fi;
	t = NOBODY;
	s = NOBODY
}

/* ------------------------------------------------------ queue/waiting.c */

/* take_first: the scan passes over entries that are in doubt */
#define IS_SEEN(t)		(status[t] == PENDING && !locked[t])

inline scan_waiting(t)
{
	if
	:: IS_SEEN(0) -> t = 0
	:: IS_SEEN(1) -> t = 1
	:: IS_SEEN(2) -> t = 2
	:: else -> t = NOBODY
	fi
}

/* lock_entry: task_lock without waiting, then the second look */
inline lock_entry(t)
{
	atomic {
		if
		:: t == NOBODY
		:: t != NOBODY && locked[t] -> t = NOBODY
		:: t != NOBODY && !locked[t] ->
			if
#ifdef BROKEN_SECOND_LOOK
			:: true -> locked[t] = true
#else
			:: status[t] == PENDING -> locked[t] = true
			:: else -> t = NOBODY
#endif
			fi
		fi
	}
}

/* ----------------------------------- flow/assign.c: a task asks for an agent */

/* route, of a new request; rolled back, it is sent again, or not */
proctype request(byte me)
{
	byte t = NOBODY, s = NOBODY;

again:
	atomic { t = me; locked[t] = true };		/* task_create */
	slot_take(s);
#ifdef BROKEN_EARLY
	wake_candidates();
#endif
	atomic {
		if
		:: MAY_ROLL_BACK; roll_back(t, s); goto again
		:: MAY_ROLL_BACK; roll_back(t, s); wanted--		/* who asked is gone */
		:: s != NOBODY ->
			give(t, s, ASSIGNED);
			notify_agent(AGENT_OF(s))			/* notify_event */
		:: s == NOBODY ->
			/* wait_for_agent */
			status[t] = PENDING;
			locked[t] = false;
			in_vain = 0;
#ifndef BROKEN_EARLY
			wake_candidates()
#endif
		fi;
		t = NOBODY;
		s = NOBODY
	}
}

/* ------------------------------------ flow/claim.c: an agent asks for a task */

#define IS_READY(t)		(status[t] == ASSIGNED && !locked[t] && AGENT_OF(slot_of[t]) == AGENT_OF(me))

/*
 * ready_take.  That several sessions meet at one task is claim.pml's: here it
 * is taken and committed in one step.
 */
inline ready_take(task)
{
	if
	:: IS_READY(0) -> task = 0
	:: IS_READY(1) -> task = 1
	:: IS_READY(2) -> task = 2
	:: else
	fi;
	if
	:: task != NOBODY -> status[task] = RUNNING; in_vain = 0
	:: else
	fi
}

/* assign_pull: its load is below its limit, by what is committed */
#if AGENTS > 1 || SLOTS == 1
#define HAS_ROOM		(holder[me] == NOBODY)
#define HAS_FREE_SLOT	SEEMS_FREE(me)
#else
#define HAS_ROOM		(holder[0] == NOBODY || holder[1] == NOBODY)
#define HAS_FREE_SLOT	(SEEMS_FREE(0) || SEEMS_FREE(1))
#endif

#ifdef BROKEN_PULL
#define MAY_PULL		HAS_ROOM
#else
#define MAY_PULL		(HAS_ROOM && HAS_FREE_SLOT)
#endif

/* nothing came of it */
inline claimed_in_vain()
{
	in_vain++;
	/* promise 4 */
	assert(in_vain <= 4 * SLOTS)
}

/* task: what it has claimed */
inline claim(task, t, s)
{
	atomic {
		ready_take(task);
		if
		:: task == NOBODY && MAY_PULL -> scan_waiting(t)
		:: else
		fi;
		if
		:: task == NOBODY && t == NOBODY -> claimed_in_vain()
		:: else
		fi
	};
	if
	:: atomic { t == NOBODY -> skip }
	:: atomic { t != NOBODY -> skip };
		lock_entry(t);
		if
		:: atomic { t == NOBODY -> claimed_in_vain() }
		:: atomic { t != NOBODY -> skip };
			/* assign_again, and what it gives to this agent is claimed at once */
			slot_take(s);
			atomic {
				if
				/* who is told of an error claims again */
				:: MAY_ROLL_BACK; roll_back(t, s); woken[me] = true
				:: s != NOBODY && AGENT_OF(s) == AGENT_OF(me) ->
					give(t, s, RUNNING);
					task = t
				:: s != NOBODY && AGENT_OF(s) != AGENT_OF(me) ->
					give(t, s, ASSIGNED);
					notify_agent(AGENT_OF(s))
				:: s == NOBODY ->
					locked[t] = false;
					wake_candidates();
					claimed_in_vain()
				fi;
				t = NOBODY;
				s = NOBODY
			}
		fi
	fi
}

/* ----------------------------- flow/intake.c: an agent reports, a slot is freed */

/* apply_report, assign_withdraw, assign_offer; rolled back, it is sent again */
inline report(task, t)
{
	atomic { doubt[slot_of[task]] = FREEING };		/* slot_free */
	atomic { scan_waiting(t) };						/* waiting_take */
	lock_entry(t);
#ifdef BROKEN_EARLY
	notify_agent(AGENT_OF(me));
#endif
	atomic {
		if
		:: MAY_ROLL_BACK;
			doubt[slot_of[task]] = SETTLED;
			if
			:: t != NOBODY -> locked[t] = false
			:: else
			fi
		:: true ->
			status[task] = DONE;
			done++;
			holder[slot_of[task]] = NOBODY;
			doubt[slot_of[task]] = SETTLED;
			in_vain = 0;
			if
			/* what it has just freed it can give */
			:: t != NOBODY -> give(t, slot_of[task], ASSIGNED)
			:: else
			fi;
			slot_of[task] = NOBODY;
			task = NOBODY;
#if !defined(BROKEN_FREED) && !defined(BROKEN_EARLY)
			notify_agent(AGENT_OF(me))
#endif
		fi;
		t = NOBODY
	}
}

proctype session(byte me)
{
	byte task = NOBODY, t = NOBODY, s = NOBODY;

	do
	:: atomic { done == wanted -> break }
	:: atomic { task == NOBODY && done < wanted && woken[me] -> woken[me] = false };
		claim(task, t, s)
	:: atomic { task != NOBODY && !IS_ENDLESS(task) -> skip };
		report(task, t)
	:: atomic { task != NOBODY && IS_ENDLESS(task) -> wanted-- };
end_works:
		false
	od
}

/* ------------------------------------------------ flow/tick.c: route_waiting */

#ifdef TICKER
proctype ticker()
{
	byte t = NOBODY, s = NOBODY;

	do
	:: atomic { done == wanted -> break }
	:: atomic { IS_SEEN(0) || IS_SEEN(1) || IS_SEEN(2) -> scan_waiting(t) };
		lock_entry(t);
		if
		:: atomic { t == NOBODY -> skip }
		:: atomic { t != NOBODY -> skip };
			slot_take(s);
			atomic {
				if
				:: s != NOBODY -> give(t, s, ASSIGNED); notify_agent(AGENT_OF(s))
				:: s == NOBODY -> locked[t] = false; in_vain = 0; wake_candidates()
				fi;
				t = NOBODY;
				s = NOBODY
			}
		fi
	od
}
#endif

init
{
	atomic {
		run request(0);
		run request(1);
		run request(2);
		run session(0);
#if SLOTS > 1
		run session(1);
#endif
#ifdef TICKER
		run ticker()
#endif
	}
}

/* promises 3 and 5; that none sleeps too early is a blocked end in the other run */
ltl all_are_done { <> (done == wanted) }
