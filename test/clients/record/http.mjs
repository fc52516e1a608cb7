// CloudEvents in every mode, by the SDK of CloudEvents, and the requests that Standard
// Webhooks signs.  A request is recorded as its headers and its body, but for structured
// events, whose body is all there is to them.
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { Recording } from './recorder.mjs';

const recording = new Recording('http', { random: false });
const TIME = '2026-01-31T12:00:00.000Z';

const order = new CloudEvent({
  id: 'evt-1', source: 'https://shop.example/orders', type: 'com.example.order.paid', time: TIME, subject: 'order-7',
  dataschema: 'https://shop.example/schemas/order', datacontenttype: 'application/json',
  data: { order: 7, total: 12.5, lines: [{ sku: 'a', n: 2 }], note: null },
  region: 'eu', traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
});
const words = new CloudEvent({ id: 'evt-2', source: '/sensors/tn-1', type: 'temperature', time: TIME, data: [20.1, 21] });
const text = new CloudEvent({ id: 'evt-3', source: 'urn:mail:1', type: 'note', time: TIME, datacontenttype: 'text/plain', data: 'Grüße, € 5' });
const bytes = new CloudEvent({ id: 'evt-4', source: '/cameras/1', type: 'image', time: TIME, datacontenttype: 'image/png', data: new Uint8Array([137, 80, 78, 71]) });
const empty = new CloudEvent({ id: 'evt-5', source: '/pings', type: 'ping', time: TIME });

for (const [name, event] of Object.entries({ order, words, text, bytes, empty })) {
  recording.step++;
  recording.note(`structured, ${name}`, HTTP.structured(event).body);
  const { headers, body } = HTTP.binary(event);
  // on the wire JSON is a text; a receiver that knows the content type has parsed it
  const json = /json/.test(headers['content-type'] ?? 'json');
  if (name !== 'bytes')
    recording.note(`binary, ${name}`, { headers, ...(body === undefined ? {} : { body: json ? JSON.parse(body) : String(body) }) });
}
recording.step++;
recording.note('a batch', [order, words, bytes].map(event => event.toJSON()));

// the secret is the example of the specification
const webhook = new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
const when = new Date(TIME);
for (const [name, body] of Object.entries({
  'contact.created': { type: 'contact.created', timestamp: TIME, data: { id: '1f81eb52', name: 'Ada' } },
  'a body of its own': { event: 'paid', order: 7 },
})) {
  recording.step++;
  const id = `msg_${recording.step}`, payload = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': String(when.getTime() / 1000),
                    'webhook-signature': webhook.sign(id, when, payload) };
  recording.note(`webhook, ${name}`, { headers, body });
  if (name === 'contact.created') recording.note('the body of a webhook', body);
}
recording.print();
