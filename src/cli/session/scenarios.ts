import { didYouMean } from '../../kernel/nearest.ts';
import { problem } from '../../kernel/problems.ts';
import type { ServiceOptions } from '../../service/index.ts';

type Scenario = NonNullable<ServiceOptions['scenario']>;

/** Every scenario of the sandbox (CONTRACT, section 16); the type makes this list complete. */
const SCENARIOS: Readonly<Record<Scenario, true>> = {
  none: true,
  repriced: true,
  offer_expired: true,
  ticketing_fails: true,
  ticketing_slow: true,
  outcome_unknown: true,
  rate_limited: true,
  sold_out: true,
  fare_check_failed: true,
  price_differs_at_till: true,
  form_rejected: true,
  captcha: true,
  account_wall: true,
  pay_pressed_no_confirmation: true,
  late_confirmation: true,
};

export const SCENARIO_NAMES: readonly string[] = Object.keys(SCENARIOS);

/** @throws Problem `usage` */
export function scenarioNamed(name: string): Scenario {
  const found = Object.keys(SCENARIOS).find((known): known is Scenario => known === name.trim());
  if (found) return found;
  throw problem('usage', {
    message: `There is no scenario "${name}". ${didYouMean(name, Object.keys(SCENARIOS))}`.trim(),
    fix: `Give one of ${Object.keys(SCENARIOS).join(', ')}.`,
  });
}
