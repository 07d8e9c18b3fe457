import type { Scenario } from '../../airlines/index.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import type { World } from '../airline/index.ts';
import { fareMenu, type PageFare, THROW, type Trip } from './flights.ts';
import { DEARER_BY } from './scenarios.ts';

/** Something that the page would like to sell besides the flight. */
interface AddOn {
  readonly name: string;
  readonly cents: number;
  readonly ticked: boolean;
}

type FormAnswer =
  | { readonly kind: 'ready_to_pay' }
  | { readonly kind: 'rejected'; readonly fields: readonly string[] }
  | { readonly kind: 'account_wall' }
  | { readonly kind: 'captcha' };

/** A carrier's website as a browser finds it: one visit, from the fare list to the pay button. */
export interface Visit {
  /** In the order of this visit: it changes from one to the next. */
  readonly fares: readonly PageFare[];
  choose(position: number): void;
  /** The insurance is ticked before anybody has asked for it. */
  addOns(): readonly AddOn[];
  untick(name: string): void;
  submit(passengers: readonly Passenger[]): FormAnswer;
  /** The total at the till, US cents. */
  totalCents(): number;
}

export function visit(world: World, trip: Trip, mishap: Scenario, visitNumber: number): Visit {
  const fares = shuffled(world, mishap === 'sold_out' ? [] : fareMenu(world, trip), visitNumber);
  let chosen: PageFare | undefined;
  let addOns: AddOn[] = [
    { name: 'Travel insurance', cents: 1290 * trip.adults, ticked: true },
    { name: 'Priority boarding', cents: 890 * trip.adults, ticked: false },
  ];
  return {
    fares,
    choose(position) {
      chosen = fares[position];
    },
    addOns: () => addOns,
    untick(name) {
      addOns = addOns.map((one) => (one.name === name ? { ...one, ticked: false } : one));
    },
    submit() {
      if (mishap === 'form_rejected') return { kind: 'rejected', fields: ['passport_number'] };
      if (mishap === 'captcha' || mishap === 'account_wall') return { kind: mishap };
      return { kind: 'ready_to_pay' };
    },
    totalCents() {
      const fare = chosen?.totalCents ?? 0;
      const asked = mishap === 'price_differs_at_till' ? Math.ceil(fare * DEARER_BY) : fare;
      return addOns.reduce((sum, one) => sum + (one.ticked ? one.cents : 0), asked);
    },
  };
}

/** A shuffle that is the same for the same visit. */
export function shuffled<T>(world: World, list: readonly T[], visitNumber: number): T[] {
  const left = [...list];
  return list.flatMap((_, i) => left.splice(world.dice.pick(left.length, THROW.menu, visitNumber, i), 1));
}
