// What describes agents: AgentCards of A2A as its SDKs serve them, tools as MCP's list them,
// and what agents of the Multi-Agent Protocol are registered with.  The adapter of a line is
// the dialect that clutch.card_of takes.
import express from 'express';
import * as express10 from '@a2a-js/sdk/server/express';
import * as express03 from 'a2a-0.3/server/express';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { AgentConnection, createStreamPair } from '@multi-agent-protocol/sdk';
import { TestServer } from '@multi-agent-protocol/sdk/testing';
import { z } from 'zod';
import { Recording } from './recorder.mjs';

const recordings = Object.fromEntries(['a2a', 'mcp', 'map'].map(name => [name, new Recording(name)]));

// ------------------------------------------------------------------------- A2A
const skill = { id: 'parse-recipe', name: 'Parse', description: 'Reads a recipe', tags: ['recipe', 'food'], examples: ['Read this'], inputModes: ['text/plain'], outputModes: ['application/json'] };
const about = { name: 'Recipe Agent', description: 'Reads recipes', version: '1.2.0', defaultInputModes: ['text/plain'], defaultOutputModes: ['application/json'],
                documentationUrl: 'https://a.example/docs', iconUrl: 'https://a.example/i.png', provider: { organization: 'A', url: 'https://a.example' } };
const card03 = { ...about, protocolVersion: '0.3.0', url: 'https://a.example/rpc', preferredTransport: 'JSONRPC', skills: [skill], supportsAuthenticatedExtendedCard: false,
  additionalInterfaces: [{ url: 'https://a.example/rest', transport: 'HTTP+JSON' }], capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }, security: [{ bearer: [] }] };
const face = (url, protocolBinding) => ({ url, protocolBinding, protocolVersion: '1.0', tenant: '' });
const card10 = { ...about, supportedInterfaces: [face('https://a.example/rpc', 'JSONRPC'), face('https://a.example/rest', 'HTTP+JSON')],
  skills: [{ ...skill, securityRequirements: [] }], capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: 'https://a.example/ext', description: 'more', required: false, params: { a: 1 } }] },
  securitySchemes: { bearer: { scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer', description: '', bearerFormat: '' } } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }], signatures: [] };
for (const [version, { agentCardHandler }, card] of [['1.0', express10, card10], ['0.3', express03, card03]]) {
  const app = express().use('/card', agentCardHandler({ agentCardProvider: { getAgentCard: async () => card } }));
  const server = app.listen(0, '127.0.0.1');
  await new Promise(done => server.on('listening', done));
  const response = await fetch(`http://127.0.0.1:${server.address().port}/card`, { headers: { 'A2A-Version': version } });
  recordings.a2a.note(`a card of ${version}`, await response.text());
  server.close();
}

// ------------------------------------------------------------------------- MCP
const [here, there] = InMemoryTransport.createLinkedPair();
const send = there.send.bind(there);
there.send = (message, options) => {
  if (message.result?.tools) { recordings.mcp.note('the response to tools/list', message); recordings.mcp.note('its result', message.result); }
  return send(message, options);
};
const files = new McpServer({ name: 'files', version: '1.0.0' });
files.registerTool('read_file', { title: 'Read', description: 'Reads a file', inputSchema: z.object({ path: z.string(), lines: z.number().optional() }),
  outputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true, openWorldHint: false } }, async () => ({ content: [], structuredContent: { text: '' } }));
files.registerTool('list', {}, async () => ({ content: [] }));
const client = new Client({ name: 'desk', version: '1.0.0' });
await files.connect(there);
await client.connect(here);
await client.listTools();

// ------------------------------------------------------------------------- MAP
const system = new TestServer({ name: 'west' });
function stream() {
  const [client, theirs] = createStreamPair();
  system.acceptConnection(theirs);
  const sent = new TransformStream({
    transform(frame, controller) {
      if (frame.method === 'map/agents/register' || frame.method === 'map/agents/spawn') {
        recordings.map.note(`params of ${frame.method}`, frame.params);
        recordings.map.note(frame.method, frame);
      }
      controller.enqueue(frame);
    },
  });
  sent.readable.pipeTo(client.writable).catch(() => {});
  return { readable: client.readable, writable: sent.writable };
}
const lead = new AgentConnection(stream(), { name: 'lead', role: 'planner', visibility: 'public', metadata: { team: 'west' },
  capabilities: { messaging: { canSend: true }, lifecycle: { canSpawn: true } } });
await lead.connect({ agentId: 'lead' });
await new AgentConnection(stream(), { name: 'ken' }).connect();
await lead.spawn({ agentId: 'lois', name: 'lois', role: 'worker' });

for (const recording of Object.values(recordings)) recording.print();
process.exit(0);
