import { type Problem, problem } from '../../kernel/problems.ts';
import type { FlightsOptions, FlightsPorts } from './ports.ts';
import type { Store, Tx } from './tables.ts';

/** The operator's switches over new intents and bookings, all or those of lowcost offers; what is under way goes on. */
export const SWITCH_NAMES = ['booking', 'lowcost'] as const;
export type SwitchName = (typeof SWITCH_NAMES)[number];

interface Switch {
  /** In the table `meta`, for every process on the database. */
  readonly key: string;
  /** Off by a setting, whatever the database says. */
  readonly isOff: (options: FlightsOptions) => boolean;
  readonly refusal: () => Problem;
}

const SWITCHES: Readonly<Record<SwitchName, Switch>> = {
  booking: {
    key: 'booking_disabled',
    isOff: ({ bookingDisabled }) => bookingDisabled,
    refusal: () => problem('booking_disabled', { retryAfter: 300 }),
  },
  lowcost: {
    key: 'lowcost_booking_disabled',
    isOff: ({ lowcostDisabled }) => lowcostDisabled,
    refusal: () => problem('lowcost_booking_unavailable'),
  },
};

type Ports = Pick<FlightsPorts, 'store' | 'options'>;

export async function isOff({ store, options }: Ports, name: SwitchName): Promise<boolean> {
  const { key, isOff } = SWITCHES[name];
  if (isOff(options)) return true;
  const row = await store.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row !== undefined && row.value !== '0';
}

/** @throws Problem `booking_disabled`, `lowcost_booking_unavailable` */
export async function checkOpen(ports: Ports, name: SwitchName): Promise<void> {
  if (await isOff(ports, name)) throw SWITCHES[name].refusal();
}

/** Flips a switch for every process on this database. */
export async function turnSwitch(on: Store | Tx, name: SwitchName, to: 'on' | 'off'): Promise<void> {
  const value = to === 'off' ? '1' : '0';
  await on
    .insertInto('meta')
    .values({ key: SWITCHES[name].key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}
