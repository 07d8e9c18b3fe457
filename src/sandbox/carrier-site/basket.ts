import { DEARER_BY } from '../lowcost/index.ts';
import type { Session } from './visit.ts';

/** Something that the site would like to sell besides the flight. */
export interface Extra {
  readonly id: string;
  readonly name: string;
  readonly what: string;
  /** For each adult, in cents. */
  readonly cents: number;
  readonly isTicked: boolean;
}

/** Two of them are ticked before anybody has asked for them. */
export const EXTRAS: readonly Extra[] = [
  {
    id: 'insurance',
    name: 'Travel insurance',
    what: 'Covers cancellation and lost bags.',
    cents: 1290,
    isTicked: true,
  },
  { id: 'bundle', name: 'Comfort bundle', what: 'A seat in front and a snack.', cents: 1650, isTicked: true },
  { id: 'priority', name: 'Priority boarding', what: 'Be first in the queue.', cents: 890, isTicked: false },
  { id: 'sms', name: 'Text messages', what: 'News of your flight.', cents: 195, isTicked: false },
];

export const preselected = (): ReadonlySet<string> =>
  new Set(EXTRAS.filter(({ isTicked }) => isTicked).map(({ id }) => id));

interface BasketLine {
  readonly name: string;
  readonly cents: number;
}

/** What is in the basket. At the till, a scenario may ask for more than the pages before it did. */
export function basketLines(session: Session, isAtTill = false): BasketLine[] {
  const { fare, extras, search, scenario } = session;
  if (!fare) return [];
  const adults = search?.adults ?? 1;
  const isDearer =
    (isAtTill && scenario === 'price_differs_at_till') || (scenario === 'total_moves' && session.totalHasMoved);
  const fareCents = isDearer ? Math.ceil(fare.totalCents * DEARER_BY) : fare.totalCents;
  return [
    { name: `Fare ${fare.brand}`, cents: fareCents },
    ...EXTRAS.filter(({ id }) => extras.has(id)).map(({ name, cents }) => ({ name, cents: cents * adults })),
  ];
}

export const totalOf = (lines: readonly BasketLine[]): number => lines.reduce((sum, { cents }) => sum + cents, 0);
