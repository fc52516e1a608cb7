// The Multi-Agent Protocol: clients and agents of the SDK, and its TestServer, in one
// process.  Of the frames, those are recorded that are messages.
import { AgentConnection, ClientConnection, createStreamPair } from '@multi-agent-protocol/sdk';
import { TestServer } from '@multi-agent-protocol/sdk/testing';
import { Recording } from './recorder.mjs';

const recording = new Recording('map');
const MESSAGES = new Set(['map/send', 'map/message']);
const server = new TestServer({ name: 'west' });

// the side of a client, whose frames are noted in both directions
function stream() {
  const [client, theirs] = createStreamPair();
  server.acceptConnection(theirs);
  const note = what => new TransformStream({
    transform(frame, controller) {
      if (MESSAGES.has(frame.method)) recording.note(what, frame);
      // what a subscriber is told of a message contains it
      if (frame.method === 'map/event' && frame.params.event?.data?.message) recording.note('a message in an event', frame.params.event.data.message);
      controller.enqueue(frame);
    },
  });
  const sent = note('a client sends');
  sent.readable.pipeTo(client.writable).catch(() => {});
  return { readable: client.readable.pipeThrough(note('the server sends')), writable: sent.writable };
}

const client = new ClientConnection(stream(), { name: 'desk' });
const lead = new AgentConnection(stream(), { name: 'lead', role: 'planner', capabilities: { messaging: { canSend: true }, lifecycle: { canSpawn: true } },
  visibility: 'public', metadata: { team: 'west' } });
const ken = new AgentConnection(stream(), { name: 'ken', role: 'worker' });

await recording.during('connect', async () => { await client.connect(); await lead.connect({ agentId: 'lead' }); await ken.connect({ agentId: 'ken' }); });
const child = await recording.during('spawn', () => lead.spawn({ agentId: 'lois', name: 'lois', role: 'worker' }));
const scope = await recording.during('scope', async () => {
  const made = await lead.createScope({ scopeId: 'pricing', name: 'pricing' });
  await lead.joinScope(made.id);
  await ken.joinScope(made.id);
  await client.subscribe({});
  return made;
});
const heard = [];
ken.onMessage(message => { heard.push(message); });
const go = (what, action) => recording.during(what, action);

await go('to an agent', () => client.sendToAgent('ken', { goal: 'compare prices', limit: 12.5 }, { expectsResponse: true, correlationId: 'c-1', priority: 'high' }));
await go('reply', () => ken.reply(heard[0], { best: 'b.example', list: [1, null] }));
await go('reply with an error', () => ken.reply(heard[0], { code: 2001, message: 'no such agent', retryable: false }));
await go('text', () => client.sendToAgent('ken', 'go'));
await go('nothing', () => client.sendToAgent('ken'));
await go('as a string', () => client.send('ken', { text: 'hi' }));
await go('to several', () => client.send({ agents: ['ken', 'lead'] }, { text: 'hi' }, { delivery: 'guaranteed', ttlMs: 60000, relationship: 'peer' }));
await go('to a scope', () => lead.sendToScope(scope.id, { text: 'hi' }, { priority: 'low' }));
await go('to a role', () => client.sendToRole('worker', { text: 'hi' }));
await go('to a role in a scope', () => client.sendToRole('worker', { text: 'hi' }, {}, scope.id));
await go('to everybody', () => client.broadcast({ text: 'hi' }, { priority: 'urgent' }));
await go('to the children', () => lead.sendToChildren({ text: 'hi' }));
await go('to the parent', () => lead.sendToParent({ text: 'hi' }));
await go('to the siblings', () => ken.sendToSiblings({ text: 'hi' }));
for (const to of [{ ancestors: true }, { descendants: true, depth: 2 }, { system: true }, { participant: 'participant-1' }, { participants: 'agents' }, { system: 'east', agent: 'ken' }])
  await go(JSON.stringify(to), () => lead.send(to, { text: 'hi' }));
await go('request', async () => {
  ken.onMessage(message => { if (message.payload?.ask) ken.reply(message, { year: 2026 }); });
  await client.request({ agent: 'ken' }, { ask: 'Which year?' }, { timeout: 300 });
});
recording.print();
process.exit(0);
