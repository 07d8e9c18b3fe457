import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOperatorKeys, ensureOperatorKeyFile } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import type { AuditTrail, CreatedIntent, RefundCase, RefundPlan, RefundQueue } from '../../src/wire/flights/index.ts';
import { type Answered, openWorld, type World } from './world.ts';

/** The operator's desk: who may sit at it, who has a case, and what an approval moves. */

const TICKET = 151_200_000n;
let world: World;
let ana: string;
let ben: string;
let offers = 0;

const keyPorts = () => ({
  store: world.store,
  secrets: world.secrets,
  clock: world.clock,
  ids: randomIds(world.clock.now),
});

beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  const keys = createOperatorKeys(keyPorts());
  const first = { keyId: 'key_0', name: 'first' };
  ana = (await keys.issue(first, 'ana', 'req_1')).key;
  ben = (await keys.issue(first, 'ben', 'req_1')).key;
  world.airline.script.cancelsTickets = true;
});
afterAll(() => world.close());

const desk = <T = Record<string, unknown>>(path: string, body?: object, key = ana): Promise<Answered<T>> =>
  world.call<T>(`/operator${path}`, body, { headers: { Authorization: `Bearer ${key}` } });

/** Acts on the case of an intent, newest first. */
async function acts({ intent_id: intentId }: CreatedIntent): Promise<string[]> {
  const { request_id: requestId } = (await desk<RefundCase>(`/refund-requests/${intentId}`)).body;
  const { entries } = (await desk<AuditTrail>(`/audit?subject=${requestId}`)).body;
  return entries.map(({ action }) => action).filter((action) => action !== 'refund.show');
}

interface Fare {
  readonly refund_allowed: boolean | null;
  readonly refund_penalty_amount: string | null;
}

/** A booked intent of a fare, with a refund request on it. */
async function requested(fare: Fare = { refund_allowed: true, refund_penalty_amount: '51.20' }) {
  world.airline.script.conditions = {
    change_allowed: null,
    change_penalty_amount: null,
    change_penalty_currency: null,
    ...fare,
    refund_penalty_currency: fare.refund_penalty_amount === null ? null : 'USD',
  };
  const made: CreatedIntent = await world.intent(`off_case_${offers++}`);
  await world.book(made);
  await world.work();
  const answer = await world.paid(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'I broke a leg.', contact: 'ada@elsewhere.example' },
    { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
  );
  expect(answer.status).toBe(202);
  return made;
}

describe('operator keys', () => {
  test('without one, with a wrong one and with a revoked one nothing is answered', async () => {
    const none = await world.call('/operator/refund-requests');
    expect([none.status, none.body.code]).toEqual([401, 'operator_key_required']);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect((await desk('/refund-requests', undefined, 'flk_op_guess')).body.code).toBe('operator_key_invalid');
    expect((await desk('/nowhere', undefined, 'flk_op_guess')).status).toBe(401);
    const issued = await desk<{ key: string; key_id: string }>('/keys', { name: 'cleo' });
    expect(issued.status).toBe(201);
    expect((await desk('/refund-requests', undefined, issued.body.key)).status).toBe(200);
    expect((await desk(`/keys/${issued.body.key_id}/revoke`, {})).status).toBe(200);
    expect((await desk('/refund-requests', undefined, issued.body.key)).status).toBe(401);
  });

  test('are listed a page at a time, oldest first, each once', async () => {
    for (let made = 0; made < 5; made++) await desk('/keys', { name: `page ${made}` });
    interface Page {
      keys: { key_id: string; name: string }[];
      next_cursor: string | null;
    }
    const all = (await desk<Page>('/keys')).body;
    expect(all.next_cursor).toBeNull();
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = (await desk<Page>(`/keys?limit=2${cursor && `&cursor=${cursor}`}`)).body;
      expect(page.keys.length).toBeLessThanOrEqual(2);
      seen.push(...page.keys.map((one) => one.key_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all.keys.map((one) => one.key_id));
    expect(new Set(seen).size).toBe(seen.length);
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'page=2', 'limit=1&limit=2']) {
      expect((await desk(`/keys?${query}`)).status).toBe(400);
    }
  });

  test('are kept hashed, and shown once', async () => {
    const rows = JSON.stringify(await world.store.selectFrom('api_keys').selectAll().execute());
    expect(rows).not.toContain(ana);
    const listed = await desk<{ keys: { name: string; last_used_at: string | null }[] }>('/keys');
    expect(JSON.stringify(listed.body)).not.toContain('flk_op_');
    expect(listed.body.keys.find((key) => key.name === 'ana')?.last_used_at).not.toBeNull();
  });

  test('the first one is in a private file, the same one every time, and the last one is not revoked', async () => {
    const home = mkdtempSync(join(tmpdir(), 'farelock-keys-'));
    const other = await openWorld({ airline: 'none' });
    try {
      const ports = { ...keyPorts(), store: other.store, secrets: other.secrets };
      const path = join(home, 'keys', 'operator.key');
      await Promise.all([ensureOperatorKeyFile(ports, path), ensureOperatorKeyFile(ports, path)]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const key = readFileSync(path, 'utf8').trim();
      expect(key).toMatch(/^flk_op_[\w-]{32}$/);
      const keys = createOperatorKeys(ports);
      const operator = await keys.authenticate(`Bearer ${key}`);
      await expect(keys.revoke(operator, operator.keyId, 'req_1')).rejects.toMatchObject({ code: 'operator_key_last' });
    } finally {
      await other.close();
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe('the queue and a case', () => {
  test('is paged by age, and holds what is not decided', async () => {
    const first = await requested();
    world.clock.advance(60_000);
    const second = await requested();
    const page = await desk<RefundQueue>('/refund-requests?limit=1');
    expect(page.body.refund_requests.map((one) => one.intent_id)).toEqual([first.intent_id]);
    const next = await desk<RefundQueue>(`/refund-requests?limit=1&cursor=${page.body.next_cursor}`);
    expect(next.body.refund_requests.map((one) => one.intent_id)).toEqual([second.intent_id]);
    expect(next.body.next_cursor).toBeNull();
    const byDay = await desk<RefundQueue>('/refund-requests?sort=journey&status=received');
    expect(byDay.body.refund_requests).toHaveLength(2);
    for (const query of ['status=old', 'limit=0', 'colour=red', 'limit=1&limit=2', 'cursor=x']) {
      expect((await desk(`/refund-requests?${query}`)).status, query).toBe(400);
    }
    expect((await desk('/refund-requests/ref_none')).body.code).toBe('refund_request_not_found');
    expect((await desk('/refund-requests', {})).headers.get('allow')).toBe('GET');
  });

  test('says how many wait and whose key asks, and finds text in references, routes and sealed words', async () => {
    const all = await desk<RefundQueue>('/refund-requests');
    const [one] = all.body.refund_requests;
    expect(all.body).toMatchObject({ total: all.body.refund_requests.length, operator: 'ana' });
    expect(one?.booking_reference).toMatch(/^[A-Z0-9]{5,}$/);
    const ids = async (search: string) =>
      (await desk<RefundQueue>(`/refund-requests?search=${encodeURIComponent(search)}`)).body.refund_requests.map(
        ({ request_id }) => request_id,
      );
    const everyId = all.body.refund_requests.map(({ request_id }) => request_id);
    expect(await ids(one?.booking_reference?.toLowerCase() ?? '')).toContain(one?.request_id);
    expect(await ids(one?.intent_id ?? '')).toEqual([one?.request_id]);
    expect(await ids(one?.route.replace('-', ' → ') ?? '')).toEqual(everyId);
    expect(await ids('BROKE a  leg')).toEqual(everyId);
    expect(await ids('no such words')).toEqual([]);
    const first = await desk<RefundQueue>('/refund-requests?search=leg&limit=1');
    expect(first.body).toMatchObject({ refund_requests: [{ request_id: everyId[0] }], total: null });
    const second = await desk<RefundQueue>(`/refund-requests?search=leg&limit=1&cursor=${first.body.next_cursor}`);
    expect(second.body.refund_requests.map(({ request_id }) => request_id)).toEqual([everyId[1]]);
    for (const query of ['search=', 'search=%20', `search=${'x'.repeat(101)}`])
      expect((await desk(`/refund-requests?${query}`)).status, query).toBe(400);
    // The words that were looked for may be personal: the trail has how many requests were opened.
    const { body } = await desk<AuditTrail>('/audit?subject=refund-requests&limit=500');
    expect(body.entries).toHaveLength(7);
    expect(body.entries[0]).toMatchObject({ action: 'refund.search', operator: 'ana', detail: { looked: 1 } });
    expect(JSON.stringify(body)).not.toMatch(/leg|words/);
  });

  test("shows the fare's rule, the penalty, the customer's words and the timeline, and that is audited", async () => {
    const made = await requested();
    const { body } = await desk<RefundCase>(`/refund-requests/${made.intent_id}`);
    expect(body).toMatchObject({
      status: 'received',
      captured_amount: Number(TICKET),
      reason: 'I broke a leg.',
      contact: 'ada@elsewhere.example',
      refund_rule: { kind: 'refundable', penalty_amount: 51_200_000, payout_amount: 100_000_000 },
    });
    expect(body.timeline.map((one) => one.event)).toEqual(
      expect.arrayContaining(['ticketed', 'captured', 'effect capture done', 'refund requested']),
    );
    const audit = await desk<{ entries: { action: string; operator: string; request_id: string }[] }>(
      `/audit?subject=${body.request_id}`,
    );
    expect(audit.body.entries).toMatchObject([{ action: 'refund.show', operator: 'ana' }]);
    expect(audit.body.entries[0]?.request_id).toMatch(/^req_/);
  });

  test('two operators who claim a case at once: one has it, the other hears who', async () => {
    const made = await requested();
    const path = `/refund-requests/${made.intent_id}`;
    const both = await Promise.all([ana, ben].map((key) => desk(`${path}/claim`, {}, key)));
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 409]);
    const lost = both.find((answer) => answer.status === 409);
    const winner = both[0]?.status === 200 ? 'ana' : 'ben';
    expect(lost?.body).toMatchObject({ code: 'case_already_claimed', detail: { claimed_by: winner } });
    const [own, other] = winner === 'ana' ? [ana, ben] : [ben, ana];
    expect((await desk(`${path}/claim`, {}, own)).status).toBe(200);
    expect((await desk(`${path}/approve`, {}, other)).body.code).toBe('case_already_claimed');
    expect((await desk(`${path}/reject`, { reason: 'no' }, other)).body.code).toBe('case_already_claimed');
    expect((await desk(`${path}/release`, {}, other)).body.code).toBe('case_already_claimed');
    expect((await desk(`${path}/release`, {}, own)).body.claimed_by).toBeNull();
    expect((await desk(`${path}/claim`, {}, other)).status).toBe(200);
    expect((await desk(`${path}/release`, { force: true }, own)).status).toBe(200);
    const before = await acts(made);
    const again = await desk(`${path}/release`, {}, own);
    expect([again.status, again.body.claimed_by, await acts(made)]).toEqual([200, null, before]);
  });

  test('notes are kept in order, sealed', async () => {
    const made = await requested();
    await desk(`/refund-requests/${made.intent_id}/note`, { text: 'Called the airline.' });
    const { body } = await desk<RefundCase>(`/refund-requests/${made.intent_id}/note`, { text: 'They agree.' }, ben);
    expect(body.notes.map((note) => [note.by, note.text])).toEqual([
      ['ana', 'Called the airline.'],
      ['ben', 'They agree.'],
    ]);
    const rows = JSON.stringify(await world.store.selectFrom('refund_notes').selectAll().execute());
    expect(rows).not.toMatch(/airline|agree/);
  });
});

describe('approval', () => {
  test('says first what will move and moves nothing; then moves exactly that, once, to the unit', async () => {
    const made = await requested();
    const before = await world.sums(made);
    const path = `/refund-requests/${made.intent_id}`;
    const plan = await desk<RefundPlan>(`${path}/approve`, { dry_run: true });
    expect(plan.body).toMatchObject({
      dry_run: true,
      captured_amount: 151_200_000,
      penalty_amount: 51_200_000,
      payout_amount: 100_000_000,
      refund_wallet: world.refundWallet.address,
    });
    expect(await world.sums(made)).toEqual(before);
    expect((await desk<RefundCase>(path)).body.status).toBe('received');

    const wrong = await desk(`${path}/approve`, { expected_payout_amount: 1 });
    expect([wrong.status, wrong.body.code]).toEqual([409, 'plan_changed']);
    const approved = await desk<RefundCase>(`${path}/approve`, { expected_payout_amount: 100_000_000 });
    expect(approved.body).toMatchObject({ status: 'refunded', decision: { by: 'ana', payout_amount: 100_000_000 } });
    const after = await world.sums(made);
    expect(after.refund - before.refund).toBe(100_000_000n);
    expect(before.treasury - after.treasury).toBe(100_000_000n);
    expect(after.total).toBe(before.total);

    const shown = await world.show(made);
    expect(shown).toMatchObject({ status: 'refunded', refund_reason: 'refund_request_approved' });
    expect(shown.refund_tx_hash).toBe(approved.body.payout_tx_hash);
    expect(shown.refunded_at).not.toBeNull();
    // The answer may have been lost: the same approval again shows what became of it.
    const again = await desk<RefundCase>(`${path}/approve`, {
      expected_payout_amount: approved.body.decision?.payout_amount,
    });
    expect([again.status, again.body.payout_tx_hash]).toEqual([200, approved.body.payout_tx_hash]);
    const other = await desk(`${path}/approve`, { payout_amount: 1, note: 'another amount' });
    expect([other.status, other.body.code]).toEqual([409, 'case_already_decided']);
    await world.work();
    expect(await world.sums(made)).toEqual(after);

    const mails = await world.store
      .selectFrom('outbox')
      .selectAll()
      .where('intent_id', '=', made.intent_id)
      .where('dedup_key', 'like', 'mail:refund_request_approved%')
      .execute();
    expect(mails).toHaveLength(1);
    // The mail names what was paid out and what was kept, and the transaction.
    const [mail] = mails;
    const { text } = JSON.parse(
      world.secrets.decrypt(`outbox.payload_sealed.${mail?.message_id}`, mail?.payload_sealed ?? ''),
    ) as { text: string };
    expect(text).toContain('100.00');
    expect(text).toContain('51.20');
    expect(text).not.toContain('151.20');
    expect(text).toContain(approved.body.payout_tx_hash);
    const audit = await desk<{ entries: { action: string; operator: string }[] }>(
      `/audit?subject=${approved.body.request_id}`,
    );
    expect(audit.body.entries.map((entry) => entry.action)).toEqual(
      expect.arrayContaining(['refund.claim', 'refund.approve', 'refund.paid_out']),
    );
    const order = await world.paid(`/air/orders/${shown.order_id}`, undefined, {
      headers: { 'X-Customer-Support-Code': made.customer_support_code },
    });
    expect(order.body).toMatchObject({ status: 'cancelled' });
  });

  test('of a non-refundable fare pays nothing unless the operator names an amount and a note', async () => {
    const made = await requested({ refund_allowed: false, refund_penalty_amount: null });
    const path = `/refund-requests/${made.intent_id}/approve`;
    expect((await desk<RefundPlan>(path, { dry_run: true })).body.payout_amount).toBe(0);
    expect((await desk(path, {})).body.code).toBe('payout_is_zero');
    expect((await desk(path, { payout_amount: 5_000_000 })).status).toBe(400);
    expect((await desk(path, { payout_amount: Number(TICKET) + 1, note: 'x' })).status).toBe(400);
    const before = await world.sums(made);
    const approved = await desk<RefundCase>(path, { payout_amount: Number(TICKET), note: 'Goodwill.' });
    expect(approved.body).toMatchObject({ status: 'refunded', decision: { words: 'Goodwill.' } });
    expect((await world.sums(made)).refund - before.refund).toBe(TICKET);
  });

  test('of an undisclosed rule needs an amount', async () => {
    const made = await requested({ refund_allowed: null, refund_penalty_amount: null });
    const path = `/refund-requests/${made.intent_id}/approve`;
    expect((await desk(path, {})).body.code).toBe('payout_undecided');
    expect((await desk<RefundCase>(path, { payout_amount: 1, note: 'Asked.' })).body.status).toBe('refunded');
  });

  test('pressed by two operators, and twice by one, at the same moment pays once', async () => {
    const made = await requested();
    const before = await world.sums(made);
    const path = `/operator/refund-requests/${made.intent_id}/approve`;
    await Promise.all(
      [ana, ben, ana].map((key) => world.service().call(path, {}, { headers: { Authorization: `Bearer ${key}` } })),
    );
    world.clock.advance(61_000);
    await world.work();
    expect((await world.sums(made)).refund - before.refund).toBe(100_000_000n);
    expect((await world.show(made)).status).toBe('refunded');
  });

  test('of two amounts at the same moment is of one: the other is told that the case is decided', async () => {
    const made = await requested();
    const before = await world.sums(made);
    const path = `/refund-requests/${made.intent_id}/approve`;
    const amounts = [60_000_000, 70_000_000];
    const answers = await Promise.all(
      amounts.map((amount) => desk<RefundCase>(path, { payout_amount: amount, note: 'Asked.' })),
    );
    const granted = answers.filter(({ status }) => status === 200);
    expect(granted).toHaveLength(1);
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.body]).toEqual([409, expect.objectContaining({ code: 'case_already_decided' })]);
    await world.work();
    const paid = (await world.sums(made)).refund - before.refund;
    expect(paid).toBe(BigInt(amounts[answers.findIndex(({ status }) => status === 200)] ?? 0));
    expect(granted[0]?.body.decision?.payout_amount).toBe(Number(paid));
  });

  test('waits while the airline does not cancel, pays nothing meanwhile, and ends stuck until it is resumed', async () => {
    const made = await requested();
    const before = await world.sums(made);
    world.airline.script.cancelsTickets = false;
    const path = `/refund-requests/${made.intent_id}`;
    const approved = await desk<RefundCase>(`${path}/approve`, {});
    expect(approved.body).toMatchObject({ status: 'approved', last_error: 'provider_failed' });
    await world.work(3_600_000);
    expect((await desk<RefundCase>(path)).body.status).toBe('stuck');
    expect(await world.sums(made)).toEqual(before);
    const stuck = await desk<{ refund_requests: unknown[] }>('/stuck');
    expect(stuck.body.refund_requests).toHaveLength(1);
    world.airline.script.cancelsTickets = true;
    expect((await desk<RefundCase>(`${path}/approve`, {})).body.status).toBe('refunded');
    expect((await world.sums(made)).refund - before.refund).toBe(100_000_000n);
  });

  test('that was given back still succeeds again; a decided case is neither claimed nor given back', async () => {
    const made = await requested();
    const path = `/refund-requests/${made.intent_id}`;
    world.airline.script.cancelsTickets = false;
    expect((await desk<RefundCase>(`${path}/approve`, {})).body.status).toBe('approved');
    expect((await desk(`${path}/release`, { force: true }, ben)).status).toBe(200);
    world.airline.script.cancelsTickets = true;
    await world.work(60_000);
    const before = await acts(made);
    for (const [act, body] of [
      ['release', { force: true }],
      ['release', {}],
      ['claim', {}],
      ['approve', {}],
      ['reject', { reason: 'no' }],
    ] as const) {
      expect((await desk(`${path}/${act}`, body, ben)).body, act).toMatchObject({
        ...{ code: 'case_already_decided', detail: { status: 'refunded', decided_by: 'ana' } },
      });
    }
    const again = await desk<RefundCase>(`${path}/approve`, {});
    expect([again.status, again.body.status, await acts(made)]).toEqual([200, 'refunded', before]);
  });

  test('rejection tells the customer, and frees the intent for a new request', async () => {
    const made = await requested();
    const path = `/refund-requests/${made.intent_id}`;
    const rejected = await desk<RefundCase>(`${path}/reject`, { reason: 'Past the deadline.' });
    expect(rejected.body).toMatchObject({ status: 'rejected', decision: { words: 'Past the deadline.' } });
    expect((await world.show(made)).status).toBe('booked');
    const again = await world.paid(
      '/air/refund-requests',
      { intent_id: made.intent_id, reason: 'New facts.' },
      { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
    );
    expect(again.status).toBe(202);
  });
});

test('the audit trail is read a page at a time, newest first, each entry once', async () => {
  interface Trail {
    entries: { audit_id: string }[];
    next_cursor: string | null;
  }
  for (let made = 0; made < 5; made++) await desk('/keys', { name: `trail ${made}` });
  const all = (await desk<Trail>('/audit?limit=200')).body.entries.map((one) => one.audit_id);
  expect(all.length).toBeGreaterThanOrEqual(5);
  expect(all).toEqual(all.toSorted().reverse());
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Trail = (await desk<Trail>(`/audit?limit=2${cursor && `&cursor=${cursor}`}`)).body;
    seen.push(...page.entries.map((one) => one.audit_id));
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(all);
});

test('the booking switch stops new intents, is audited, and can be turned on again', async () => {
  expect((await desk('/switches')).body).toEqual({ booking: 'on', lowcost: 'on' });
  expect((await desk('/switches', { booking: 'off' })).body).toEqual({ booking: 'off', lowcost: 'on' });
  const refused = await world.paid('/air/intents', { funding_wallet: world.wallet.address, offer_id: 'off_switch' });
  expect([refused.status, refused.body.code]).toEqual([503, 'booking_disabled']);
  expect((await desk('/switches', { booking: 'on' })).body).toEqual({ booking: 'on', lowcost: 'on' });
  expect((await desk('/switches', {})).status).toBe(400);
  const audit = await desk<{ entries: { action: string; detail: object }[] }>('/audit?subject=booking');
  expect(audit.body.entries.map((entry) => entry.detail)).toEqual([{ to: 'on' }, { to: 'off' }]);
});
