/*
 * unclaimed.pml
 *	  A ready task that its agent does not claim goes to another.
 *
 * One task that two agents fit, and that both have room for.  It is with agent 0
 * at first.  Time is not modelled: whenever it is ready, it may have been ready
 * for too long.  An agent claims, or it never does (ALIVE says which do: bit i is
 * agent i), and one that claims may do so at any moment, however late.
 *
 * Promises
 *	1. the task is worked at by one agent at a time, and done once;
 *	2. an agent that claims gets it in the end, whoever had it;
 *	3. agents that never claim do not pass it round: it moves once for each other
 *	   agent at most, unless an agent asks for it;
 *	4. nothing waits: a busy task is passed over.
 *
 * What is left out
 *	- Slots: both agents have room.  That a slot is given once is waiting.pml's.
 *	- What a transaction writes is written at its commit, in one step; "locked"
 *	  is what others can tell before.
 *	- Attempts and late reports (claim.pml).
 *
 * RUN holds
 * RUN ends
 * RUN holds -DALIVE=1
 * RUN ends -DALIVE=1
 * RUN ends -DALIVE=2
 * RUN holds -DALIVE=0 -DROLLBACKS=1
 * RUN ends -DALIVE=2 -DROLLBACKS=1
 * RUN broken assertion -DBROKEN_BACK -DALIVE=0		a tick gives it to an agent that has had it
 * RUN broken cycle -DBROKEN_STAYS -DALIVE=2			it is never offered
 * RUN broken assertion -DBROKEN_OFFER				a claim leaves the offer behind, and nobody looks at the task again
 * RUN broken assertion -DBROKEN_LOOK				what was seen offered is given without a look under the lock
 * RUN broken cycle -DBROKEN_CLAIM -DALIVE=1			who asks for work does not get what it has had
 */
#ifndef ALIVE
#define ALIVE		3
#endif
#ifndef ROLLBACKS
#define ROLLBACKS	0
#endif
#define NOBODY		255
#define IS_ALIVE(a)	((ALIVE >> (a)) & 1)

mtype = { READY, RUNNING, DONE };

/* as committed last */
mtype status = READY;
byte with_agent = 0;
bool offered;
bool has_had[2];				/* past_agents, and the agent itself */
byte worked_at_by;				/* so many agents */
byte moves;						/* by ticks */
byte rollbacks;

/* what others can tell of an open transaction */
bool locked;

#define MAY_ROLL_BACK	rollbacks < ROLLBACKS -> rollbacks++

/* flow/assign.c: the task goes to agent a, as claims does */
inline give(a)
{
	/* promise 1: nobody works at it */
	assert(status == READY);
	has_had[with_agent] = true;
	with_agent = a;
	has_had[a] = true;
	offered = false
}

/* flow/due.c and flow/offer.c */
#ifdef BROKEN_STAYS
#define MAY_OFFER		false
#else
#define MAY_OFFER		(status == READY && !locked && !offered)
#endif
#ifdef BROKEN_BACK
#define TICK_MAY_GIVE(a)	(with_agent != (a))
#else
#define TICK_MAY_GIVE(a)	(with_agent != (a) && !has_had[a])
#endif

/* waiting_lock: task_lock_now, then the second look */
#ifdef BROKEN_LOOK
#define STILL_OFFERED	true
#else
#ifdef BROKEN_OFFER
#define STILL_OFFERED	offered
#else
#define STILL_OFFERED	(offered && status == READY)
#endif
#endif

proctype ticker()
{
	byte a = NOBODY;

end_idle:
	do
	:: status == DONE -> break
	/* timer_take_due, assign_offer */
	:: atomic { MAY_OFFER -> offered = true }
	/* assign_select_for_offered, without a lock */
	:: atomic { offered && TICK_MAY_GIVE(0) -> a = 0 }; goto chosen
	:: atomic { offered && TICK_MAY_GIVE(1) -> a = 1 }; goto chosen
	od;
	goto over;
chosen:
	if
	:: atomic { locked || !STILL_OFFERED -> skip }
	:: atomic { !locked && STILL_OFFERED -> locked = true };
		atomic {
			if
			:: MAY_ROLL_BACK
			:: give(a);
				moves++;
				/* promise 3 */
				assert(moves <= 1 || IS_ALIVE(0) || IS_ALIVE(1))
			fi;
			locked = false
		}
	fi;
	goto end_idle;
over:
	skip
}

/* flow/claim.c: ready_take, then offer_work for what others do not claim */
#ifdef BROKEN_CLAIM
#define CLAIM_MAY_TAKE(a)	(!has_had[a])
#else
#define CLAIM_MAY_TAKE(a)	true
#endif

proctype agent(byte me)
{
	bool is_mine;

again:
	do
	:: status == DONE -> break
	/* a task of its own */
	:: atomic { IS_ALIVE(me) && status == READY && with_agent == me && !locked -> locked = true };
		is_mine = true;
		goto claimed
	/* one that is offered: seen without a lock */
	:: atomic { IS_ALIVE(me) && offered && with_agent != me && CLAIM_MAY_TAKE(me) -> is_mine = false };
		if
		:: atomic { locked || !STILL_OFFERED || with_agent == me -> skip }
		:: atomic { !locked && STILL_OFFERED && with_agent != me -> locked = true };
			goto claimed
		fi
	/* who never claims waits for the end of the world */
	:: atomic { !IS_ALIVE(me) -> break }
	od;
	goto over;
claimed:
	atomic {
		if
		:: MAY_ROLL_BACK; locked = false; goto again
		:: is_mine -> skip
		:: else -> give(me)
		fi;
		assert(status == READY);
		status = RUNNING;
#ifndef BROKEN_OFFER
		offered = false;
#endif
		worked_at_by++;
		/* promise 1 */
		assert(worked_at_by == 1);
		locked = false
	};
	/* the report */
	atomic { status == RUNNING && with_agent == me && !locked -> worked_at_by--; status = DONE };
	goto over;
over:
	skip
}

init
{
	atomic {
		has_had[0] = true;
		run ticker();
		run agent(0);
		run agent(1)
	}
}

/* promise 2 */
ltl is_done { <> (status == DONE) }
