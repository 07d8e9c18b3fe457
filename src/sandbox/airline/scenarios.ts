import type { FastScenario, Scenario } from '../../airlines/index.ts';

/**
 * Routes that are set aside for testing: between airports of London, which no airline joins, the Sandbox Shuttle
 * flies, and each of these routes misbehaves in its own way, whatever the configured scenario. Every other route
 * behaves.
 */
export const SCENARIO_ROUTES: readonly {
  readonly origin: string;
  readonly destination: string;
  readonly scenario: Exclude<FastScenario, 'none'>;
  readonly what: string;
}[] = [
  {
    origin: 'LHR',
    destination: 'LGW',
    scenario: 'repriced',
    what: 'The price is 7.5 % higher once a booking is checked or made.',
  },
  {
    origin: 'LHR',
    destination: 'STN',
    scenario: 'offer_expired',
    what: 'The offer has expired once a booking is checked or made.',
  },
  {
    origin: 'LGW',
    destination: 'LHR',
    scenario: 'ticketing_fails',
    what: 'The order is confirmed, then its ticket is never issued.',
  },
  { origin: 'LGW', destination: 'STN', scenario: 'ticketing_slow', what: 'The ticket takes ten times as long.' },
  {
    origin: 'STN',
    destination: 'LHR',
    scenario: 'outcome_unknown',
    what: 'The order is made, but the answer is lost.',
  },
  {
    origin: 'STN',
    destination: 'LGW',
    scenario: 'rate_limited',
    what: 'Searches and offers are refused: too many calls.',
  },
  { origin: 'LTN', destination: 'LHR', scenario: 'sold_out', what: 'The last seat has gone when the order is made.' },
];

/** The scenario of a route: its own, else the configured one. */
export const scenarioOn = (configured: Scenario, origin: string, destination: string): Scenario =>
  SCENARIO_ROUTES.find((route) => route.origin === origin && route.destination === destination)?.scenario ?? configured;

/** By how much the `repriced` scenario raises a price. */
export const REPRICED_BY = 1.075;
export const TICKETING_SLOW_BY = 10;
export const RATE_LIMIT_RETRY_SECONDS = 30;
