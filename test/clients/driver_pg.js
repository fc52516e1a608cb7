// node-postgres: parameters are text without a type, objects become JSON, and a bigint comes as a string.
// driver_pg.js [pooled]: behind pgbouncer it does not listen, and names no statement.
const { Client } = require('pg');
const { isDeepStrictEqual: same, inspect } = require('util');

const AGENT = 'agent:clerk';
const CARD = { v: 'clutch/0.1', agent_id: AGENT, capabilities: [{ id: 'skill:orders', version: '1.0.0' }],
               limits: { max_concurrency: 4 } };
const PAYLOAD = { order: 4711, text: 'it\'s "quoted" \\ and ümlauted {} $1 ?', list: [1, 2.5, null, { a: [] }] };
const db = new Client();
const pooled = process.argv[2] === 'pooled';
let number = 0, failed = 0, heard = () => {};

function check(what, got, wanted = true) {
  const good = same(got, wanted);
  if (!good) failed++;
  console.log(`${good ? '' : 'not '}ok ${++number} - ${what}`);
  if (!good) console.log(`# wanted ${inspect(wanted)}\n# got    ${inspect(got)}`);
}

const call = async (sql, ...values) => (await db.query(sql, values)).rows;

async function fault(sql, ...values) {
  try {
    await call(sql, ...values);
  } catch (error) {
    // PostgreSQL's own errors may have a detail as well, which is plain text
    return [error.code, error.code.startsWith('KL') ? JSON.parse(error.detail)[0].code : undefined];
  }
  return ['no error'];
}

async function ask(task_id) {
  await call("SELECT seq FROM clutch.send(clutch.envelope('task.request', 'agent:shop', payload => $1, requires => $2, task_id => $3))",
             PAYLOAD, ['skill:orders'], task_id);
  return task_id;
}

// form passes documents: as they are, or as text; the named statement is prepared
async function story(form, document) {
  const it = (what, ...values) => check(`${form}: ${what}`, ...values);
  const [card] = await call('SELECT seq, late FROM clutch.register($1)', document(CARD));
  it('register', [typeof card.seq, card.late], ['string', false]);
  const message = { v: 'clutch/0.1', id: 'msg_' + form, ts: '2026-02-01T13:20:11.123Z', thread_id: 'thread:1',
                    run_id: 'run:' + form, task_id: form, from: { agent_id: 'agent:shop' }, to: [{ agent_id: AGENT }],
                    type: 'chat.message', payload: PAYLOAD };
  it('send', await call('SELECT id, duplicate FROM clutch.send($1)', document(message)), [{ id: message.id, duplicate: false }]);
  it('an INSERT of the same event', await call('INSERT INTO clutch.events (envelope) VALUES ($1) RETURNING seq', document(message)), []);
  it('an invalid envelope', await fault('SELECT clutch.send($1)', document({ ...message, id: 'x', type: 'nothing' })),
     ['KL001', 'UNKNOWN_TYPE']);

  const hint = new Promise(done => { heard = done; });
  if (!pooled) await call("SELECT clutch.listen('agent', $1)", AGENT);
  const task_id = await ask(form + '-first');
  if (!pooled) it('listen', typeof await hint, 'object');
  const claim = "SELECT task_id, attempt, lease_until, envelope FROM clutch.claim($1, $2, $3)";
  const [task] = await call(claim, AGENT, 1, '30 s');
  it('claim', [task.task_id, task.attempt, task.lease_until instanceof Date], [task_id, 1, true]);
  it('the payload comes as it was sent', task.envelope.payload, PAYLOAD);
  it('progress', await call('SELECT late FROM clutch.progress($1, $2, $3, $4)', AGENT, task_id, document({ percent: 50 }), task.attempt),
     [{ late: false }]);
  it('extend_lease', await call("SELECT state FROM clutch.extend_lease($1, $2, $3, $4 * interval '1 s')", AGENT, task_id, task.attempt, 60),
     [{ state: 'held' }]);
  const { rows } = await db.query({ name: pooled ? undefined : 'finish-' + form, text: 'SELECT late FROM clutch.finish($1, $2, $3, $4)',
                                    values: [AGENT, task_id, document(PAYLOAD), task.attempt] });
  it(pooled ? 'finish' : 'finish, in a named statement', rows, [{ late: false }]);
  it('result', await call('SELECT status, payload FROM clutch.result($1)', task_id), [{ status: 'completed', payload: PAYLOAD }]);
  it('a second, other result is late', await call('SELECT late FROM clutch.finish($1, $2, $3, $4)', AGENT, task_id, document({}), 1),
     [{ late: true }]);

  const other = await ask(form + '-second');
  await call(claim, AGENT, 1, '30 s');
  await call('SELECT clutch.release($1, $2, $3, $4)', AGENT, other, 1, 'the worker stops');
  const [again] = await call(claim, AGENT, 1, '30 s');
  it('release: the next claim has the next attempt', again.attempt, 2);
  it('extend_lease of the attempt before', await call('SELECT state FROM clutch.extend_lease($1, $2, $3)', AGENT, other, 1), [{ state: 'lost' }]);
  await call('SELECT clutch.fail($1, $2, $3, $4, $5, $6, $7)', AGENT, other, 'BROKEN', "it's broken", false, document({ why: 'a test' }), 2);
  const [end] = await call('SELECT status, payload FROM clutch.result($1)', other);
  it('fail', [end.status, end.payload.code], ['failed', 'BROKEN']);

  const name = 'clients:' + form;
  await call("SELECT clutch.subscribe($1, $2, 'beginning')", name, document({ agent: 'agent:shop' }));
  const events = await call('SELECT pos, type, envelope FROM clutch.read($1, $2)', name, 1000);
  it('read', events.some(e => e.type === 'task.result' && e.envelope.type === e.type));
  await call('SELECT clutch.commit($1, $2)', name, events[events.length - 1].pos);
  it('commit: the next read goes on after it', await call('SELECT pos FROM clutch.read($1)', name), []);
}

async function main() {
  await db.connect();
  db.on('notification', message => heard(message));
  await story('an object', value => value);
  await story('JSON.stringify()', value => JSON.stringify(value));

  // An array becomes an array of PostgreSQL: right for send_batch, wrong for a document.
  check('an array of objects reaches send_batch', await fault('SELECT clutch.send_batch($1)', [{ v: 'clutch/0.1' }, {}]), ['KL001', 'REQUIRED']);
  await ask('array');
  await call('SELECT task_id FROM clutch.claim($1)', AGENT);
  check('an array is not a document', (await fault('SELECT clutch.finish($1, $2, $3, $4)', AGENT, 'array', [1, 2], 1))[0], '22P02');
  check('JSON.stringify() of an array is one, but a payload is an object',
        await fault('SELECT clutch.finish($1, $2, $3, $4)', AGENT, 'array', JSON.stringify([1, 2]), 1), ['KL001', 'WRONG_TYPE']);
  await db.end();
}

main().catch(error => { console.log(`not ok ${++number} - ${error.stack}`); failed++; }).finally(() => {
  console.log(`1..${number}`);
  process.exit(failed ? 1 : 0);
});
