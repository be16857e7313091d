import autocannon from 'autocannon';
import { BODY, ID_PLACE, PATH } from './contenders.mjs';

let deliveries = 0;

function nextId() {
  return `whl_${String(deliveries++).padStart(ID_PLACE.length - 4, '0')}`;
}

/** Sends one delivery, and returns the answer's status and body. */
export async function sendOne({ port, headers }) {
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
    method: 'POST',
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === ID_PLACE ? nextId() : value]),
    ),
    body: BODY,
  });
  return { status: response.status, body: await response.text() };
}

/** Sends deliveries, each with a fresh id, as fast as the server answers them. */
export async function load({ port, headers }, { connections, seconds }) {
  const latencies = [];
  const startedAt = performance.now();
  const {
    '2xx': good,
    non2xx,
    errors,
    timeouts,
  } = await autocannon({
    url: `http://127.0.0.1:${port}${PATH}`,
    method: 'POST',
    headers,
    body: BODY,
    connections,
    duration: seconds,
    sampleInt: 100,
    // autocannon's own latencies are whole milliseconds.
    setupClient: (client) => renewIds(client, latencies),
  });
  return {
    handled: good,
    perSecond: good / ((performance.now() - startedAt) / 1000),
    p99: latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    bad: non2xx + errors + timeouts,
  };
}

/** Overwrites the id in the bytes of a request before it is sent again. Building each request from scratch is slower. */
function renewIds(client, latencies) {
  const bytes = client.getRequestBuffer();
  const at = bytes.indexOf(ID_PLACE);
  bytes.write(nextId(), at, 'latin1');
  client.on('response', (_status, _length, latency) => {
    latencies.push(latency);
    bytes.write(nextId(), at, 'latin1');
  });
}
