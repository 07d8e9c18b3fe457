import { getAddressEncoder } from '@solana/kit';
import { afterEach, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import type { Intent } from '../../src/wire/flights/index.ts';
import { type RpcCall, said, sentSignature } from '../solana/lying-rpc.ts';
import { PASSENGER } from './farelock.ts';
import { openStage, ran, type Stage } from './stage.ts';

/** The built service over a cluster whose leaders drop one transaction again and again. */

let stage: Stage;
afterEach(() => stage?.close());

const program = Buffer.from(getAddressEncoder().encode(ESCROW_PROGRAM_ID));
const isOfEscrow = ({ method, params }: RpcCall): boolean =>
  method === 'sendTransaction' && Buffer.from(String(params[0]), 'base64').includes(program);

test('a transaction that takes long holds up no other booking', async () => {
  stage = await openStage(1);
  const { traveller, between } = stage;
  const offers = await stage.offers();
  const lock = async (place: number) =>
    (await ran<Intent>(traveller, ['intent', 'create', offers[place]?.offer_id ?? ''])).intent_id;
  const [first, second] = [await lock(0), await lock(1)];
  const book = (id: string) =>
    ran<Intent>(traveller, ['book', id, '--passengers', '-', '--yes'], JSON.stringify([PASSENGER]));

  let dropped: string | null = null;
  let drops = 0;
  let isOver = false;
  between.answer = async (call, honest) => {
    if (isOver || !isOfEscrow(call)) return honest();
    dropped ??= sentSignature(call);
    if (sentSignature(call) !== dropped) return honest();
    drops++;
    return said(call, dropped);
  };
  const slow = book(first);
  await expect.poll(() => dropped, { timeout: 30_000 }).not.toBeNull();
  expect((await book(second)).status).toBe('booked');
  // The same bytes, every two seconds.
  await expect.poll(() => drops, { timeout: 10_000 }).toBeGreaterThan(2);
  isOver = true;
  expect((await slow).status).toBe('booked');
}, 120_000);
