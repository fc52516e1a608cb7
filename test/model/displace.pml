/*
 * displace.pml
 *	  More urgent work takes the place of ready work that nobody has begun.
 *
 * Three tasks of different priority are requested at once: 0 is the least
 * urgent one.  Each slot has a session of its agent, which claims, works and
 * reports.  A task that finds all slots taken waits; at commit it displaces a
 * ready task that is less urgent, and then that one is routed anew.
 *
 * Promises
 *	1. a slot never has two tasks, and no task has two slots;
 *	2. a task that has been claimed keeps its slot, and each task is done once;
 *	3. displacing comes to an end: each time a slot gets a more urgent task;
 *	4. nothing is lost: in the end all tasks are done;
 *	5. when all is quiet, no task waits behind a less urgent one that nobody has
 *	   begun (QUIET: nobody claims).
 *
 * What is left out
 *	- What a transaction writes is written at its commit, in one step.  What
 *	  others can tell before is kept: which tasks it has locked, and which slots
 *	  are in doubt.  So "locked" stands for the rows of clutch.ready, too.
 *	- Who is woken: a session that has nothing to do looks again (waiting.pml).
 *	- Which of several tasks yields: any that is less urgent may.
 *	- Aging, which only lets fewer tasks yield.
 *
 * ROLLBACKS: so many transactions roll back.
 *
 * RUN holds
 * RUN holds -DROLLBACKS=1
 * RUN holds -DSLOTS=2
 * RUN ends
 * RUN ends -DSLOTS=2
 * RUN holds -DQUIET
 * RUN holds -DQUIET -DSLOTS=2
 * RUN holds -DQUIET -DROLLBACKS=1
 * RUN broken assertion -DBROKEN_SECOND_LOOK			what was seen ready is displaced without a look under the lock
 * RUN broken assertion -DBROKEN_EQUAL -DQUIET		a task displaces one that is as urgent
 * RUN broken assertion -DBROKEN_LOCK				two urgent tasks displace the same one
 * RUN broken assertion -DBROKEN_NO_TICK -DQUIET		nobody looks again for what was locked or in doubt
 * RUN broken end -DBROKEN_FORGOTTEN					a displaced task is not put back
 * RUN broken cycle -DBROKEN_FORGOTTEN
 */
#ifndef SLOTS
#define SLOTS		1
#endif
#ifndef ROLLBACKS
#define ROLLBACKS	0
#endif
#define TASKS		3
#define NOBODY		255

mtype = { ABSENT, PENDING, ASSIGNED, RUNNING, DONE, FORGOTTEN };

/* as committed last */
mtype status[TASKS] = ABSENT;
byte slot_of[TASKS] = NOBODY;
byte holder[SLOTS] = NOBODY;

/* what others can tell of open transactions */
bool locked[TASKS];
bool doubt[SLOTS];

byte done;
byte displaced;
byte rollbacks;

/* task t is no less urgent than u */
#ifdef BROKEN_EQUAL
#define IS_MORE_URGENT(t, u)	((t) != (u))
#else
#define IS_MORE_URGENT(t, u)	((t) > (u))
#endif

#define MAY_ROLL_BACK	rollbacks < ROLLBACKS -> rollbacks++

/* registry/slot.c: slot_take.  NOBODY: none is free */
inline slot_take(s)
{
	if
	:: holder[0] == NOBODY && !doubt[0] -> s = 0
#if SLOTS > 1
	:: holder[1] == NOBODY && !doubt[1] -> s = 1
#endif
	:: else -> s = NOBODY
	fi;
	if
	:: s != NOBODY -> doubt[s] = true
	:: else
	fi
}

/* queue/ready.c: ready_look_for_yielding, without a lock */
#define YIELDS(t, v)	(status[v] == ASSIGNED && !locked[v] && IS_MORE_URGENT(t, v))

inline look_for_yielding(t, v)
{
	if
	:: YIELDS(t, 0) -> v = 0
	:: YIELDS(t, 1) -> v = 1
	:: YIELDS(t, 2) -> v = 2
	:: else -> v = NOBODY
	fi
}

/* ready_lock_yielding: task_lock_now, then the second look */
inline lock_yielding(v)
{
	atomic {
		if
		:: v == NOBODY
#ifdef BROKEN_LOCK
		:: v != NOBODY ->
#else
		:: v != NOBODY && locked[v] -> v = NOBODY
		:: v != NOBODY && !locked[v] ->
#endif
			if
#ifdef BROKEN_SECOND_LOOK
			:: true -> locked[v] = true
#else
			:: status[v] == ASSIGNED -> locked[v] = true
			:: else -> v = NOBODY
#endif
			fi
		fi
	}
}

/* the commit of a transaction that has locked t, and a slot s or a victim v */
inline commit_routing(t, s, v)
{
	if
	:: v != NOBODY ->
		/* flow/displace.c: displace_task.  Promise 2 */
		assert(status[v] == ASSIGNED);
		s = slot_of[v];
		assert(holder[s] == v);
		holder[s] = NOBODY;
		slot_of[v] = NOBODY;
#ifdef BROKEN_FORGOTTEN
		status[v] = FORGOTTEN;
#else
		status[v] = PENDING;
#endif
		locked[v] = false;
		displaced++;
		/* promise 3: with each of these a slot has a more urgent task */
		assert(displaced <= TASKS * (TASKS - 1) / 2)
	:: else
	fi;
	if
	:: s != NOBODY ->
		/* promise 1 */
		assert(holder[s] == NOBODY && slot_of[t] == NOBODY);
		holder[s] = t;
		slot_of[t] = s;
		status[t] = ASSIGNED;
		doubt[s] = false
	:: else -> status[t] = PENDING
	fi;
	locked[t] = false;
	s = NOBODY;
	v = NOBODY
}

inline roll_back(t, s, v)
{
	locked[t] = false;
	if
	:: s != NOBODY -> doubt[s] = false
	:: else
	fi;
	if
	:: v != NOBODY -> locked[v] = false
	:: else
	fi;
	s = NOBODY;
	v = NOBODY
}

/* flow/assign.c: t, which is locked, is routed; then its transaction commits */
inline route(t, s, v)
{
	atomic { slot_take(s) };
	if
	:: atomic { s == NOBODY -> look_for_yielding(t, v) };
		lock_yielding(v);
	:: atomic { s != NOBODY -> skip }
	fi;
}

proctype request(byte t)
{
	byte s = NOBODY, v = NOBODY;

again:
	atomic { locked[t] = true };
	route(t, s, v);
	atomic {
		if
		:: MAY_ROLL_BACK; roll_back(t, s, v); goto again
		:: commit_routing(t, s, v)
		fi
	}
}

/* flow/tick.c: offer_to_all, and the entry that a displaced task puts on the agenda */
#define WAITS(t)	(status[t] == PENDING && !locked[t])

/* it would do something: a slot is free, or a task yields */
#define HAS_FREE_SLOT	((holder[0] == NOBODY && !doubt[0]) || (holder[SLOTS - 1] == NOBODY && !doubt[SLOTS - 1]))
#define WOULD_MOVE(t)	(WAITS(t) && (HAS_FREE_SLOT || YIELDS(t, 0) || YIELDS(t, 1) || YIELDS(t, 2)))

proctype ticker()
{
	byte t = NOBODY, s = NOBODY, v = NOBODY;

end_idle:
	do
	:: done == TASKS -> break
#ifndef BROKEN_NO_TICK
	:: atomic { WOULD_MOVE(0) -> t = 0; locked[t] = true }; route(t, s, v); atomic { commit_routing(t, s, v) }
	:: atomic { WOULD_MOVE(1) -> t = 1; locked[t] = true }; route(t, s, v); atomic { commit_routing(t, s, v) }
	:: atomic { WOULD_MOVE(2) -> t = 2; locked[t] = true }; route(t, s, v); atomic { commit_routing(t, s, v) }
#endif
	od
}

/* flow/claim.c and flow/intake.c: the session of slot "me" */
#define IS_READY(t)		(status[t] == ASSIGNED && !locked[t] && slot_of[t] == me)

proctype session(byte me)
{
	byte t = NOBODY;

	do
	:: done == TASKS -> break
	/* ready_lock, which passes over what is locked */
	:: atomic { t == NOBODY && IS_READY(0) -> t = 0; locked[t] = true }
	:: atomic { t == NOBODY && IS_READY(1) -> t = 1; locked[t] = true }
	:: atomic { t == NOBODY && IS_READY(2) -> t = 2; locked[t] = true }
	/* the claim commits */
	:: atomic { t != NOBODY && status[t] == ASSIGNED ->
			locked[t] = false;
			if
			:: MAY_ROLL_BACK; t = NOBODY
			:: status[t] = RUNNING
			fi
		}
	/* so does the report; promise 2 */
	:: atomic { t != NOBODY && status[t] == RUNNING && !locked[t] ->
			assert(holder[me] == t && slot_of[t] == me);
			status[t] = DONE;
			holder[me] = NOBODY;
			slot_of[t] = NOBODY;
			done++;
			t = NOBODY
		}
	od
}

#ifdef QUIET
/* promise 5 */
#define WAITS_BEHIND(t, v)	(status[t] == PENDING && status[v] == ASSIGNED)

proctype watcher()
{
end_watching:
	timeout ->
	assert(!WAITS_BEHIND(1, 0) && !WAITS_BEHIND(2, 0) && !WAITS_BEHIND(2, 1))
}
#endif

init
{
	atomic {
		run request(0);
		run request(1);
		run request(2);
		run ticker();
#ifdef QUIET
		run watcher()
#else
		run session(0);
#if SLOTS > 1
		run session(1)
#endif
#endif
	}
}

ltl all_are_done { <> (done == TASKS) }
