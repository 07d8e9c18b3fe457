import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { type Answered, openWorld, type World, type WorldOptions } from './world.ts';

/** What the cases below pay back: the ticket of the scripted airline, minus what the carrier keeps. */
export const TICKET = 151_200_000n;
export const PENALTY = 51_200_000n;
export const PAYOUT = TICKET - PENALTY;

/** A service with an airline that cancels tickets, an operator, and refund cases made on demand. */
export async function openDesk(
  airline: 'scripted' | 'quoting' = 'scripted',
  given: Pick<WorldOptions, 'options' | 'program'> = {},
) {
  const world = await openWorld({ airline, ...given });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  let cases = 0;
  world.airline.script.cancelsTickets = true;
  world.airline.script.conditions = {
    change_allowed: null,
    change_penalty_amount: null,
    change_penalty_currency: null,
    refund_allowed: true,
    refund_penalty_amount: '51.20',
    refund_penalty_currency: 'USD',
  };

  return {
    world,

    /** A call to the operator API, of the service or of another process. */
    ask: <T = Record<string, unknown>>(
      path: string,
      body?: object,
      call: World['call'] = world.call,
    ): Promise<Answered<T>> => call<T>(`/operator${path}`, body, { headers: { Authorization: `Bearer ${key}` } }),

    /** A booked intent with a refund request on it. */
    async requested(
      of: object = {},
      book: (made: CreatedIntent) => Promise<unknown> = world.book,
      passengers?: readonly number[],
    ): Promise<CreatedIntent> {
      const made = await world.intent(`off_desk_${cases++}`, of);
      await book(made);
      await world.work();
      const asked = await world.paid(
        '/air/refund-requests',
        { intent_id: made.intent_id, reason: 'I broke a leg.', ...(passengers && { passengers }) },
        { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
      );
      if (asked.status !== 202) throw new Error(JSON.stringify(asked.body));
      return made;
    },
  };
}
