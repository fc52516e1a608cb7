// A2A: servers and clients of the SDKs for 1.0 and for 0.3, in JSON-RPC and in REST, over
// loopback, with streams and push notifications.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import * as sdk from '@a2a-js/sdk';
import * as client10 from '@a2a-js/sdk/client';
import * as server10 from '@a2a-js/sdk/server';
import * as express10 from '@a2a-js/sdk/server/express';
import * as client03 from 'a2a-0.3/client';
import * as server03 from 'a2a-0.3/server';
import * as express03 from 'a2a-0.3/server/express';
import { Recording } from './recorder.mjs';

const recording = new Recording('a2a', { depth: 5 });
const now = () => new Date().toISOString();
const pause = ms => new Promise(done => setTimeout(done, ms));
const listening = server => new Promise(done => server.on('listening', () => done(`http://127.0.0.1:${server.address().port}`)));

// a fetch that notes what is sent and what comes back, each event of a stream by itself
const noting = (what, headers = {}) => async (url, init = {}) => {
  recording.note(`${what} client`, init.body);
  const response = await fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } });
  const events = response.headers.get('content-type')?.includes('event-stream');
  response.clone().text().then(text => (events ? text.split('\n').filter(l => l.startsWith('data:')).map(l => l.slice(5)) : [text])
    .forEach(t => recording.note(`${what} server${events ? ', a stream' : ''}`, t))).catch(() => {});
  return response;
};

let version;
const hook = createServer((request, response) => {
  let body = '';
  request.on('data', part => { body += part; }).on('end', () => { recording.note(`${version} push notification`, body); response.end('{}'); });
}).listen(0, '127.0.0.1');
const HOOK = await listening(hook);

// What the agent does depends on the first text of the message.  `say` publishes for one
// version; the story is that of both.
async function story(text, isNew, say) {
  if (text === 'hello') return say.message('Hello');
  if (isNew) say.task();
  say.status('working', 'Working');
  if (text === 'ask' && isNew) return say.status('input-required', 'Which year?', true);
  if (text === 'login') return say.status('auth-required', 'Log in first', true);
  if (text === 'refuse') return say.status('rejected', 'Not today', true);
  if (text === 'fail') return say.status('failed', 'disk full', true);
  if (text === 'wait') { await pause(400); return say.status('canceled', undefined, true); }
  say.artifact('whole', false, false);
  say.artifact('rest', true, true);
  return say.status('completed', undefined, true);
}

// ------------------------------------------------------------------------- 0.3

const old = {
  say: (bus, { taskId, contextId, userMessage }) => ({
    message: text => bus.publish({ kind: 'message', messageId: randomUUID(), role: 'agent', parts: [{ kind: 'text', text }], contextId }),
    task: () => bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'submitted', timestamp: now() }, history: [userMessage], metadata: userMessage.metadata }),
    status: (state, text, final = false) => bus.publish({ kind: 'status-update', taskId, contextId, final, status: { state, timestamp: now(),
      ...(text && { message: { kind: 'message', role: 'agent', messageId: randomUUID(), parts: [{ kind: 'text', text }], taskId, contextId } }) } }),
    artifact: (part, append, lastChunk) => bus.publish({ kind: 'artifact-update', taskId, contextId, append, lastChunk, artifact: part === 'rest' ?
      { artifactId: 'report', parts: [{ kind: 'text', text: 'two' }] } :
      { artifactId: 'report', name: 'r.txt', description: 'A report', parts: [{ kind: 'text', text: 'one ' }, { kind: 'data', data: { n: 1 } },
        { kind: 'file', file: { uri: 'https://a.example/r.pdf', name: 'r.pdf', mimeType: 'application/pdf' } }] } }),
  }),
  executor: {
    async execute(context, bus) {
      await story(context.userMessage.parts[0].text, !context.task, old.say(bus, context));
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      bus.publish({ kind: 'status-update', taskId, contextId: 'x', status: { state: 'canceled', timestamp: now() }, final: true });
      bus.finished();
    },
  },
  message: (text, more = {}) => ({
    message: { kind: 'message', messageId: randomUUID(), role: 'user', metadata: { tier: 1, traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }, ...more,
      parts: [{ kind: 'text', text }, ...(text === 'all' ? [{ kind: 'data', data: { limit: 12.5, note: null } },
        { kind: 'file', file: { bytes: 'aGk=', name: 'a.txt', mimeType: 'text/plain' } }, { kind: 'file', file: { uri: 'https://a.example/b.pdf' } }] : [])] },
    configuration: { blocking: text !== 'wait', acceptedOutputModes: ['text/plain'], pushNotificationConfig: { url: HOOK, token: 'tok-1' } },
  }),
};

async function record03() {
  version = '0.3';
  const app = express(), listener = app.listen(0, '127.0.0.1'), at = await listening(listener);
  const card = { name: 'H', description: 'd', protocolVersion: '0.3.0', version: '1', url: `${at}/rpc`, skills: [], capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text'], defaultOutputModes: ['text'], additionalInterfaces: [{ url: `${at}/rpc`, transport: 'JSONRPC' }, { url: `${at}/rest`, transport: 'HTTP+JSON' }] };
  const requestHandler = new server03.DefaultRequestHandler(card, new server03.InMemoryTaskStore(), old.executor);
  const userBuilder = express03.UserBuilder.noAuthentication;
  app.use('/rpc', express03.jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', express03.restHandler({ requestHandler, userBuilder }));
  for (const [binding, transport] of [
    ['JSON-RPC', new client03.JsonRpcTransport({ endpoint: `${at}/rpc`, fetchImpl: noting('0.3 JSON-RPC') })],
    ['REST', new client03.RestTransport({ endpoint: `${at}/rest`, fetchImpl: noting('0.3 REST') })],
  ]) {
    const done = await conversation(`0.3 ${binding}`, transport, old.message, { id: 'none' });
    const go = (what, action) => recording.during(`0.3 ${binding}: ${what}`, action);
    await go('push config set', () => transport.setTaskPushNotificationConfig({ taskId: done.id, pushNotificationConfig: { id: 'c-1', url: HOOK } }));
    await go('push config get', () => transport.getTaskPushNotificationConfig({ id: done.id, pushNotificationConfigId: 'c-1' }));
    await go('push config list', () => transport.listTaskPushNotificationConfig({ id: done.id }));
    await go('push config delete', () => transport.deleteTaskPushNotificationConfig({ id: done.id, pushNotificationConfigId: 'c-1' }));
    await go('extended card', () => transport.getExtendedAgentCard());
  }
  listener.close();
}

// ------------------------------------------------------------------------- 1.0

const part = ($case, value, more = {}) => ({ content: { $case, value }, metadata: undefined, filename: '', mediaType: '', ...more });
const message = (role, parts, more = {}) => ({ messageId: randomUUID(), contextId: '', taskId: '', role, parts, metadata: undefined, extensions: [], referenceTaskIds: [], ...more });
const STATE = word => sdk.TaskState[`TASK_STATE_${word.toUpperCase().replace('-', '_')}`];

const young = {
  say: (bus, { taskId, contextId, userMessage }) => ({
    message: text => bus.publish(server10.AgentEvent.message(message(sdk.Role.ROLE_AGENT, [part('text', text)], { contextId }))),
    task: () => bus.publish(server10.AgentEvent.task({ id: taskId, contextId, status: { state: STATE('submitted'), timestamp: now(), message: undefined },
      history: [userMessage], artifacts: [], metadata: userMessage.metadata })),
    status: (state, text) => bus.publish(server10.AgentEvent.statusUpdate({ taskId, contextId, metadata: undefined, status: { state: STATE(state), timestamp: now(),
      message: text && message(sdk.Role.ROLE_AGENT, [part('text', text)], { taskId, contextId }) } })),
    artifact: (which, append, lastChunk) => bus.publish(server10.AgentEvent.artifactUpdate({ taskId, contextId, append, lastChunk, metadata: undefined, artifact:
      { artifactId: 'report', name: 'r.txt', description: 'A report', metadata: undefined, extensions: [], parts: which === 'rest' ? [part('text', 'two')] :
        [part('text', 'one '), part('data', { n: 1 }), part('url', 'https://a.example/r.pdf', { filename: 'r.pdf', mediaType: 'application/pdf' })] } })),
  }),
  executor: {
    async execute(context, bus) {
      // a message to a task that is there is answered by the task first
      if (context.task) bus.publish(server10.AgentEvent.task(context.task));
      await story(context.userMessage.parts[0].content.value, !context.task, young.say(bus, context));
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      bus.publish(server10.AgentEvent.statusUpdate({ taskId, contextId: 'x', metadata: undefined, status: { state: STATE('canceled'), timestamp: now(), message: undefined } }));
      bus.finished();
    },
  },
  message: (text, more = {}) => ({
    tenant: '', metadata: undefined,
    message: message(sdk.Role.ROLE_USER, [part('text', text), ...(text === 'all' ? [part('data', { limit: 12.5, note: null }),
      part('raw', Buffer.from('hi'), { filename: 'a.txt', mediaType: 'text/plain' }), part('url', 'https://a.example/b.pdf')] : [])],
      { metadata: { tier: 1, traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }, ...more }),
    configuration: { acceptedOutputModes: ['text/plain'], historyLength: undefined, returnImmediately: text === 'wait',
      taskPushNotificationConfig: { tenant: '', id: '', taskId: '', url: HOOK, token: 'tok-1', authentication: undefined } },
  }),
};

async function record10() {
  version = '1.0';
  const app = express(), listener = app.listen(0, '127.0.0.1'), at = await listening(listener);
  const face = (url, protocolBinding) => ({ url: at + url, protocolBinding, protocolVersion: '1.0', tenant: '' });
  const card = { name: 'H', description: 'd', version: '1', supportedInterfaces: [face('/rpc', 'JSONRPC'), face('/rest', 'HTTP+JSON')], skills: [], signatures: [],
    capabilities: { streaming: true, pushNotifications: true, extensions: [] }, defaultInputModes: ['text'], defaultOutputModes: ['text'], securitySchemes: {},
    securityRequirements: [], provider: undefined, documentationUrl: '', iconUrl: '' };
  const requestHandler = new server10.DefaultRequestHandler(card, new server10.InMemoryTaskStore(), young.executor);
  const userBuilder = express10.UserBuilder.noAuthentication;
  app.use('/rpc', express10.jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', express10.restHandler({ requestHandler, userBuilder }));
  for (const [binding, Factory, path] of [['JSON-RPC', client10.JsonRpcTransportFactory, '/rpc'], ['REST', client10.RestTransportFactory, '/rest']]) {
    const transport = await new Factory({ fetchImpl: noting(`1.0 ${binding}`, { 'A2A-Version': '1.0' }) }).create(at + path, card, { tenant: '' });
    const done = await conversation(`1.0 ${binding}`, transport, young.message, { id: 'none', tenant: '' });
    const go = (what, action) => recording.during(`1.0 ${binding}: ${what}`, action);
    await go('list', () => transport.listTasks({ contextId: '', pageSize: 2, pageToken: '', tenant: '', status: 0 }));
    await go('push config create', () => transport.createTaskPushNotificationConfig({ taskId: done.id, id: 'c-1', url: HOOK, token: 'tok-1', tenant: '', authentication: undefined }));
    await go('push config get', () => transport.getTaskPushNotificationConfig({ taskId: done.id, id: 'c-1', tenant: '' }));
    await go('push config list', () => transport.listTaskPushNotificationConfig({ taskId: done.id, tenant: '', pageSize: 0, pageToken: '' }));
    await go('push config delete', () => transport.deleteTaskPushNotificationConfig({ taskId: done.id, id: 'c-1', tenant: '' }));
    await go('extended card', () => transport.getExtendedAgentCard({ tenant: '' }));
  }
  await recording.during('a version that there is not', () => noting('1.0 JSON-RPC', { 'A2A-Version': '9.9' })(`${at}/rpc`, { method: 'POST',
    headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'GetTask', params: { id: 'none' } }) }));
  listener.close();
}

// what both versions say; returns the task that was completed
async function conversation(who, transport, request, none) {
  const go = (what, action) => recording.during(`${who}: ${what}`, action);
  const send = (what, ...more) => go(what, () => transport.sendMessage(request(what, ...more)));
  await send('hello');
  const done = await send('all');
  for (const what of ['fail', 'refuse', 'login']) await send(what);
  await go('a stream', async () => { for await (const _ of transport.sendMessageStream(request('all'))); });
  await go('a stream of a message', async () => { for await (const _ of transport.sendMessageStream(request('hello'))); });
  const asked = await send('ask');
  await send('2026', { taskId: asked?.id, contextId: asked?.contextId });
  await go('get', () => transport.getTask({ ...none, id: done.id, historyLength: 5 }));
  await go('get none', () => transport.getTask(none));
  const first = await go('wait', async () => {
    const task = await transport.sendMessage(request('wait'));
    for await (const _ of transport.resubscribeTask({ ...none, id: task.id }));
    return task;
  });
  await go('cancel', async () => {
    const task = await transport.sendMessage(request('wait'));
    await transport.cancelTask({ ...none, id: task.id, metadata: { reason: 'late' } });
  });
  await go('cancel what is over', () => transport.cancelTask({ ...none, id: first?.id ?? done.id }));
  return done;
}

await record03();
await record10();
hook.close();
recording.print();
process.exit(0);
