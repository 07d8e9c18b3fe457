import { expect, test } from 'vitest';
import { watchLoad } from '../../../../src/cli/commands/serve/load.ts';

const request = (path: string, headers: Record<string, string> = {}) => ({
  ...{ method: 'POST', url: `http://shop.test${path}`, headers, body: '' },
});

function loaded({ inFlight = 0, delayMs = 0 }) {
  const shed: string[] = [];
  const load = watchLoad({ most: 10, inFlight: () => inFlight, delayMs: () => delayMs, shed: (why) => shed.push(why) });
  return { load, shed };
}

test.each([
  ['too many requests are being answered', { inFlight: 11 }, 'requests'],
  ['the event loop is late', { delayMs: 101 }, 'event_loop'],
])('while %s, an unpaid request is asked to come again, and a paid one is answered', (_name, state, why) => {
  const { load, shed } = loaded(state);
  const refusal = load.refusal(request('/air/search'));
  expect(refusal).toMatchObject({
    status: 503,
    headers: { 'retry-after': expect.stringMatching(/^([2-9]|10)$/), 'x-request-id': expect.stringMatching(/^req_/) },
  });
  expect(JSON.parse(refusal?.body ?? '')).toMatchObject({
    code: 'not_ready',
    message: expect.stringContaining('The service is busy.'),
  });
  for (const header of ['payment-signature', 'x-api-key', 'authorization'])
    expect(load.refusal(request('/air/search', { [header]: 'x' })), header).toBeNull();
  for (const path of ['/health', '/ready', '/operator/switches', '/rpc', '/rpc/', '/webhooks/airline'])
    expect(load.refusal(request(path)), path).toBeNull();
  expect(shed).toEqual([why]);
});

test('within the bounds everything is answered', () => {
  const { load, shed } = loaded({ inFlight: 10, delayMs: 100 });
  expect(load.refusal(request('/air/search'))).toBeNull();
  expect(shed).toEqual([]);
});
