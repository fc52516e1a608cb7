// A graph of LangGraph works on tasks: what its streams say is handed to clutch.ingest, its
// question is answered in SQL, and it goes on with the document that the answer becomes.  Once
// with stream events, once with stream modes.  No model is asked: this one says what it is told to.
import { createRequire } from 'node:module';
import { webcrypto } from 'node:crypto';
import { isDeepStrictEqual as same, inspect } from 'node:util';

globalThis.crypto ??= webcrypto;	// nodejs 18
const require = createRequire(import.meta.url);	// which obeys NODE_PATH
const { Client } = require('pg');
const { AIMessage, HumanMessage } = require('@langchain/core/messages');
const { BaseChatModel } = require('@langchain/core/language_models/chat_models');
const { tool } = require('@langchain/core/tools');
const { Annotation, Command, END, MemorySaver, MessagesAnnotation, START, StateGraph, interrupt } = require('@langchain/langgraph');
const { ToolNode } = require('@langchain/langgraph/prebuilt');
const { z } = require('zod');

// --------------------------------------------------------------------- the graph

const SPENT = { input_tokens: 12, output_tokens: 7, total_tokens: 19 };

class Model extends BaseChatModel {
  _llmType() { return 'told'; }
  async _generate(messages) {
    const found = messages.find(m => m.getType() === 'tool');
    const message = new AIMessage({ usage_metadata: SPENT, ...(found ? { content: `Buy ${found.content}.` } :
      { content: '', tool_calls: [{ name: 'search', args: { q: 'database' }, id: 'call_1', type: 'tool_call' }] }) });
    return { generations: [{ text: message.content, message }] };
  }
}
const model = new Model({});
const search = tool(async ({ q }) => `the best ${q}`, { name: 'search', description: 'Searches', schema: z.object({ q: z.string() }) });

const State = Annotation.Root({ ...MessagesAnnotation.spec, goal: Annotation(), verdict: Annotation() });
const order = new StateGraph(State)
  .addNode('pay', async ({ verdict }, config) => { config.writer?.({ paid: verdict.amount }); return {}; })
  .addEdge(START, 'pay').addEdge('pay', END).compile();
const graph = new StateGraph(State)
  .addNode('plan', async ({ goal, messages }) => ({ messages: [await model.invoke([new HumanMessage(goal), ...messages])] }))
  .addNode('tools', new ToolNode([search]))
  .addNode('approve', async ({ messages }) => ({ verdict: interrupt({ question: messages.at(-1).content, choices: ['yes', 'no'] }) }))
  .addNode('order', order)
  .addEdge(START, 'plan').addEdge('tools', 'plan').addEdge('approve', 'order').addEdge('order', END)
  .addConditionalEdges('plan', ({ messages }) => messages.at(-1).tool_calls?.length ? 'tools' : 'approve', ['tools', 'approve'])
  .compile({ checkpointer: new MemorySaver(), name: 'graph' });

// ------------------------------------------------------------------- both stories

const CARD = { v: 'clutch/0.1', agent_id: 'agent:graph', capabilities: [{ id: 'skill:buy' }, { id: 'tool:search' }], limits: { max_concurrency: 8 } };
const db = new Client(), user = new Client();
let number = 0, failed = 0, seq = 0;

function check(what, got, wanted = true) {
  const good = same(got, wanted);
  if (!good) failed++;
  console.log(`${good ? '' : 'not '}ok ${++number} - ${what}`);
  if (!good) console.log(`# wanted ${inspect(wanted, { depth: 9 })}\n# got    ${inspect(got, { depth: 9 })}`);
}
const rows = async (client, sql, ...values) => (await client.query(sql, values)).rows;
const one = async (client, sql, ...values) => Object.values((await rows(client, sql, ...values))[0] ?? {})[0];

// What a receiver of streams does: it says for which task the graph works, numbers what
// comes, and reports what the model has cost.
async function tell(task, stream, spent) {
  let interrupted = false;
  for await (const chunk of await stream) {
    await rows(db, "SELECT * FROM clutch.ingest($1, 'langgraph', $2)", JSON.stringify(chunk), { agent_id: 'agent:graph', task_id: task.task_id, seq: ++seq, interrupted });
    // the end of the run will not say that it has asked
    interrupted ||= JSON.stringify(chunk).includes('"__interrupt__"');
    const usage = spent(chunk);
    if (usage) await rows(db, 'SELECT seq FROM clutch.progress($1, $2, $3, $4, $5)', 'agent:graph', task.task_id, { model: 'told' }, task.attempt,
      { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens });
  }
}

async function story(name, play, spent, finish) {
  const id = `buy:${name}`, it = (what, ...values) => check(`${name}: ${what}`, ...values);
  await rows(user, "SELECT clutch.send(clutch.envelope('task.request', 'agent:shop', '{agent:graph}', payload => $1, task_id => $2, run_id => $3, thread_id => $4))",
    { goal: 'Which database?' }, id, `run:${name}`, `thread:${name}`);
  let [task] = await rows(db, "SELECT * FROM clutch.claim('agent:graph')");
  it('the task is claimed', [task.task_id, task.attempt], [id, 1]);
  const run = await one(db, "SELECT clutch.outbound($1, 'langgraph')", task.envelope);
  it('it becomes a request for a run', [run.assistant_id, run.input, run.config.configurable.thread_id], ['graph', { goal: 'Which database?' }, `thread:${name}`]);

  // until the question
  const config = { ...run.config, metadata: run.metadata };
  await tell(task, play(run.input, config), spent);
  it('the graph asks, and so the task waits', (await rows(user, 'SELECT status::text FROM clutch.tasks WHERE task_id = $1', id))[0], { status: 'input_required' });
  const [asked] = await rows(user, 'SELECT agent_id, question FROM clutch.approvals WHERE task_id = $1', id);
  it('an operator of the shop sees what is asked', [asked?.agent_id, asked?.question.interrupts?.[0].value],
    ['agent:graph', { question: 'Buy the best database.', choices: ['yes', 'no'] }]);
  it('the thread of the graph knows nothing of an answer yet', (await graph.getState(config)).next, ['approve']);

  // the answer, in SQL
  it('the answer counts', await rows(user, "SELECT late FROM clutch.answer($1, $2, 'agent:shop')", id, { approved: true, amount: 12.5 }), [{ late: false }]);
  [task] = await rows(db, "SELECT * FROM clutch.claim('agent:graph')");
  it('and the task goes on', [task?.task_id, task?.attempt, task?.reason, task?.answer], [id, 2, 'resumed', { approved: true, amount: 12.5 }]);
  const resume = await one(db, `SELECT clutch.outbound(envelope, 'langgraph') FROM clutch.events WHERE task_id = $1 AND envelope #> '{meta,clutch,answer_to}' IS NOT NULL`, id);
  it('it becomes a command for the graph', resume?.command, { resume: { approved: true, amount: 12.5 } });
  await tell(task, play(new Command(resume.command), config), spent);
  const { values, next } = await graph.getState(config);
  it('with which the graph comes to its end', [next, values.verdict], [[], { approved: true, amount: 12.5 }]);
  await finish?.(task, values);

  // what the database knows then
  const [result] = await rows(user, 'SELECT status::text, payload FROM clutch.result($1)', id);
  it('the task is completed', result?.status, 'completed');
  it('and its result is the state of the graph', (result?.payload.output ?? result?.payload).verdict, { approved: true, amount: 12.5 });
  // the name of a node is that in the document, which the log gives back
  it('each node was a task below it', await rows(user, `WITH node AS (
      SELECT DISTINCT t.task_id, t.parent_task_id, t.status::text, coalesce(d ->> 'name', d -> 2 ->> 'name') AS name
      FROM clutch.tasks t JOIN clutch.events e ON e.task_id = t.task_id AND e.run_id = t.run_id AND e.type = 'task.accept', clutch.outbound(e.envelope, 'langgraph') AS d
      WHERE t.run_id = $1 AND t.task_id <> $2)
    SELECT n.name, coalesce(p.name, nullif(n.parent_task_id, $2)) AS below, n.status, count(*)::int
    FROM node n LEFT JOIN node p ON p.task_id = n.parent_task_id WHERE n.name <> '__start__' GROUP BY 1, 2, 3 ORDER BY 1`, `run:${name}`, id), [
    ['approve', null, 1], ['order', null, 1], ['pay', 'order', 1], ['plan', null, 2], ['tools', null, 1],
  ].map(([name, below, count]) => ({ name, below, status: 'completed', count })));
  it('the call of the tool has its result', await rows(user, `SELECT c.envelope #>> '{payload,tool}' AS tool, c.envelope #> '{payload,args}' AS args, r.envelope #>> '{payload,content}' AS content
    FROM clutch.events r JOIN clutch.events c ON c.run_id = r.run_id AND c.id = r.envelope #>> '{meta,clutch,reply_to}'
    WHERE r.run_id = $1 AND r.type = 'tool.result' AND c.type = 'tool.call'`, `run:${name}`), [{ tool: 'tool:search', args: { q: 'database' }, content: 'the best database' }]);
  it('the costs are those of two answers of the model', await rows(user, 'SELECT agent_id, tokens FROM clutch.costs WHERE run_id = $1', `run:${name}`), [{ agent_id: 'agent:graph', tokens: '38' }]);
  it('who did what', await rows(user, 'SELECT from_agent, array_agg(DISTINCT type::text ORDER BY type::text) AS types FROM clutch.events WHERE run_id = $1 GROUP BY 1 ORDER BY 1', `run:${name}`), [
    { from_agent: 'agent:graph', types: ['chat.message', 'task.accept', 'task.progress', 'task.request', 'task.result', 'tool.call', 'tool.result'] },
    { from_agent: 'agent:orchestrator', types: ['routing.decision', 'task.progress'] },
    { from_agent: 'agent:shop', types: ['chat.message', 'task.request'] }]);
  it('nothing of it is left open', await rows(user, `SELECT task_id FROM clutch.tasks WHERE run_id = $1 AND status::text <> 'completed'`, `run:${name}`), []);
}

async function main() {
  await Promise.all([db.connect(), user.connect()]);
  await rows(db, 'SELECT clutch.register($1)', CARD);
  await story('events', (input, config) => graph.streamEvents(input, { ...config, version: 'v2' }),
    event => event.event === 'on_chat_model_end' && event.data.output.usage_metadata);
  await story('modes', (input, config) => graph.stream(input, { ...config, subgraphs: true, streamMode: ['tasks', 'messages', 'custom', 'updates'] }),
    ([, mode, data]) => mode === 'messages' && data[0].usage_metadata,
    (task, values) => rows(db, 'SELECT seq FROM clutch.finish($1, $2, $3, $4)', 'agent:graph', task.task_id, { verdict: values.verdict }, task.attempt));
  await Promise.all([db.end(), user.end()]);
}

main().catch(error => { console.log(`not ok ${++number} - ${error.stack}\n# ${error.detail ?? ''} ${error.hint ?? ''}`); failed++; }).finally(() => {
  console.log(`1..${number}`);
  process.exit(failed ? 1 : 0);
});
