import type { BookOutcome, Fulfiller } from '../../../src/airlines/fulfiller.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { Process } from '../world/computer.ts';
import type { World } from '../world/world.ts';

const READ_FAULTS = { silent: 0.02, slow: 0.02 };
const BOOK_FAULTS = { silent: 0.03, silent_but_done: 0.05, slow: 0.04 };
const CANCEL_FAULTS = { silent: 0.04, silent_but_done: 0.05 };

const silence = () => problem('provider_failed');

/** What is known at the tills of the low-cost carriers, by our reference. */
export interface Tills {
  /** Visits that may still press the button. */
  readonly visits: Map<string, number>;
  /** Where the site never said: whether there is a ticket, which only the bank knows. */
  isPaid(reference: string): boolean;
  /** True once the bank was asked about it. */
  isOnlyKnownToBank(reference: string): boolean;
  /** Somebody cancels such a ticket by telephone. */
  cancel(reference: string): void;
}

export function openTills({ chance }: World): Tills {
  const paid = new Map<string, boolean>();
  return {
    visits: new Map(),
    isPaid(reference) {
      const known = paid.get(reference) ?? chance.part(chance.numbered('what the bank knows')) < 0.5;
      paid.set(reference, known);
      return known;
    },
    isOnlyKnownToBank: (reference) => paid.has(reference),
    cancel: (reference) => {
      if (paid.has(reference)) paid.set(reference, false);
    },
  };
}

/**
 * The low-cost carriers as a service reaches them: by a browser of its own, which dies with it, on sites that are silent
 * before and after the button was pressed, and slow.
 */
export function carriersOf(world: World, carriers: Fulfiller, tills: Tills, process: Process): Fulfiller {
  const { chance } = world;
  const call = <T>(name: string, faults: Readonly<Record<string, number>>, work: () => Promise<T>): Promise<T> => {
    const place = chance.numbered(`${process.name} carrier ${name}`);
    return process.boundary(
      `carrier ${name}`,
      async () => {
        const fault = chance.happens('carrier', place, faults);
        if (fault !== null) world.tell('carrier', `${name} of ${process.name}: ${fault.replaceAll('_', ' ')}`);
        if (fault === 'silent') throw silence();
        if (fault === 'slow') await world.sleep(1_000 + chance.part(place) * 25_000);
        if (!process.isAlive()) return new Promise<never>(() => undefined);
        const answer = await work();
        if (fault === 'silent_but_done') throw silence();
        return answer;
      },
      { mostMs: 60 },
    );
  };
  const seen = <T extends BookOutcome | null>(outcome: T): T => {
    if (outcome) world.saw(`carrier: ${outcome.kind}`);
    return outcome;
  };
  return {
    name: carriers.name,
    isSandbox: carriers.isSandbox,
    serves: (query) => carriers.serves(query),
    quote: (query, startedAtMs) => call('quote', READ_FAULTS, () => carriers.quote(query, startedAtMs)),
    offer: (offerId) => call('offer', READ_FAULTS, () => carriers.offer(offerId)),
    menu: (offerId, openedAtMs) =>
      call('menu', READ_FAULTS, async () => {
        const menu = await carriers.menu(offerId, openedAtMs);
        world.saw(`fare menu: ${menu.kind}`);
        return menu;
      }),
    async book(purchase) {
      const { visits } = tills;
      const count = (by: number) => visits.set(purchase.reference, (visits.get(purchase.reference) ?? 0) + by);
      count(1);
      process.atEnd(() => visits.delete(purchase.reference));
      try {
        return seen(await call('book', BOOK_FAULTS, () => carriers.book(purchase)));
      } finally {
        count(-1);
      }
    },
    find: async (reference) => seen(await call('find', READ_FAULTS, () => carriers.find(reference))),
    cancel: (reference) => call('cancel', CANCEL_FAULTS, () => carriers.cancel(reference)),
  };
}
