import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer, RefundQueue } from '../../src/wire/flights/index.ts';
import { proofTest } from '../proof-only.ts';
import { ANA, type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** A refund request as the traveller sees it: before it is paid for, while it waits, and how it ends. */

const place = temporaryHome();
const passengers = join(place.home, 'p.json');
const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), {
    ...options,
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', ...options.environment },
  });
let offers: Offer[];

beforeAll(async () => {
  writeFileSync(passengers, JSON.stringify([ANA]));
  const found = await run('search LIS BER --depart +30d --all-fares --limit 500 --json');
  offers = (found.json().offers as Offer[]).filter((one) => !one.identity_documents_required);
});
afterAll(() => place.close());

async function booked(isWanted: (offer: Offer) => boolean): Promise<{ id: string; offer: Offer }> {
  const offer = offers.find(isWanted);
  if (!offer) throw new Error('no such fare');
  const id = String((await run(`intent ${offer.offer_id} --json`)).json().intent_id);
  const ended = await run(`book ${id} --passengers ${passengers} --yes --json`);
  expect(ended.exitCode, ended.stdout).toBe(0);
  return { id, offer };
}

const requestOf = async (id: string): Promise<string> => {
  const queue = (await run('refund queue --json')).json() as unknown as RefundQueue;
  return queue.refund_requests.find((one) => one.intent_id === id)?.request_id ?? '';
};
const statusOf = async (id: string) => (await run(`status ${id}`, { terminal: true, columns: 100 })).stdout;

test('a fare that gives nothing back says so before a request is paid for, and Enter files none', async () => {
  const { id } = await booked((one) => one.conditions?.refund_allowed === false);
  const before = (await run('wallet balance --json')).json().usdc;
  const asked = await run(`refund ${id} --reason Ill`, { terminal: true, answers: [''] });
  expect(asked.stderr).toMatch(/This fare is non-refundable\. Expected refund: 0\.00 of [\d.]+ USDC\./);
  expect(asked.asked).toEqual(['Request a refund anyway? Filing costs 0.10 USDC.']);
  expect(asked.exitCode).toBe(6);
  expect((await run('wallet balance --json')).json().usdc).toBe(before);
});

proofTest('a request is followed to its end; after a rejection a new one says so before it is charged', async () => {
  const { id, offer } = await booked(
    (one) => one.conditions?.refund_allowed === true && Number(one.conditions.refund_penalty_amount) > 0,
  );
  const left = Number(offer.total_amount_decimal) - Number(offer.conditions?.refund_penalty_amount);
  const asked = await run(`refund ${id} --reason Ill`, { terminal: true });
  expect(asked.exitCode, asked.stderr).toBe(0);
  expect(asked.stderr).toContain(`Expected refund: about ${left.toFixed(2)} of ${offer.total_amount_decimal}`);
  expect(await statusOf(id)).toMatch(
    /booked, refund requested[\s\S]*✓ refund +requested[\s\S]*an operator will review it/,
  );
  const request = await requestOf(id);
  await run(`refund claim ${request}`);
  expect(await statusOf(id)).toContain('an operator is reviewing it');
  expect((await run(`refund reject ${request} --reason Fare-excludes-it --yes --json`)).exitCode).toBe(0);
  const rejected = await statusOf(id);
  expect(rejected).toMatch(/✗ rejected +Fare-excludes-it(, \d+ s later)?\n/);
  expect(rejected).not.toContain('refund requested');

  const again = await run(`refund ${id} --reason Ill`, { terminal: true, answers: [false] });
  expect(again.stderr).toMatch(
    /! A request of .* was rejected (just now|\d s ago);[\s\S]*A new one is charged again\./,
  );
  expect(again.stderr).toMatch(/the operator said:\s“Fare-excludes-it”/);
  expect(again.exitCode).toBe(6);
  const told = await run(`status ${id} --json`);
  expect(told.json().refund_rejection_reason).toBe('Fare-excludes-it');
  // Somebody who guesses the code of the same intent learns how it stands, and no word more.
  const guessed = await run(`status ${id} --verbose`, {
    environment: { FARELOCK_SUPPORT_CODE: 'FLK-0000-0000-0000-0000' },
  });
  expect(guessed.exitCode).toBe(0);
  expect(guessed.stdout).toMatch(/✗ rejected +the e-mail to the lead passenger says why/);
  expect(guessed.stderr).toContain('does not belong to this intent');
  expect(guessed.stdout + guessed.stderr).not.toMatch(/Fare-excludes-it|FLK-0000/);

  expect((await run(`refund ${id} --reason Ill --yes --json`)).exitCode).toBe(0);
  const second = await requestOf(id);
  expect((await run(`refund approve ${second} --yes --json`)).exitCode).toBe(0);
  const paid = await statusOf(id);
  // The booking reference stays the name of a booking that was paid back.
  expect(paid).toMatch(/^[A-Z0-9]{6} {2}refunded\n/);
  expect(paid).toMatch(new RegExp(`✓ paid out +${left.toFixed(2)} USDC to \\w+`));
  expect((await run(`status ${id} --watch --json`)).exitCode).toBe(8);
});
