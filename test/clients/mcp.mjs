// A host of the Model Context Protocol, by its SDK: a call of a skill becomes a task, and what becomes
// of the task is the answer.  Between the two there is only what a gateway has to do.
import { createRequire } from 'node:module';
import { webcrypto } from 'node:crypto';
import { isDeepStrictEqual as same, inspect } from 'node:util';

globalThis.crypto ??= webcrypto;	// nodejs 18
const require = createRequire(import.meta.url);	// which obeys NODE_PATH
const { Client: Database } = require('pg');
const { Client: Host } = require('@modelcontextprotocol/client');

const db = new Database();
let number = 0, failed = 0;

function check(what, got, wanted = true) {
  const good = same(got, wanted);
  if (!good) failed++;
  console.log(`${good ? '' : 'not '}ok ${++number} - ${what}`);
  if (!good) console.log(`# wanted ${inspect(wanted, { depth: 9 })}\n# got    ${inspect(got, { depth: 9 })}`);
}
const rows = async (sql, ...values) => (await db.query(sql, values)).rows;

// Each frame of the host is handed to the database in the name of the agent that the host
// speaks for.  The handshake is the gateway's own; an answer is sent when there is one.
class Gateway {
  sent = [];
  async start() {}
  async close() { this.onclose?.(); }
  async send(frame) {
    this.sent.push(frame);
    if (frame.method === 'initialize')
      return this.onmessage({ jsonrpc: '2.0', id: frame.id, result: { protocolVersion: frame.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'clutch', version: '0' } } });
    if (frame.method === 'notifications/initialized') return;
    await this.take(frame);
    await this.answer();
  }
  open = new Map();
  async take(frame) {
    const receipts = await rows("SELECT * FROM clutch.ingest($1, 'mcp', $2)", frame, { session: 'host-1', agent_id: 'agent:shop' });
    if (frame.method === 'tools/call') this.open.set(receipts.at(-1).task_id, frame.id);
    return receipts;
  }
  async answer() {
    for (const task_id of this.open.keys()) {
      const [{ reply }] = await rows('SELECT clutch.reply($1) AS reply', task_id);
      if (!reply) continue;
      this.open.delete(task_id);
      this.onmessage(reply);
    }
  }
}

async function main() {
  await db.connect();
  await rows('SELECT clutch.register($1)', { v: 'clutch/0.1', agent_id: 'agent:clerk', capabilities: [{ id: 'skill:orders' }], limits: { max_concurrency: 4 } });
  const gateway = new Gateway(), host = new Host({ name: 'desk', version: '1.0.0' });
  await host.connect(gateway);
  check('the host is connected', gateway.sent.map(frame => frame.method), ['initialize', 'notifications/initialized']);

  // calls a skill, and lets the clerk do what it is asked
  async function call(args, work, options) {
    const result = host.callTool({ name: 'skill.orders', arguments: args }, options).catch(error => ({ error: error.message }));
    for (let i = 0; i < 3000 && gateway.open.size === 0; i++) await new Promise(done => setTimeout(done, 20));
    const [task] = await rows("SELECT * FROM clutch.claim('agent:clerk')");
    await work(task);
    await gateway.answer();
    return [await result, task];
  }
  const [sum, task] = await call({ order: 7, text: 'it\'s "quoted"' }, t => rows('SELECT clutch.finish($1, $2, $3, $4)', 'agent:clerk', t.task_id, { paid: 12.5, lines: [1, null] }, t.attempt));
  check('the arguments are the payload of the request', task.envelope.payload, { order: 7, text: 'it\'s "quoted"' });
  check('the result of the task is what the host gets', [sum.isError ?? false, sum.structuredContent], [false, { paid: 12.5, lines: [1, null] }]);
  check('and what it can show', JSON.parse(sum.content[0].text), { paid: 12.5, lines: [1, null] });

  const [fault] = await call({ order: 8 }, t => rows('SELECT clutch.fail($1, $2, $3, $4, $5, NULL, $6)', 'agent:clerk', t.task_id, 'BROKEN', 'no ink', false, t.attempt));
  check('a task that fails is an error of the tool', [fault.isError, fault.content[0].text], [true, 'no ink']);

  const stop = new AbortController();
  const [ended, late] = await call({ order: 9 }, async () => { stop.abort('never mind'); await new Promise(done => setTimeout(done, 100)); }, { signal: stop.signal });
  check('the host gives up', /never mind/.test(ended.error));
  check('and so the task is cancelled', (await rows('SELECT status::text FROM clutch.tasks WHERE task_id = $1', late.task_id))[0], { status: 'cancelled' });

  const again = await gateway.take(gateway.sent.find(frame => frame.method === 'tools/call'));
  check('a call that is sent again is the same task', [again.at(-1).duplicate, again.at(-1).task_id], [true, task.task_id]);
  await host.close();
  await db.end();
}

main().catch(error => { console.log(`not ok ${++number} - ${error.stack}\n# ${error.detail ?? ''} ${error.hint ?? ''}`); failed++; }).finally(() => {
  console.log(`1..${number}`);
  process.exit(failed ? 1 : 0);
});
