import type { LowcostScenario, Scenario } from '../../airlines/index.ts';

/** Failures of a carrier's website; `sold_out` is the fast tier's word for the seat that is gone. */
type Mishap = LowcostScenario | 'sold_out';

/**
 * Routes within London that are set aside for testing: the Sandbox Hopper sells them, and each misbehaves in its own
 * way, whatever the configured scenario.
 */
export const LOWCOST_ROUTES: readonly {
  readonly origin: string;
  readonly destination: string;
  readonly scenario: Mishap;
}[] = [
  { origin: 'LTN', destination: 'LGW', scenario: 'fare_check_failed' },
  { origin: 'LTN', destination: 'STN', scenario: 'price_differs_at_till' },
  { origin: 'STN', destination: 'LTN', scenario: 'form_rejected' },
  { origin: 'LGW', destination: 'LTN', scenario: 'captcha' },
  { origin: 'LHR', destination: 'LTN', scenario: 'account_wall' },
  { origin: 'LCY', destination: 'LGW', scenario: 'sold_out' },
  { origin: 'LCY', destination: 'STN', scenario: 'pay_pressed_no_confirmation' },
  { origin: 'LCY', destination: 'LTN', scenario: 'late_confirmation' },
];

export const scenarioRoute = (origin: string, destination: string) =>
  LOWCOST_ROUTES.find((route) => route.origin === origin && route.destination === destination);

/** The scenario of a route: its own, else the configured one. */
export const mishapOn = (configured: Scenario, origin: string, destination: string): Scenario =>
  scenarioRoute(origin, destination)?.scenario ?? configured;

/** By how much the till asks more than the menu said. */
export const DEARER_BY = 1.06;
/** How much longer a late confirmation takes, and at least how long. */
export const LATE_BY = 10;
export const LATE_AT_LEAST_MS = 3_000;
