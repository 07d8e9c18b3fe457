import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Intent, Offer, RefundCase, RefundPlan, RefundQueue } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** The refund journey in the tool, embedded: book, ask, decide, money back minus the penalty. */

const place = temporaryHome();
const passengers = join(place.home, 'p.json');
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20' };
const run = (argv: string[], options: MemoryOptions = {}) =>
  runInMemory(argv, { ...options, environment: { ...environment, ...options.environment } });
const usdc = async () => Number((await run(['wallet', 'balance', '--json'])).json().usdc_atomic);
let intent: Intent;

beforeAll(async () => {
  writeFileSync(passengers, JSON.stringify([ANA]));
  await run(['wallet', 'show']);
  const found = await run('search LIS BER --depart +30d --all-fares --limit 500 --json'.split(' '));
  const offer = (found.json().offers as Offer[]).find(
    (one) =>
      one.total_currency === 'USD' &&
      !one.offer_id.startsWith('lowcost:') &&
      one.conditions?.refund_allowed === true &&
      Number(one.conditions.refund_penalty_amount ?? 0) > 0,
  );
  const made = await run(['intent', offer?.offer_id ?? '', '--json']);
  expect(made.exitCode, made.stdout).toBe(0);
  const booked = await run(['book', String(made.json().intent_id), '--passengers', passengers, '--yes', '--json'], {});
  expect(booked.exitCode, booked.stdout).toBe(0);
  intent = booked.json() as unknown as Intent;
});
afterAll(() => place.close());

test('a booked fare comes back minus its penalty: request, queue, claim, plan, approve, all by the intent id', async () => {
  const asked = await run(['refund', intent.intent_id, '--reason', 'I broke a leg.', '--json']);
  expect(asked.exitCode, asked.stdout + asked.stderr).toBe(0);
  expect(asked.json()).toMatchObject({ status: 'received', payment: { amount: '0.10' } });
  const twice = await run(['refund', 'request', intent.intent_id, '--reason', 'again', '--json']);
  expect(twice.exitCode).toBe(5);

  const queue = await run(['refund', 'queue', '--json']);
  const [first] = (queue.json() as unknown as RefundQueue).refund_requests;
  expect(first?.intent_id).toBe(intent.intent_id);
  const screen = await run(['refund', 'queue'], { terminal: true, columns: 100 });
  expect(screen.stdout).toMatch(/^# +Route +Departs +Booking +Refund rule +Paid +Pay-out +Age +Claimed by/);
  const id = first?.request_id ?? '';
  expect((await run(['refund', 'claim', id, '--json'])).json().claimed_by).toBe('local');
  expect((await run(['refund', 'note', id, 'Called them.', '--json'])).exitCode).toBe(0);
  const shown = await run(['refund', 'show', id], { terminal: true, columns: 100 });
  expect(shown.stdout).toMatch(/I broke a leg\.[\s\S]*Called them\.[\s\S]*Timeline/);

  const before = await usdc();
  const plan = (await run(['refund', 'approve', id, '--dry-run', '--json'])).json() as unknown as RefundPlan;
  expect(plan.payout_amount).toBe(intent.escrow.amount - plan.penalty_amount);
  expect(plan.penalty_amount).toBeGreaterThan(0);
  expect(await usdc()).toBe(before);
  expect((await run(['refund', 'approve', id, '--json'])).exitCode).toBe(2);
  const declined = await run(['refund', 'approve', id], { terminal: true, answers: [false] });
  expect([declined.exitCode, declined.stderr.includes('refund wallet')]).toEqual([6, true]);
  const approved = await run(['refund', 'approve', id, '--yes', '--json']);
  expect(approved.exitCode, approved.stdout).toBe(0);
  expect((approved.json() as unknown as RefundCase).status).toBe('refunded');
  expect((await usdc()) - before).toBe(plan.payout_amount);
  expect((await run(['status', intent.intent_id, '--json'])).json()).toMatchObject({
    status: 'refunded',
    refund_reason: 'refund_request_approved',
  });
});

test('keys are issued, listed and revoked, and one that is wrong is exit 4', async () => {
  const issued = (await run(['keys', 'issue', 'cleo', '--json'])).json();
  const key = String(issued.key);
  const withKey = { environment: { FARELOCK_OPERATOR_KEY: key } };
  expect((await run(['refund', 'queue', '--json'], withKey)).exitCode).toBe(0);
  expect((await run(['keys', 'list'])).stdout).toMatch(/cleo/);
  expect((await run(['keys', 'revoke', String(issued.key_id)])).exitCode).toBe(0);
  expect((await run(['refund', 'queue', '--json'], withKey)).exitCode).toBe(4);
});
