import type { Address } from '@solana/kit';
import { isProblem } from '../../../src/kernel/problems.ts';
import type { World } from '../world/world.ts';
import type { Gossip } from './customers.ts';
import { createPerson, type Fact, type Find } from './people.ts';
import { type Stage, walletOf } from './stage.ts';

const TRIP = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
/** Creations that are begun at the same moment, with money for one. */
const FLOOD = 6;

/**
 * Whoever sees what others choose, and takes the (wallet, offer) pair of a customer with a refund wallet of her own: the
 * customer's tool would pay, and she would get the refund.
 */
export function createThief(world: World, stage: Stage, find: Find, facts: Fact[], gossip: Gossip) {
  const person = createPerson(world, stage, 'eve', find, facts);
  return {
    ...person,
    async play(): Promise<void> {
      for (let tried = 0, waited = 0; tried < 3 && waited < 60; waited++) {
        const chosen = gossip.chosen[tried];
        if (!chosen) {
          await world.sleep(1_000 + world.chance.pauseMs(`eve waits ${waited}`, 4_000));
          continue;
        }
        tried++;
        const taken = await person.command(`theft ${tried}`, ({ client }) =>
          client.createIntent({
            offer_id: chosen.offerId,
            funding_wallet: walletOf(chosen.who).address,
            refund_wallet: walletOf('eve').address,
          }),
        );
        if (taken && !isProblem(taken)) {
          world.violate('nobody takes the pair of another', `eve took ${taken.value.value.intent_id} of ${chosen.who}`);
        }
        world.saw('a thief tries to take a pair');
      }
    },
  };
}

/** Somebody with money for one intent, who begins many at once, and puts dust into every vault he can see. */
export function createFlooder(world: World, stage: Stage, find: Find, facts: Fact[]) {
  const windows = Array.from({ length: FLOOD }, (_, place) =>
    createPerson(world, stage, 'mal', find, facts, `mal-${place + 1}`),
  );
  const [first] = windows;
  return {
    computers: windows.map(({ computer }) => computer),
    async play(): Promise<void> {
      await world.sleep(world.chance.pauseMs('mal comes', 30_000));
      const offers = stage.airline.search({
        slices: [{ origin: TRIP.origin_iata, destination: TRIP.destination_iata, departDate: TRIP.depart_date }],
        adults: 1,
        childAges: [],
        cabinClass: 'economy',
      });
      const found = await offers;
      await Promise.all(
        windows.map(async (person, place) => {
          const offer = found[place];
          if (offer) await person.command('flood', ({ client }) => client.createIntent({ offer_id: offer.offer_id }));
        }),
      );
      world.saw('a flood of unpaid creations');
      for (const row of await stage.query('select escrow_address from intents order by created_at_ms limit 4')) {
        await first?.sends((row as { escrow_address: Address }).escrow_address, 1n);
      }
    },
  };
}
