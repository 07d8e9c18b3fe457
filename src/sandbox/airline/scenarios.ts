import type { FastScenario, LowcostScenario, Scenario } from '../../airlines/index.ts';

/** Test routes within London: on each the Sandbox Shuttle misbehaves in a fixed way, whatever the scenario. */
export const SCENARIO_ROUTES = (
  [
    ['LHR', 'LGW', 'repriced', 'The price is 7.5 % higher once a booking is checked or made.'],
    ['LHR', 'STN', 'offer_expired', 'The offer has expired once a booking is checked or made.'],
    ['LGW', 'LHR', 'ticketing_fails', 'The order is confirmed, then its ticket is never issued.'],
    ['LGW', 'STN', 'ticketing_slow', 'The ticket takes ten times as long.'],
    ['STN', 'LHR', 'outcome_unknown', 'The order is made, but the answer is lost.'],
    ['STN', 'LGW', 'rate_limited', 'Searches and offers are refused: too many calls.'],
    ['LTN', 'LHR', 'sold_out', 'The last seat has gone when the order is made.'],
  ] as [string, string, Exclude<FastScenario, 'none'>, string][]
).map(([origin, destination, scenario, what]) => ({ origin, destination, scenario, what }));

export const scenarioOn = (configured: Scenario, origin: string, destination: string): Scenario =>
  SCENARIO_ROUTES.find((route) => route.origin === origin && route.destination === destination)?.scenario ?? configured;

export const REPRICED_BY = 1.075;
export const TICKETING_SLOW_BY = 10;
export const RATE_LIMIT_RETRY_SECONDS = 30;

/** A failure of a carrier's site; `sold_out` is the fast tier's word for a lost seat. */
type Mishap = LowcostScenario | 'sold_out';

/** Test routes within London: on each the Sandbox Hopper misbehaves in a fixed way, whatever the scenario. */
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

export const mishapOn = (configured: Scenario, origin: string, destination: string): Scenario =>
  scenarioRoute(origin, destination)?.scenario ?? configured;

/** The factor by which the till is dearer than the menu. */
export const DEARER_BY = 1.06;
/** The factor of a late confirmation's delay, and its least delay. */
export const LATE_BY = 10;
export const LATE_AT_LEAST_MS = 3_000;
