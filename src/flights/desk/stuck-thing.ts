import type { StuckItem } from '../../wire/flights/index.ts';

/** Something that waits for a person, as it stands; what was decided about it is in the audit trail. */
export type StuckThing = Omit<StuckItem, 'decided'>;

/** Of what is no booking. */
export const NEITHER = { stuck_in: null, escrow: null, airline: null, ask: null } as const;
