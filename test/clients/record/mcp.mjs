// MCP: a client and a server of the SDK of 2025-11-25 in one process, and those of
// 2026-07-28, whose requests are handed to the server without a socket between them.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import * as legacy from '@modelcontextprotocol/sdk/types.js';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer as ModernServer, createMcpHandler, inputRequired, acceptedContent } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Recording } from './recorder.mjs';

const recording = new Recording('mcp');
const PIXEL = 'iVBORw0KGgo=';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const year = { type: 'object', properties: { year: { type: 'integer', title: 'Year', minimum: 1900 } }, required: ['year'] };

// the tools that the servers of both eras have
function tools(server) {
  server.registerTool('skill.research', { title: 'Research', description: 'Looks something up', inputSchema: z.object({ q: z.string(), depth: z.number().optional() }),
    annotations: { readOnlyHint: true } }, async ({ q }) => ({ content: [{ type: 'text', text: `Found ${q}.` }] }));
  server.registerTool('weather', { description: 'What the weather is like', inputSchema: z.object({ city: z.string() }),
    outputSchema: z.object({ celsius: z.number(), where: z.string() }) }, async ({ city }) => {
    const structuredContent = { celsius: 4.5, where: city };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });
  server.registerTool('blocks', { inputSchema: z.object({}) }, async () => ({ content: [
    { type: 'text', text: 'A picture:', annotations: { audience: ['user'], priority: 0.5 } },
    { type: 'image', data: PIXEL, mimeType: 'image/png' }, { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'https://a.example/r.csv', name: 'r.csv', mimeType: 'text/csv' },
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'a' } },
    { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'AAE=' } }] }));
  server.registerTool('broken', { inputSchema: z.object({}) }, async () => { throw new Error('disk full'); });
  server.registerTool('refuses', { inputSchema: z.object({}) }, async () => ({ isError: true, content: [{ type: 'text', text: 'Not today.' }, { type: 'image', data: PIXEL, mimeType: 'image/png' }] }));
}

// ------------------------------------------------------------------ 2025-11-25

async function old() {
  const [here, there] = InMemoryTransport.createLinkedPair();
  for (const [transport, what] of [[here, 'client'], [there, 'server']]) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => { recording.note(`2025-11-25 ${what}`, message); return send(message, options); };
  }
  const taskStore = new InMemoryTaskStore();
  const server = new McpServer({ name: 'files', title: 'Files', version: '1.0.0' }, {
    instructions: 'Read before you write.', taskStore,
    capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, completions: {},
                    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  });
  tools(server);
  server.registerTool('slow', { inputSchema: z.object({ steps: z.number() }) }, async ({ steps }, extra) => {
    for (let i = 1; i <= steps; i++)
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: extra._meta.progressToken, progress: i, total: steps, message: `step ${i}` } });
    return { content: [] };
  });
  server.registerTool('ask', {}, async () => {
    const answer = await server.server.elicitInput({ message: 'Which year?', requestedSchema: year });
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  });
  server.registerTool('login', {}, async () => {
    const answer = await server.server.elicitInput({ mode: 'url', message: 'Log in', url: 'https://a.example/login', elicitationId: 'e-1' });
    await server.server.createElicitationCompletionNotifier('e-1')();
    return { content: [{ type: 'text', text: answer.action }] };
  });
  server.registerTool('think', {}, async () => {
    const said = await server.server.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: 'Say hm' } }], systemPrompt: 'Be brief.',
      maxTokens: 100, temperature: 0.5, modelPreferences: { hints: [{ name: 'm-1' }], speedPriority: 1 } });
    return { content: [said.content].flat() };
  });
  server.registerTool('roots', {}, async () => ({ content: [{ type: 'text', text: String((await server.server.listRoots()).roots.length) }] }));
  server.registerTool('never', {}, (_, extra) => new Promise(done => extra.signal.addEventListener('abort', () => done({ content: [] }))));
  server.experimental.tasks.registerToolTask('later', { inputSchema: { fails: z.boolean().optional() }, execution: { taskSupport: 'required' } }, {
    async createTask({ fails }, { taskStore, taskRequestedTtl }) {
      const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? null, pollInterval: 20 });
      setTimeout(() => taskStore.storeTaskResult(task.taskId, fails ? 'failed' : 'completed',
        { content: [{ type: 'text', text: fails ? 'disk full' : 'done' }], ...(fails && { isError: true }) }).catch(() => {}), 30);   // cancelled
      return { task };
    },
    getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
    getTaskResult: (_, { taskId, taskStore }) => taskStore.getTaskResult(taskId),
  });
  server.registerResource('readme', 'file:///readme.md', { mimeType: 'text/markdown', description: 'Read it' }, async uri => ({ contents: [{ uri: uri.href, text: '# Read' }] }));
  server.registerResource('page', new ResourceTemplate('file:///{page}.md', { list: undefined }), {}, async uri => ({ contents: [{ uri: uri.href, blob: 'AAE=' }] }));
  server.registerPrompt('review', { description: 'Reviews', argsSchema: { language: completable(z.string(), value => ['sql', 'c'].filter(l => l.startsWith(value))) } },
    ({ language }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Review this ${language}` } }] }));

  const client = new Client({ name: 'desk', version: '2.0.0' }, { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } } });
  client.setRequestHandler(legacy.ElicitRequestSchema, ({ params }) => params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { year: 2026 } });
  client.setRequestHandler(legacy.CreateMessageRequestSchema, () => ({ role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'm-1', stopReason: 'endTurn' }));
  client.setRequestHandler(legacy.ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] }));

  const call = (name, args, ...rest) => recording.during(name, () => client.callTool({ name, arguments: args }, undefined, ...rest));
  await recording.during('initialize', async () => { await server.connect(there); await client.connect(here); });
  await recording.during('ping', () => client.ping());
  await recording.during('tools/list', () => client.listTools());
  await call('skill.research', { q: 'postgres', depth: 2.5 });
  await recording.during('with _meta', () => client.callTool({ name: 'skill.research', arguments: { q: 'x' }, _meta: { progressToken: 'msg_1', traceparent: TRACE } }));
  await call('weather', { city: 'Oslo' });
  await call('blocks', {});
  await call('broken', {});
  await call('refuses', {});
  await call('unknown', {});
  await call('weather', { city: 7 });
  await call('slow', { steps: 2 }, { onprogress: () => {} });
  await call('ask');
  await call('login');
  await call('think');
  await call('roots');
  const stop = new AbortController();
  await recording.during('cancelled', () => { setTimeout(() => stop.abort('The user went home'), 20); return client.callTool({ name: 'never' }, undefined, { signal: stop.signal }); });
  for (const fails of [false, true])
    await recording.during('a task', async () => { for await (const _ of client.experimental.tasks.callToolStream({ name: 'later', arguments: { fails } }, undefined, { task: { ttl: 60000 } })); });
  await recording.during('tasks', async () => {
    const { tasks } = await client.experimental.tasks.listTasks();
    await client.experimental.tasks.getTask(tasks[0].taskId);
  });
  await recording.during('a task to be cancelled', async () => {
    for await (const { type, task } of client.experimental.tasks.callToolStream({ name: 'later' }, undefined, { task: { ttl: 60000 } }))
      if (type === 'taskCreated') { await client.experimental.tasks.cancelTask(task.taskId); break; }
  });
  await recording.during('tasks/get of none', () => client.experimental.tasks.getTask('none'));
  await recording.during('resources', async () => {
    await client.listResources();
    await client.listResourceTemplates();
    await client.readResource({ uri: 'file:///readme.md' });
    await client.readResource({ uri: 'file:///a.md' });
    await client.readResource({ uri: 'http://nowhere' });
  });
  await recording.during('prompts', async () => {
    await client.listPrompts();
    await client.getPrompt({ name: 'review', arguments: { language: 'sql' } });
    await client.complete({ ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'language', value: 's' } });
  });
  await recording.during('logging', async () => {
    await client.setLoggingLevel('info');
    await server.sendLoggingMessage({ level: 'warning', logger: 'disk', data: { free: 0 } });
  });
  await recording.during('changes', async () => {
    server.sendToolListChanged();
    await server.server.sendResourceUpdated({ uri: 'file:///readme.md' });
    await client.sendRootsListChanged();
  });
  await recording.during('a method that the server does not have', () => client.request({ method: 'roots/list' }, legacy.EmptyResultSchema));
  await client.close();
}

// ------------------------------------------------------------------ 2026-07-28

async function modern() {
  const handler = createMcpHandler(() => {
    const server = new ModernServer({ name: 'files', version: '2.0.0' }, { instructions: 'Read before you write.', capabilities: { tools: { listChanged: true }, resources: {} } });
    tools(server);
    server.registerTool('ask', { inputSchema: z.object({}) }, async (_, context) => {
      const answer = acceptedContent(context.mcpReq.inputResponses, 'which');
      return answer ? { content: [{ type: 'text', text: `It was ${answer.year}.` }] } :
        inputRequired({ requestState: 'state-1', inputRequests: { which: inputRequired.elicit({ message: 'Which year?', requestedSchema: year }) } });
    });
    server.registerTool('slow', { inputSchema: z.object({}) }, async (_, context) => {
      await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken: context.mcpReq._meta.progressToken, progress: 1, total: 2, message: 'half' } });
      return { content: [] };
    });
    server.registerResource('readme', 'file:///readme.md', {}, async uri => ({ contents: [{ uri: uri.href, text: '# Read' }] }));
    return server;
  });
  const wire = async (url, init) => {
    recording.note('2026-07-28 client', init.body);
    const response = await handler.fetch(new Request(url, init));
    if (response.body !== null) {
      const [copy, rest] = response.body.tee();
      const stream = response.headers.get('content-type')?.includes('event-stream');
      new Response(copy).text().then(text => (stream ? text.split('\n').filter(l => l.startsWith('data:')).map(l => l.slice(5)) : [text])
        .forEach(t => recording.note('2026-07-28 server', t)));
      return new Response(rest, response);
    }
    return response;
  };
  const client = new ModernClient({ name: 'desk', version: '3.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { year: 2026 } }));
  const call = (name, args, options) => recording.during(name, () => client.callTool({ name, arguments: args }, options));
  await recording.during('connect', () => client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1:4000/mcp'), { fetch: wire })));
  await recording.during('tools/list', () => client.listTools());
  await call('skill.research', { q: 'postgres' });
  await call('weather', { city: 'Oslo' });
  await call('blocks', {});
  await call('broken', {});
  await call('refuses', {});
  await call('unknown', {});
  await call('ask', {});
  await call('slow', {}, { onprogress: () => {} });
  await recording.during('resources', async () => { await client.listResources(); await client.readResource({ uri: 'file:///readme.md' }); await client.readResource({ uri: 'file:///no' }); });
  await recording.during('a version that there is not', () => wire('http://127.0.0.1:4000/mcp', { method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2031-01-01', 'mcp-method': 'tools/list' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/list', params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2031-01-01', 'io.modelcontextprotocol/clientCapabilities': {} } } }) }));
  await client.close();
}

await old();
await modern();
recording.print();
process.exit(0);
