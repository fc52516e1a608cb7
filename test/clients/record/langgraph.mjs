// LangGraph: a graph with a model, a tool, a subgraph and a question, and what its streams say,
// here and from a LangGraph Server, whose client asks it without a socket between them.
// No model is asked: this one says what it is told to.
import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch';
import { tool } from '@langchain/core/tools';
import { Annotation, Command, END, MemorySaver, MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createEmbedServer } from '@langchain/langgraph-api/experimental/embed';
import { Client } from '@langchain/langgraph-sdk';
import { webcrypto } from 'node:crypto';
import { z } from 'zod';
import { Recording } from './recorder.mjs';

globalThis.crypto ??= webcrypto;	// nodejs 18
const recording = new Recording('langgraph', { depth: 3 });
const usage_metadata = { input_tokens: 12, output_tokens: 7, total_tokens: 19 };

class Model extends BaseChatModel {
  _llmType() { return 'told'; }
  _say(messages) {
    return messages.some(m => m.getType() === 'tool') ?
      { content: 'PostgreSQL it is.', usage_metadata } :
      { content: '', usage_metadata, tool_calls: [{ name: 'search', args: { q: 'pg' }, id: 'call_1', type: 'tool_call' }] };
  }
  async _generate(messages) {
    const message = new AIMessage(this._say(messages));
    return { generations: [{ text: message.content, message }] };
  }
  async *_streamResponseChunks(messages, options, manager) {
    const { content, tool_calls, ...rest } = this._say(messages);
    const pieces = tool_calls ? [{ content: '', tool_call_chunks: tool_calls.map(({ name, args, id }, index) => ({ name, args: JSON.stringify(args), id, index, type: 'tool_call_chunk' })) }] :
      content.match(/\S+\s*/g).map(piece => ({ content: piece }));
    for (const [i, piece] of pieces.entries()) {
      const message = new AIMessageChunk({ ...piece, ...(i === pieces.length - 1 && rest) });
      yield new ChatGenerationChunk({ text: piece.content, message });
      await manager?.handleLLMNewToken(piece.content, undefined, undefined, undefined, undefined, { chunk: new ChatGenerationChunk({ text: piece.content, message }) });
    }
  }
}

const search = tool(async ({ q }) => {
  if (q === 'nothing') throw new Error('nothing found');
  return `found ${q}`;
}, { name: 'search', description: 'Searches', schema: z.object({ q: z.string() }) });

const model = new Model({});
const State = Annotation.Root({ ...MessagesAnnotation.spec, verdict: Annotation(), path: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) });

const inner = new StateGraph(State)
  .addNode('polish', async (state, config) => { config.writer?.({ polished: 1 }); return { path: ['polish'] }; })
  .addEdge(START, 'polish').addEdge('polish', END).compile();

const graph = new StateGraph(State)
  .addNode('plan', async state => ({ messages: [await model.invoke(state.messages)], path: ['plan'] }))
  .addNode('tools', new ToolNode([search]))
  .addNode('approve', async (state, config) => {
    config.writer?.('halfway');
    await dispatchCustomEvent('halfway', { percent: 50 }, config);
    return { verdict: interrupt({ question: 'Approve?', choices: ['yes', 'no'] }), path: ['approve'] };
  })
  .addNode('inner', inner)
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', ({ messages }) => messages.at(-1).tool_calls?.length ? 'tools' : 'approve', ['tools', 'approve'])
  .addEdge('tools', 'plan').addEdge('approve', 'inner').addEdge('inner', END)
  .compile({ checkpointer: new MemorySaver(), name: 'planner' });


// the same without a model, for the modes that show the state over and over
const small = answer => new StateGraph(State)
  .addNode('draft', async (state, config) => { config.writer?.({ drafted: 1 }); return { path: ['draft'] }; })
  .addNode('approve', answer)
  .addNode('inner', inner)
  .addEdge(START, 'draft').addEdge('draft', 'approve').addEdge('approve', 'inner').addEdge('inner', END)
  .compile({ checkpointer: new MemorySaver(), name: 'drafter' });
const drafts = small(async () => ({ verdict: interrupt('Approve?'), path: ['approve'] }));
const failing = small(async () => { throw new Error('no plan'); });

const input = () => ({ messages: [new HumanMessage({ content: 'Which database?', id: 'h-1' })] });
let threads = 0;
const thread = () => ({ configurable: { thread_id: `t-${++threads}` } });
// In one process a checkpoint of a subgraph names the saver itself, with all that it has saved;
// that of a server does not.
const pure = chunk => !JSON.stringify(chunk).includes('__pregel_checkpointer');
const all = async (what, stream, note = chunk => pure(chunk) && recording.note(what, chunk)) => { for await (const chunk of await stream) note(chunk); };

// up to the question, and then the answer
async function played(what, play) {
  const config = thread();
  await recording.during(what, () => play(what, input(), config), 5);
  await recording.during(`${what}, resumed`, () => play(`${what}, resumed`, new Command({ resume: 'yes' }), config), 5);
}

await played('stream events', (what, given, config) => all(what, graph.streamEvents(given, { ...config, version: 'v2' })));
await played('two modes', (what, given, config) => all(what, graph.stream(given, { ...config, streamMode: ['updates', 'messages'] })));
await played('mode messages', (what, given, config) => all(what, graph.stream(given, { ...config, streamMode: 'messages' })));
await played('all modes', (what, given, config) => all(what, drafts.stream(given, { ...config, subgraphs: true,
  streamMode: ['values', 'updates', 'messages', 'custom', 'debug', 'tasks', 'checkpoints'] })));
for (const mode of ['debug', 'tasks'])
  await recording.during(`mode ${mode}`, () => all(`mode ${mode}`, drafts.stream(input(), { ...thread(), streamMode: mode })), 5);
// of the mode updates, only an interrupt can be told from any other object
await played('mode updates', (what, given, config) => all(what, drafts.stream(given, { ...config, streamMode: 'updates' }),
  chunk => { if (chunk.__interrupt__) recording.note(what, chunk); }));

for (const [what, options] of Object.entries({ 'all modes': { streamMode: ['updates', 'debug', 'tasks'] }, 'mode tasks': { streamMode: 'tasks' } }))
  await recording.during(`${what}, failing`, () => all(`${what}, failing`, failing.stream(input(), { ...thread(), ...options })), 5);
await recording.during('stream events, failing', () => all('stream events, failing', failing.streamEvents(input(), { ...thread(), version: 'v2' })), 5);

// a tool that fails, alone and in a node
await recording.during('a tool that fails', () => all('a tool that fails', search.streamEvents({ q: 'nothing' }, { version: 'v2' })), 5);
await recording.during('messages', async () => {
  const { messages } = await graph.invoke(input(), thread());
  const failed = await new ToolNode([search]).invoke([new AIMessage({ content: '', tool_calls: [{ name: 'search', args: { q: 'nothing' }, id: 'call_2', type: 'tool_call' }] })]);
  [new SystemMessage({ content: 'Be brief.', id: 's-1' }), ...messages, ...failed].forEach(message => recording.note('a message', message));
}, 5);

// ------------------------------------------------------------ LangGraph Server
const saved = new Map();
const server = createEmbedServer({
  graph: { planner: graph, drafter: drafts, failing }, checkpointer: new MemorySaver(),
  threads: {
    get: async id => saved.get(id),
    set: async (id, { metadata }) => saved.set(id, { thread_id: id, metadata: { ...saved.get(id)?.metadata, ...metadata } }).get(id),
    delete: async id => { saved.delete(id); },
  },
});
let asking = '';
const client = new Client({ apiUrl: 'http://127.0.0.1:4000', callerOptions: { maxRetries: 0, fetch: async (url, init) => {
  if (String(url).endsWith('/runs/stream')) recording.note(`server: ${asking}, a request`, init.body);
  return server.fetch(new Request(url, init));
} } });
async function served(what, assistant, options, resume) {
  const { thread_id } = await client.threads.create();
  for (const [suffix, given] of [['', { input: { messages: [{ type: 'human', content: 'Which database?', id: 'h-1' }] } }], [', resumed', { command: { resume: 'yes' } }]]) {
    asking = what + suffix;
    await recording.during(asking, async () => {
      for await (const { id, event, data } of client.runs.stream(thread_id, assistant, { ...given, ...options, metadata: { user: 'ada' } }))
        recording.note(`server: ${asking}`, { ...(id && { id }), event, data });
    }, 5);
    if (!resume) break;
  }
}
await served('messages', 'planner', { streamMode: ['messages', 'updates'] }, true);
await served('tuples', 'planner', { streamMode: ['messages-tuple', 'custom'] });
await served('subgraphs', 'drafter', { streamMode: ['values', 'updates', 'debug', 'custom'], streamSubgraphs: true }, true);
await served('events', 'drafter', { streamMode: ['events'] });
await served('an error', 'failing', { streamMode: ['updates'] });
recording.print();
process.exit(0);
