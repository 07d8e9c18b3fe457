import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { openDesk } from './refund-desk.ts';
import type { Answered } from './world.ts';

/** What each call of the operator's desk answers about nothing, and about something: status and body together. */

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());
beforeEach(() => {
  desk.world.airline.script.before = {};
});

const told = ({ status, body }: Answered) => [status, body.code];

describe('404 refund_request_not_found, and nothing in the audit trail:', () => {
  test.each([
    ['GET /operator/refund-requests/{request_id}', '', undefined],
    ['POST /operator/refund-requests/{request_id}/claim', '/claim', {}],
    ['POST /operator/refund-requests/{request_id}/release', '/release', {}],
    ['POST /operator/refund-requests/{request_id}/note', '/note', { text: 'Called the airline.' }],
    ['POST /operator/refund-requests/{request_id}/approve', '/approve', {}],
    ['POST /operator/refund-requests/{request_id}/reject', '/reject', { reason: 'Past the deadline.' }],
  ])('%s', async (_call, act, body) => {
    const made = await desk.world.intent(`off_${act || 'show'}`);
    // Neither an unknown id, nor an intent without a request.
    for (const id of ['ref_none', made.intent_id]) {
      const answer = await desk.ask(`/refund-requests/${id}${act}`, body);
      expect(told(answer)).toEqual([404, 'refund_request_not_found']);
    }
    const trail = await desk.ask<{ entries: object[] }>('/audit');
    expect(JSON.stringify(trail.body.entries)).not.toMatch(new RegExp(`ref_none|${made.intent_id}`));
  });
});

describe('404 stuck_not_found:', () => {
  test.each([
    ['GET /operator/stuck/{id}', '', undefined],
    ['GET /operator/stuck/{id}/evidence', '/evidence', undefined],
    ['POST /operator/stuck/{id}/resolve', '/resolve', { decision: 'retry' }],
  ])('%s', async (_call, act, body) => {
    const made = await desk.world.intent(`off_stuck${act.length}`);
    for (const id of ['int_none', 'eff_none', made.intent_id]) {
      expect(told(await desk.ask(`/stuck/${id}${act}`, body))).toEqual([404, 'stuck_not_found']);
    }
  });
});

test('404 operator_key_not_found: POST /operator/keys/{key_id}/revoke, and no key is revoked', async () => {
  const before = (await desk.ask('/keys')).body;
  expect(told(await desk.ask('/keys/key_none/revoke', {}))).toEqual([404, 'operator_key_not_found']);
  const names = ({ keys }: { keys?: { key_id: string }[] }) => keys?.map(({ key_id }) => key_id);
  const after = (await desk.ask('/keys')).body;
  expect(names(after)).toEqual(names(before));
});

test('200: GET /operator/stuck lists what waits for a person, and nothing else', async () => {
  const { world, ask } = desk;
  const nothing = { bookings: [], effects: [], refund_requests: [], affiliate_payouts: [], partner_orders: [] };
  const empty = await ask('/stuck');
  expect([empty.status, empty.body]).toEqual([200, nothing]);
  await desk.requested();
  const silent = () => {
    throw problem('provider_failed');
  };
  world.airline.script.before = { createOrder: silent, findOrder: silent };
  const made = await world.intent('off_silent');
  await world.book(made);
  await world.work(3_600_000);
  const { status, body } = await ask('/stuck');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...nothing,
    bookings: [{ intent_id: made.intent_id, last_error: 'outcome_unknown' }],
    effects: expect.any(Array),
  });
});

test('200: GET /operator/switches shows each switch as it is', async () => {
  const read = async () => {
    const { status, body } = await desk.ask('/switches');
    return [status, body];
  };
  expect(await read()).toEqual([200, { booking: 'on', lowcost: 'on' }]);
  for (const turned of [{ lowcost: 'off' }, { booking: 'off' }, { lowcost: 'on' }, { booking: 'on' }]) {
    const { status, body } = await desk.ask('/switches', turned);
    expect([status, body]).toMatchObject([200, turned]);
    expect(await read()).toEqual([200, body]);
  }
});
