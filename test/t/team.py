#!/usr/bin/env python3
"""One process of the team that works while a test kills and promotes servers.

    team.py ROLE NAME SEED FOLDER CONNINFO

Roles: agent, producer, subscriber, reader, ticker, foreman, pruner, watcher.  It works until
the file FOLDER/stop.ROLE is there, and connects again when it has to.

What the database told it is a line in FOLDER/NAME.told, written at once and
unbuffered: who is killed has noted only what was answered.  What must not
happen is a line in FOLDER/NAME.faults.
"""
import os
import random
import sys
import time
import uuid

import psycopg2
import psycopg2.extras

# the server stops, starts, is not there; or it was a deadlock, which may be
GONE = ('57P01', '57P02', '57P03', '08000', '08003', '08006', '40P01')

LEASE = 1.0
PAUSE = 0.03


class Member:
    def __init__(self, role, name, seed, folder, conninfo):
        self.role = role
        self.name = name
        # one that was started again is not to repeat its ids
        self.life = uuid.uuid4().hex[:8]
        self.random = random.Random(f'{seed} {name}')
        self.folder = folder
        self.conninfo = conninfo
        self.db = None
        self.files = {}

    # ------------------------------------------------------------ the record

    def write(self, kind, *words):
        if kind not in self.files:
            self.files[kind] = os.open(f'{self.folder}/{self.name}.{kind}',
                                       os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(self.files[kind], (' '.join(str(word) for word in words) + '\n').encode())

    def told(self, *words):
        self.write('told', *words)

    def fault(self, *words):
        self.write('faults', *words)

    # ---------------------------------------------------------- the database

    def ask(self, sql, *values):
        with self.db.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def connect(self):
        self.db = psycopg2.connect(f'{self.conninfo} application_name={self.name} connect_timeout=10')
        self.db.autocommit = True

    def transaction(self, body):
        """Commits what body does; it may say False: rolled back."""
        self.ask('BEGIN')
        try:
            done = body()
            self.ask('COMMIT' if done is not False else 'ROLLBACK')
        except psycopg2.Error:
            if not self.db.closed:
                self.ask('ROLLBACK')
            raise
        return done

    def stopped(self):
        return os.path.exists(f'{self.folder}/stop.{self.role}')

    def run(self):
        while True:
            try:
                if self.stopped() and self.may_end():
                    break
                if self.db is None or self.db.closed:
                    self.connect()
                self.step()
            except psycopg2.Error as error:
                if error.pgcode is not None and error.pgcode not in GONE:
                    self.fault(error.pgcode, str(error).replace('\n', ' | '))
                    os._exit(1)
                time.sleep(PAUSE)
                if error.pgcode != '40P01' and self.db is not None:
                    self.db.close()

    def may_end(self):
        return True

    def chance(self, share):
        return self.random.random() < share


class Producer(Member):
    """Requests of all kinds; what is in doubt is sent again, as it was."""
    n = 0
    doubtful = None
    last = None

    def draft(self):
        """The arguments of clutch.envelope; the same envelope whenever it is built."""
        self.n += 1
        task = f'task:{self.name}_{self.life}_{self.n}'
        run = f'run:{self.name}_{self.life}_{self.n // 20}'
        meta = {}
        named = self.chance(0.1)
        if self.chance(0.08):
            meta['ttl_ms'] = self.random.choice([400, 2000])
        if self.chance(0.2):
            meta['priority'] = self.random.randrange(5)
        parent = f'task:{self.name}_{self.life}_{self.n // 20 * 20}' if self.chance(0.2) and self.n % 20 > 0 else None
        # neither one that does not exist nor one that waits for us
        if self.chance(0.2) and self.last and self.last['run'] == run and self.last['task'] != parent:
            meta['after'] = [self.last['task']]
        return {
            'type': 'task.request', 'id': f'msg_{self.name}_{self.life}_{self.n}', 'task': task, 'run': run,
            'whom': [f'agent:a{self.random.randint(1, 20)}'] if named else None,
            'parent': parent,
            'requires': None if named else [self.random.choice(['skill:x', 'skill:y', 'skill:z'])],
            'meta': psycopg2.extras.Json({'clutch': meta}) if meta else None,
        }

    def chat(self):
        self.n += 1
        return {'type': 'chat.message', 'id': f'msg_{self.name}_{self.life}_{self.n}', 'task': 'task:talk',
                'run': f'run:{self.name}_{self.life}_{self.n // 20}', 'whom': ['topic:news'], 'parent': None, 'requires': None, 'meta': None}

    BUILD = '''clutch.envelope(%s, 'agent:ui', %s, '{"do": "it"}', run_id => %s, thread_id => 'thread:1', task_id => %s,
        parent_task_id => %s, requires => %s, meta => %s, id => %s)'''

    def values(self, draft):
        return [draft[key] for key in ('type', 'whom', 'run', 'task', 'parent', 'requires', 'meta', 'id')]

    def send(self, drafts):
        """One call of send, or of send_batch."""
        if len(drafts) == 1:
            rows = self.ask(f'SELECT id, run_id FROM clutch.send({self.BUILD})', *self.values(drafts[0]))
        else:
            rows = self.ask('SELECT id, run_id FROM clutch.send_batch(ARRAY[' + ', '.join([self.BUILD] * len(drafts)) + '])',
                            *[value for draft in drafts for value in self.values(draft)])
        return [('sent', *row) for row in rows]

    def linger(self, drafts):
        """A transaction that others overtake, and that may come to nothing."""
        keep = self.chance(0.8)

        def body():
            self.sent = self.send(drafts)
            seq = self.ask('SELECT max(seq) FROM clutch.events')[0][0] or 0
            end = time.time() + 1.5
            while time.time() < end and self.ask('SELECT count(*) FROM clutch.events WHERE seq > %s', seq)[0][0] < 60:
                time.sleep(PAUSE)
            return keep
        self.transaction(body)
        return self.sent if keep else [('dropped', *words[1:]) for words in self.sent]

    def step(self):
        if self.doubtful is None:
            if self.ask('''SELECT count(*) FROM clutch.task WHERE task_id ^@ %s
                    AND status IN ('pending', 'assigned', 'running', 'input_required', 'suspended')''', f'task:{self.name}_')[0][0] > 50:
                time.sleep(PAUSE)
                return
            if self.n > 20 and self.chance(0.04):
                self.ask("SELECT clutch.cancel(task_id, 'not wanted', 'agent:ui') FROM clutch.task WHERE task_id = %s",
                         f'task:{self.name}_{self.life}_{self.n - self.random.randrange(20)}')
            drafts = [self.draft() if self.chance(0.85) else self.chat()
                      for _ in range(self.random.choice([1, 1, 1, 6]))]
            self.doubtful = (drafts, self.chance(0.1))
        drafts, lingers = self.doubtful
        for words in self.linger(drafts) if lingers else self.send(drafts):
            self.told(*words)
            if words[0] == 'sent' and drafts[-1]['type'] == 'task.request':
                self.last = drafts[-1]
        self.doubtful = None


class Agent(Member):
    """Works: well, badly, twice, late, or not at all."""
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.agent = f'agent:{self.name}'
        self.late = []

    def finish(self, task, attempt):
        """With a row of our own: it is there if and only if the report counted."""
        seq = self.ask('''WITH f AS MATERIALIZED (SELECT * FROM clutch.finish(%s, %s, '{"done": true}', %s)),
                e AS (INSERT INTO effect SELECT task_id, seq FROM f WHERE NOT late)
            SELECT seq, id, run_id FROM f''', self.agent, task, attempt)
        for _, event, run in seq:
            self.told('sent', event, run)

    def finish_twice(self, task, attempt, run):
        """The very same envelope, as a client does whose connection broke."""
        event = f'msg_{self.name}_{uuid.uuid4().hex}'
        sql = '''SELECT seq, duplicate, late FROM clutch.send(clutch.envelope('task.result', %s, NULL, '{"done": "twice"}',
            run_id => %s, thread_id => 'thread:1', task_id => %s, attempt => %s, id => %s))'''
        sql = f'WITH f AS MATERIALIZED ({sql}), e AS (INSERT INTO effect SELECT %s, seq FROM f WHERE NOT late AND NOT duplicate) SELECT * FROM f'
        values = (self.agent, run, task, attempt, event, task)
        first = self.ask(sql, *values)[0]
        self.told('sent', event, run)
        again = self.ask(sql, *values)[0]
        if first[1] or not again[1] or first[0] != again[0]:
            self.fault('sent twice', event, first, again)

    def fail(self, task, attempt, code, retryable):
        for event, run in self.ask('SELECT id, run_id FROM clutch.fail(%s, %s, %s, %s, %s, attempt => %s)',
                                   self.agent, task, code, 'it went wrong', retryable, attempt):
            self.told('sent', event, run)

    def progress(self, task, attempt, payload):
        for event, run in self.ask('SELECT id, run_id FROM clutch.progress(%s, %s, %s, %s)', self.agent, task, payload, attempt):
            self.told('sent', event, run)

    def release(self, task, attempt):
        """Refused where it was cancelled or lost meanwhile."""
        try:
            self.ask('SELECT clutch.release(%s, %s, %s)', self.agent, task, attempt)
        except psycopg2.Error as error:
            if 'NOT_HELD' not in str(error):
                raise

    def keep(self, task, attempt):
        """Two steps, each with a row of our own: once, however often the task is begun."""
        for name in ('one', 'two'):
            def body(name=name):
                if not self.ask('SELECT name FROM clutch.steps(%s) WHERE name = %s', task, name):
                    self.ask('INSERT INTO step_effect VALUES (%s, %s)', task, name)
                    self.ask('SELECT clutch.step(%s, %s, %s, %s, %s)', self.agent, task, name, f'{{"did": "{name}"}}', attempt)
            try:
                self.transaction(body)
            except psycopg2.Error as error:
                if 'NOT_HELD' not in str(error):
                    raise
                return

    def suspend(self, task, attempt):
        wait = self.random.choice(['{"for_ms": 200}', '{"children": "all", "for_ms": 2000}', '{"children": "any", "for_ms": 2000}',
                                   '{"message": {"type": "chat.message"}, "for_ms": 1000}'])
        for event, run in self.ask('SELECT id, run_id FROM clutch.suspend(%s, %s, %s, attempt => %s)', self.agent, task, wait, attempt):
            self.told('sent', event, run)

    def work(self, task, attempt, run):
        what = self.random.random()
        if self.chance(0.3):
            self.progress(task, attempt, '{"percent": 50}')
        if self.chance(0.2):
            self.keep(task, attempt)
        if self.chance(0.1):
            self.suspend(task, attempt)
            return
        if what < 0.55:
            self.finish(task, attempt)
            if self.chance(0.15):
                self.finish(task, attempt)
        elif what < 0.63:
            self.finish_twice(task, attempt, run)
        elif what < 0.72:
            self.fail(task, attempt, 'TIMEOUT', True)
        elif what < 0.75:
            self.fail(task, attempt, 'NO', False)
        elif what < 0.84:
            self.late.append((time.time() + LEASE * self.random.choice([1.1, 1.5]), task, attempt))
        elif what < 0.90:
            self.told('forgot', task, attempt)
        elif what < 0.94:
            self.release(task, attempt)
        elif what < 0.97:
            self.progress(task, attempt, '{"state": "input_required", "question": "may I?"}')
        else:
            os._exit(1)

    def step(self):
        if self.late and self.late[0][0] < time.time():
            _, task, attempt = self.late.pop(0)
            self.told('late', task, attempt)
            self.finish(task, attempt)
        try:
            tasks = self.ask('SELECT task_id, attempt, envelope ->> %s FROM clutch.claim(%s, %s, %s)',
                             'run_id', self.agent, self.random.randint(1, 3), f'{LEASE} s')
        except psycopg2.Error as error:
            # the foreman has unregistered it, and will register it again
            if error.pgcode != 'KL005':
                raise
            tasks = []
        for row in tasks:
            self.told('claimed', row[0], row[1])
        for row in tasks:
            self.work(*row)
        if not tasks:
            time.sleep(PAUSE)


class Subscriber(Member):
    """NAME is subscription.member: what it sees and how far it is are one transaction."""
    empty = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.subscription, self.member = self.name.split('.')

    def take(self):
        """In one statement."""
        return self.ask('''WITH r AS MATERIALIZED (SELECT * FROM clutch.read(%s, %s, %s)),
                i AS (INSERT INTO seen SELECT %s, seq, id FROM r)
            SELECT count(*), clutch.commit(%s, max(pos), %s) FROM r HAVING count(*) > 0''',
                        self.subscription, self.random.choice([7, 100]), self.member, self.subscription,
                        self.subscription, self.member)

    def take_a_part(self):
        """Row by row, not all of it, with an event of its own in between, and perhaps in vain."""
        keep = self.chance(0.7)

        def body():
            rows = self.ask('SELECT pos, seq, id FROM clutch.read(%s, 20, %s)', self.subscription, self.member)
            self.any = bool(rows)
            if self.any and self.chance(0.2) and not self.stopped():
                self.ask('''SELECT clutch.send(clutch.envelope('chat.message', 'agent:ui', '{topic:echo}',
                    run_id => 'run:echo', thread_id => 'thread:1', task_id => 'task:talk'))''')
            part = rows[:self.random.randint(1, 20)]
            for _, seq, event in part:
                self.ask('INSERT INTO seen VALUES (%s, %s, %s)', self.subscription, seq, event)
            if part:
                self.ask('SELECT clutch.commit(%s, %s, %s)', self.subscription, part[-1][0], self.member)
            return keep
        self.transaction(body)
        return self.any

    def step(self):
        any_rows = self.take_a_part() if self.chance(0.2) else self.take()
        self.empty = not any_rows
        if self.empty:
            time.sleep(PAUSE)

    def may_end(self):
        """All that was committed when it was told to stop, and more than once nothing new."""
        return self.empty and self.db is not None and not self.db.closed and not any(self.take() for _ in range(3))


class Reader(Member):
    """read_from without any state but its own: NAME.told has ids, NAME.pos where to go on."""
    pos = None
    empty = False

    def step(self):
        if self.pos is None:
            self.pos = open(f'{self.folder}/{self.name}.start').read().strip()
        rows = self.ask("SELECT pos, seq, id FROM clutch.read_from(%s, max_events => %s)", self.pos, self.random.choice([10, 200]))
        for _, seq, event in rows:
            self.told('saw', event, seq)
        if rows:
            self.pos = rows[-1][0]
            self.write('pos', self.pos)
        self.empty = not rows
        if self.empty:
            time.sleep(PAUSE)

    def may_end(self):
        return self.empty


class Ticker(Member):
    """The only one who ticks, and who answers questions."""
    def step(self):
        self.ask('SELECT clutch.tick()')
        self.ask("SELECT clutch.answer(task_id, '{\"yes\": true}') FROM clutch.approvals")
        time.sleep(PAUSE)


class Foreman(Member):
    """Pauses agents and kinds of work, takes agents out of the registry, and cancels runs."""
    def mend(self):
        self.ask('SELECT clutch.resume(what) FROM clutch.paused')
        self.ask('SELECT clutch.register(card) FROM team_card WHERE agent_id NOT IN (SELECT agent_id FROM clutch.agents)')

    def order(self, what, sql, *values):
        for _ in self.ask(sql, *values):
            self.told(what)

    def step(self):
        agent = f'agent:a{self.random.randint(1, 20)}'
        what = self.random.random()
        if what < 0.2:
            self.order('paused', 'SELECT clutch.pause(agent_id) FROM clutch.agents WHERE agent_id = %s', agent)
        elif what < 0.3:
            self.order('paused', 'SELECT clutch.pause(%s)', self.random.choice(['skill:x', 'skill:y', 'skill:z']))
        elif what < 0.4:
            self.order('unregistered', 'SELECT clutch.unregister(agent_id) FROM clutch.agents WHERE agent_id = %s', agent)
        elif what < 0.45:
            self.order('cancelled', '''SELECT clutch.cancel_run(run_id) FROM (SELECT run_id FROM clutch.task WHERE finished_at IS NULL
                ORDER BY md5(run_id || %s) LIMIT 1) r''', str(what))
        else:
            self.mend()
        time.sleep(PAUSE * 3)

    def may_end(self):
        if self.db is None or self.db.closed:
            return False
        self.mend()
        return True


class Pruner(Member):
    """Removes what has been over for so long that nobody sends it again, and erases contents."""
    def step(self):
        for (removed,) in self.ask("SELECT clutch.prune(clutch.now() - interval '15 s', %s)", self.random.choice([20, 200, 2000])):
            if removed:
                self.told('pruned', removed)
        if self.chance(0.3):
            for seq, _ in self.ask('''SELECT e.seq, clutch.redact(e.seq, 'chaos') FROM (SELECT seq FROM clutch.events
                    WHERE type IN ('task.request', 'task.result', 'task.error', 'task.progress', 'chat.message') AND run_id LIKE 'run:p%%'
                      AND NOT envelope -> 'payload' ? 'redacted' AND clutch.now() - received_at > interval '5 s'
                    ORDER BY md5(seq::text || %s) LIMIT 3) e''', str(self.random.random())):
                self.told('redacted', seq)
        time.sleep(10 * PAUSE)


class Watcher(Member):
    """Whether a moment is to be seen in which an agent has more than it may."""
    def step(self):
        for row in self.ask('''SELECT r.agent_id, count(*), (r.card #>> '{limits,max_concurrency}')::int
                FROM clutch.task t JOIN clutch.agent_registry r USING (agent_id)
                WHERE t.status IN ('assigned', 'running') GROUP BY 1, 3
                HAVING count(*) > (r.card #>> '{limits,max_concurrency}')::int'''):
            self.fault('above its limit', *row)
        self.told('looked')
        time.sleep(PAUSE)


if __name__ == '__main__':
    ROLES = {'producer': Producer, 'agent': Agent, 'subscriber': Subscriber, 'reader': Reader,
             'ticker': Ticker, 'foreman': Foreman, 'pruner': Pruner, 'watcher': Watcher}
    ROLES[sys.argv[1]](*sys.argv[1:]).run()
